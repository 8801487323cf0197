"""JSON on a terminal: nothing that it obeys or hides, and the same values for every program."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.console.json_lines import escaped

TRICKS = {
    "C1 control": "\x9b31mred",
    "delete": "\x7f",
    "bidirectional override": "\u202egnp.exe",
    "isolate": "\u2066x\u2069",
    "zero width": "a\u200bb\ufeffc",
    "tag": "\U000e0041\U000e007f",
    "line separator": "a\u2028b",
    "soft hyphen": "pay\u00adpal",
}


@pytest.mark.parametrize("trick", TRICKS.values(), ids=TRICKS)
def test_what_a_terminal_obeys_or_hides_is_an_escape(trick: str) -> None:
    """A message must not colour, reorder or hide what the person who approves reads."""
    line = escaped(json.dumps({"message": trick}, ensure_ascii=False).encode())
    shown = line.decode()
    assert all(char.isprintable() and unicodedata.category(char) != "Cf" for char in shown)
    assert json.loads(line) == {"message": trick}


def test_what_people_read_stays_as_it_is() -> None:
    """Scripts, accents and emoji are no tricks."""
    line = json.dumps({"message": "Überweisung für 田中さん 👍"}, ensure_ascii=False).encode()
    assert escaped(line) == line


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5), st.booleans())
def test_no_value_is_changed(value: object, indented: bool) -> None:
    """Whatever stands in it, and also where it is written over several lines."""
    line = json.dumps({"v": value}, ensure_ascii=False, indent=2 if indented else None)
    line = line.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    assert json.loads(escaped(line.encode())) == json.loads(line)
