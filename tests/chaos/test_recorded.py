"""Recorded events of real agents go through the bridge in memory, and the checker looks on.

What the load's agents write is this project's own; these records are not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from bridge.audit.checker import check
from tests.chaos.rehearsal import SETUP, Rehearsal
from tests.unit.protocols import a2a_events, genkit_turns

PAYLOADS = (
    *("yes", True, 12, {"approved": True}, {"confirmed": True}, {"decision": "approve"}),
    *({"values": {"a": 1.5}}, {"answer": "x"}, {"toolApproved": True}, {"weight": 50.0}),
)
Sent = tuple[bytes | None, bytes]


def tasks(chance: Random) -> Iterator[Sent]:
    """The events of A2A servers, whole exchanges in any order, under any key."""
    exchanges: dict[str, list[bytes]] = {}
    for each in a2a_events.cases():
        found = exchanges.setdefault(each["exchange"], [])
        found.append(_apart(len(exchanges), json.dumps(each["event"])))
    for name in chance.sample(sorted(exchanges), len(exchanges)):
        key = chance.choice((None, b"foreign"))
        # Recorded agents were answered at once; here some wait for people who take longer.
        told = exchanges[name][: chance.choice((None, chance.randint(1, len(exchanges[name]))))]
        for event in told:
            yield from [(key, event)] * (2 if chance.random() < 0.1 else 1)


def turns(chance: Random) -> Iterator[Sent]:
    """Outputs and snapshots of Genkit's turns, bare and in wrappers."""
    found = genkit_turns.recorded()
    found |= {
        one["name"]: list(genkit_turns.turns_in(one["said"])) for one in genkit_turns.collected()
    }
    for number, turns_of in enumerate(found.values()):
        for turn in turns_of:
            kind = "snapshot" if "messages" in turn.get("state", {}) else "output"
            yield None, _apart(number, json.dumps(_wrapped(chance, kind, turn)))


def _apart(number: int, text: str) -> bytes:
    """With ids of its own: every recorded case counts its ids from one."""
    return text.replace('"00000000-0000-4000-', f'"{number:08x}-0000-4000-').encode()


def _wrapped(chance: Random, kind: str, turn: dict[str, Any]) -> dict[str, Any]:
    runtime = chance.choice(("go", "js", "py"))
    client = {"stateManagement": "client", "snapshot": {**turn, "snapshotId": None}}
    return chance.choice(
        (
            turn,
            {"result": turn},
            {"protocol": "genkit", "agent": "other", "runtime": runtime, kind: turn},
            {"protocol": "genkit", **client} if kind == "snapshot" else turn,
        )
    )


class Person:
    """Answers what is pending, well or badly, and sometimes what is closed."""

    def __init__(self, rehearsal: Rehearsal, chance: Random) -> None:
        self._rehearsal = rehearsal
        self._chance = chance

    def answers(self) -> None:
        """About half of what is open."""
        latest: dict[str, dict[str, Any]] = {}
        for record in self._rehearsal.log:
            if record.role == "approvals" and record.value is not None:
                approval = json.loads(record.value)
                latest[approval["approval_id"]] = approval
        for approval in latest.values():
            if self._chance.random() < (0.5 if approval["status"] == "pending" else 0.02):
                self._rehearsal.feed("answers", None, json.dumps(self._answer(approval)).encode())

    def _answer(self, approval: dict[str, Any]) -> dict[str, Any]:
        named = {"approval_id": approval["approval_id"], "answered_by": "ann"}
        if self._chance.random() < 0.1:
            return {**named, "status": "cancelled"}
        more = {"payload": self._chance.choice(PAYLOADS), "status": "resolved"}
        if self._chance.random() < 0.3:
            more["action"] = self._chance.choice(("restart", "respond"))
        return named | more


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("topic", "recorded"), [("reviewers", tasks), ("bank", turns)])
def test_recorded_events_break_no_invariant(
    topic: str, recorded: Callable[[Random], Iterator[Sent]], seed: int
) -> None:
    """All dialects of the recordings are read alike by the bridge and by the checker."""
    chance = Random(seed)
    rehearsal = Rehearsal(seed)
    person = Person(rehearsal, chance)
    for key, value in recorded(chance):
        rehearsal.feed(topic, key, value)
        if chance.random() < 0.6:
            person.answers()
    for _ in range(6):
        person.answers()
    report = check(rehearsal.end(), SETUP)
    assert report.ok, f"seed {seed}\n{report.summary()}"
    assert not report.unjudged, "a record that the checker cannot read"
    assert report.outcomes["resumed"] > 10, report.summary()
