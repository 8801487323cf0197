"""Every state under every input has a decision, and the table of statuses is complete."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from bridge.core.decide import decide
from bridge.core.lifecycle import CLOSED_VERDICT, MOVES, Move
from bridge.core.model import (
    OF_THREAD,
    Announced,
    Announcement,
    DeadLetter,
    Digest,
    Keep,
    Operation,
    Order,
    Origin,
    Publish,
    Resume,
    RunEnded,
    RunFailed,
    RunOutcome,
    Status,
    Thread,
    Tick,
    WentOn,
)
from tests.unit.core.builders import (
    HOUR,
    NOW,
    THREAD,
    answer,
    event,
    opened,
    question,
    rules,
    told,
    verdicts,
)

HERE = Origin("events", 0, 9, NOW + 1)
LATER = NOW + HOUR
SOON = "2027-01-15T09:00:00Z"  # NOW + 1 h

WITHDRAW = Operation(HERE, "withdraw", None, THREAD, "run-1")
EXPIRE = Operation(HERE, "expire", None, THREAD, "run-1")
ASKED = event(question("a", expires_at_raw=SOON), "b")

TOLD = Announced(THREAD, Announcement(question("q"), Digest(b"digest")), HERE)

STATES: dict[str, Thread] = {
    "none": Thread(),
    "told": told(Thread(), [TOLD]).thread,
    "parked": told(Thread(), [answer("a", payload=b"1")]).thread,
    "pending": told(Thread(), [ASKED]).thread,
    "answered": told(Thread(), [ASKED, answer("a")]).thread,
    "cancelled": told(Thread(), [ASKED, answer("a", status="cancelled")]).thread,
    "expired": decide(told(Thread(), [ASKED]).thread, Tick(), LATER, rules()).thread,
    "resumed": told(Thread(), [ASKED, answer("a"), answer("b")]).thread,
    "superseded": told(Thread(), [ASKED, event("z", run="run-2", at=NOW)]).thread,
    "withdrawn": told(Thread(), [ASKED, WITHDRAW]).thread,
    "unresumable": told(
        opened(question("a", flags=("no_refusal",))), [answer("a", status="cancelled")]
    ).thread,
}
INPUTS: dict[str, Any] = {
    "same event": ASKED,
    "newer run": event("n", run="run-3", at=NOW + 1),
    "older run": event("o", run="run-0", at=NOW - 1),
    "same answer": answer("a"),
    "other answer": answer("a", payload=b"0"),
    "cancel": answer("a", status="cancelled"),
    "moved on": WentOn(THREAD, Order(NOW + 1), HERE),
    "run failed": RunFailed(THREAD, Order(NOW + 1), HERE),
    "carry": Keep(THREAD, OF_THREAD, b"{}", HERE),
    "withdraw": WITHDRAW,
    "expire": EXPIRE,
    "tick": Tick(),
}

# For each state, what each input does: verdicts of answers and operations (= v), how many
# approvals it publishes (pN), a resume (R), a dead letter (!), nothing (-). Columns as INPUTS.
TABLE = """
none        p2          p1 p1 -           -           -           -  -  - =unknown    =unknown     -
told        p2          p1 p1 -           -           -           -  -  - =unknown    =unknown     -
parked      p3=accepted p1 p1 -           -           -           -  -  - =unknown    =unknown     -
pending     -           p3 p1 p1=accepted p1=accepted p1=accepted p2 p2 - p2=accepted p2R=accepted -
answered    -           p3 p1 =duplicate  =conflict   =conflict   p2 p2 - p2=accepted p2R=accepted -
cancelled   -           p3 p1 =conflict   =conflict   =duplicate  p2 p2 - p2=accepted p2R=accepted -
expired     -           p3 p1 =expired    =expired    =expired    p2 p2 - p2=accepted p2R=accepted -
resumed     -           p1 p1 =duplicate  =late       =late       -  -  - =late       =late        -
superseded  -           p2 p1 =stale      =stale      =stale      p1 p1 - =stale      =stale       -
withdrawn   -           p1 p1 =withdrawn  =withdrawn  =withdrawn  -  -  - =withdrawn  =withdrawn   -
unresumable !           p1 p1 =withdrawn  =withdrawn  =duplicate  -  -  - =withdrawn  =withdrawn   -
"""
ROWS = {line.split()[0]: line.split()[1:] for line in TABLE.strip().splitlines()}
PAIRS = [
    (state, given, ROWS[state][column]) for state in STATES for column, given in enumerate(INPUTS)
]


def summary(thread: Thread, given: Any) -> str:
    decision = decide(thread, given, NOW + 1, rules())
    published = sum(isinstance(effect, Publish) for effect in decision.effects)
    parts = [f"p{published}" if published else ""]
    parts += ["R" for effect in decision.effects if isinstance(effect, Resume)]
    parts += ["!" for effect in decision.effects if isinstance(effect, DeadLetter)]
    parts += [f"={verdict}" for verdict in verdicts(decision)]
    return "".join(parts) or "-"


@pytest.mark.parametrize(("state", "given", "expected"), PAIRS)
def test_every_pair_is_decided(state: str, given: str, expected: str) -> None:
    """The table is what the bridge does; a pair that changes shows up here first."""
    assert summary(STATES[state], INPUTS[given]) == expected


@pytest.mark.parametrize("state", STATES)
def test_an_end_that_says_nothing_asks_only_what_was_told(state: str) -> None:
    """Whatever else the thread holds; a question that is told is none yet."""
    end = RunEnded(THREAD, "protocol", Order(NOW + 1), HERE, "run-9", asks=True)
    assert summary(STATES[state], TOLD) == "-"
    assert summary(STATES[state], end) == ("p1" if state == "told" else "-")


def test_the_table_of_statuses_is_complete() -> None:
    """Every status has every move, and only a deadline undoes an answer."""
    assert set(MOVES) == set(get_args(Status))
    for status, moves in MOVES.items():
        assert set(moves) == set(get_args(Move))
        changed = {move for move, after in moves.items() if after != status}
        assert changed == (set(get_args(Move)) if status == "pending" else {"expire"} & changed)
    assert set(CLOSED_VERDICT) == set(get_args(RunOutcome))
