"""What the table of settings must hold, read from the code."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pydantic import BaseModel

from bridge.config import Config, Policy, Source
from bridge.config.problems import nested

Key = tuple[str, type[BaseModel], str]
"""Path as the table writes it, the section that has it, and its name there."""


def config_keys() -> dict[str, str]:
    """Every key with its default as the table writes it; a dash for none."""
    return {path: _default(model, name) for path, model, name in _keys(Config, "")}


def _keys(model: type[BaseModel], prefix: str) -> Iterator[Key]:
    for name, field in model.model_fields.items():
        section = nested(field.annotation)
        if section is None:
            yield prefix + name, model, name
        else:
            many = "" if section is field.annotation else "[]"
            yield from _keys(section, f"{prefix}{name}{many}.")


def _default(model: type[BaseModel], name: str) -> str:
    if model.model_fields[name].is_required():
        return "required"
    if model is Source and name in Policy.model_fields:
        return "as `policy`"
    # Serialized, because a duration is milliseconds inside and text outside.
    value = model.model_construct().model_dump(mode="json", include={name})[name]
    if value in (None, [], {}):
        return "–"
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"
