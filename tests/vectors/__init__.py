"""What other people's software writes, as files: recorded of real agents, or made by hand.

`<protocol>/recorded` and `<protocol>/verdicts` are written by `make peers ARGS=--record`, with the
versions that they are of; `<protocol>/made` are cases that no agent tried here sends, each with
what has to come of it. More of the same may be collected in another folder: BRIDGE_TEST_VECTORS
names it, and where it is missing nothing is.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
_COLLECTED = Path(os.environ.get("BRIDGE_TEST_VECTORS") or HERE.parents[2] / "shared" / "vectors")


@dataclass(frozen=True, slots=True)
class Told:
    """One recorded event: who wrote it in which case, and how many came before it there."""

    peer: str
    case: str
    number: int
    key: str | None
    value: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.peer}-{self.case}-{self.number}"


def made(protocol: str, name: str) -> Any:
    """A file of hand-made cases."""
    return json.loads((HERE / protocol / "made" / f"{name}.json").read_bytes())


def verdicts(protocol: str, reference: str) -> dict[str, Any]:
    """What a reference implementation makes of the hand-made cases, by file and case."""
    found = json.loads((HERE / protocol / "verdicts" / f"{reference}.json").read_bytes())
    return dict(found["verdicts"])


@functools.cache
def recordings(protocol: str) -> dict[str, dict[str, Any]]:
    """By peer: what was recorded of its cases. Read, never change it."""
    files = sorted((HERE / protocol / "recorded").glob("*.json"))
    return {file.stem: json.loads(file.read_bytes()) for file in files}


def events(protocol: str) -> Iterator[Told]:
    """All recorded events, in the order of their cases."""
    for peer, recording in recordings(protocol).items():
        for case, exchanges in recording["cases"].items():
            records = [record for each in exchanges for record in each["records"]]
            for number, record in enumerate(records):
                yield Told(peer, case, number, record["key"], record["value"])


def by_case(told: Iterable[Told]) -> list[Any]:
    """The events of each case together, as parameters of a test."""
    cases: dict[str, list[Told]] = {}
    for event in told:
        cases.setdefault(f"{event.peer}-{event.case}", []).append(event)
    return [pytest.param(found, id=name) for name, found in cases.items()]


def collected(name: str) -> Path | None:
    """A file or folder of the further collection, where that is at hand."""
    path = _COLLECTED / name
    return path if path.exists() else None


def collected_json(name: str) -> Any:
    """Its content: a list for lines of JSON; an empty list where it is not at hand."""
    path = collected(name)
    if path is None:
        return []
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return json.loads(path.read_bytes())
