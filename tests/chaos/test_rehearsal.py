"""Checker and rules against each other: two readings of one design, from hundreds of seeds.

Whatever the plan does to the rules, the checker finds nothing; whatever is then lost, it finds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random
from typing import NamedTuple

import pytest

from bridge.demo.check.checker import check
from bridge.demo.check.ids import make_id
from bridge.demo.check.log import LogRecord, Role
from tests.chaos.plan import Cycle, Keying, cycles
from tests.chaos.rehearsal import SETUP, SOURCE, START, InputRole, Rehearsal
from tests.chaos.shapes import bad_answer, bad_record, finished, resumed_elsewhere, run_error

OUTPUTS: tuple[Role, ...] = ("approvals", "resume-commands", "answer-verdicts", "reroute")
STRIDE = 300  # milliseconds between two cycles: many are open at once


class Sent(NamedTuple):
    """A record at a moment (milliseconds from the start)."""

    at: int
    role: InputRole
    key: bytes | None
    value: bytes | None


def rehearsed(seed: int, count: int) -> list[LogRecord]:
    """The log of `count` planned cycles, their records shuffled in time."""
    chance = Random(seed)
    sent = [
        record
        for number, cycle in enumerate(cycles(seed, count))
        for record in _script(cycle, number * STRIDE, chance)
    ]
    rehearsal = Rehearsal(seed)
    for at, role, key, value in sorted(sent, key=lambda record: record.at):
        rehearsal.pass_time(START + at)
        rehearsal.feed(role, key, value)
    return rehearsal.end()


def _script(cycle: Cycle, at: int, chance: Random) -> Iterator[Sent]:
    expires = [
        None if reply.expires_in is None else _instant(at + int(reply.expires_in * 1000))
        for reply in cycle.replies
    ]
    value = finished(cycle.thread, cycle.run, cycle.questions, expires)
    key = _key(cycle.keying, cycle.thread)
    yield Sent(at, "input", key, value)
    if cycle.repeated:
        yield Sent(at + chance.randrange(8_000), "input", key, value)
    if cycle.conflicting:
        other = value.replace(b'"reason": "', b'"reason": "other-', 1)
        yield Sent(at + chance.randrange(8_000), "input", key, other)
    for _ in range(cycle.bad):
        yield Sent(at, "input", *bad_record(chance, cycle.thread))
        yield Sent(at, "answers", None, bad_answer(chance))
    yield from _turn(cycle, at + chance.randrange(1, 5_000))
    for index in range(len(cycle.questions)):
        yield from _replies(cycle, index, at, chance)


def _turn(cycle: Cycle, at: int) -> Iterator[Sent]:
    key = cycle.thread.encode()
    if cycle.turn == "resumed elsewhere":
        yield Sent(at, "input", key, resumed_elsewhere(cycle.thread, cycle.questions))
    elif cycle.turn == "run error":
        yield Sent(at, "input", key, run_error())
    elif cycle.turn != "none":
        body = {"op": cycle.turn, "approval_id": _approval_id(cycle, 0), "by": "ops"}
        yield Sent(at, "operations", _key(cycle.keying, cycle.thread), json.dumps(body).encode())


def _replies(cycle: Cycle, index: int, at: int, chance: Random) -> Iterator[Sent]:
    reply, question = cycle.replies[index], cycle.questions[index]
    key, other = _key(reply.keying, cycle.thread), question.valid[1 - reply.choice]
    when = at + chance.randrange(10, 7_000)
    after = when + chance.randrange(9_000)
    if reply.manner == "early":
        when = max(0, at - chance.randrange(30_000))
    if reply.manner == "invalid_first" and question.invalid is not None:
        yield Sent(when - 5, "answers", key, _answer(cycle, index, question.invalid))
    if reply.manner != "never":
        payload = None if reply.manner == "cancelled" else question.valid[reply.choice]
        yield Sent(when, "answers", key, _answer(cycle, index, payload))
    if reply.manner == "twice":
        yield Sent(after, "answers", key, _answer(cycle, index, question.valid[reply.choice]))
    if reply.manner == "contradicted" or cycle.late:
        yield Sent(after, "answers", None, _answer(cycle, index, other))


def _answer(cycle: Cycle, index: int, payload: str | None) -> bytes:
    """`payload` is JSON text; None cancels."""
    body = {"status": "cancelled" if payload is None else "resolved", "answered_by": "ada"}
    if cycle.replies[index].by_id:
        body["approval_id"] = _approval_id(cycle, index)
    else:
        interrupt = cycle.questions[index].interrupt["id"]
        body |= {"source": SOURCE, "thread_id": cycle.thread, "run_id": cycle.run}
        body |= {"interrupt_id": interrupt}
    text = json.dumps(body)
    return (text if payload is None else f'{text[:-1]}, "payload": {payload}}}').encode()


def _approval_id(cycle: Cycle, index: int) -> str:
    interrupt = cycle.questions[index].interrupt["id"]
    return make_id("approval", SOURCE, "", cycle.thread, cycle.run, interrupt)


def _key(keying: Keying, thread: str) -> bytes | None:
    return {"thread": thread.encode(), "none": None, "foreign": b"not-" + thread.encode()}[keying]


def _instant(at: int) -> str:
    return datetime.fromtimestamp((START + at) / 1000, UTC).isoformat(timespec="milliseconds")


@pytest.mark.parametrize("seed", range(12))
def test_the_rules_break_no_invariant(seed: int) -> None:
    """Answers early, late, wrong and twice, runs superseded and taken away: nothing to say."""
    report = check(rehearsed(seed, 80), SETUP)
    assert report.ok, f"seed {seed}\n{report.summary()}"
    assert report.outcomes["resumed"] > 20, report.summary()


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_lost_is_noticed(seed: int) -> None:
    """Any record less than the rules wrote is a violation, in a log of all kinds of mischief."""
    log = rehearsed(100 + seed, 40)
    written = [record for record in log if record.role in OUTPUTS]
    for lost in Random(seed).sample(written, 25):
        report = check([record for record in log if record is not lost], SETUP)
        assert not report.ok, f"seed {seed}: {lost}"
