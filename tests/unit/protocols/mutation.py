"""Records that nobody thought of: real ones with parts replaced by anything, or bytes damaged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4)


def anything(names: Sequence[str], words: Sequence[str] = ()) -> st.SearchStrategy[Any]:
    """Small JSON values that have these member names and, where given, these texts among others."""
    keys = st.sampled_from(names) | st.text(max_size=3)
    return st.recursive(
        _SCALARS | st.sampled_from(words) if words else _SCALARS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
        max_leaves=6,
    )


@st.composite
def mutated(draw: st.DrawFn, seeds: Sequence[Any], parts: st.SearchStrategy[Any]) -> Any:
    """A real record with one to three of its parts replaced."""
    record: Any = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(1, 3))):
        record = _with(record, draw(st.sampled_from(_places(record))), draw(parts))
    return record


def damaged(record: Any, data: st.DataObject) -> bytes:
    """Its text with a few bytes cut, overwritten or inserted."""
    text = bytearray(json.dumps(record).encode())
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 8)))
    text[start:end] = data.draw(st.binary(max_size=8))
    return bytes(text)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    pairs: Any = ()
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
    return [path, *(place for key, item in pairs for place in _places(item, (*path, key)))]


def _with(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _with(copy[path[0]], path[1:], new)
    return copy
