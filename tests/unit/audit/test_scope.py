"""What a log lacks, or what is being written, is counted as not judged and breaks no promise."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from bridge.audit.checker import check
from bridge.audit.log import Begin, Role, Setup
from tests.chaos.clean_log import clean_log
from tests.chaos.edits import Records, again, without
from tests.chaos.rehearsal import SETUP as REHEARSED
from tests.chaos.rehearsal import rehearsed
from tests.chaos.written_log import EVENTS, SETUP, TOPICS

READ = replace(
    SETUP, topics={topic: role for role, topic in TOPICS.items() if role != "state"}, compacted=True
)
OUTPUTS = ("resume-commands", "answer-verdicts", "dead-letters", "reroute")


def since(log: Records, instant: int) -> tuple[Records, Setup]:
    """The log as a reader finds it who begins at that instant."""
    cut = [r for r in log if r.timestamp < instant and r.role != "approvals"]
    kept = [r for r in log if r not in cut]
    begins = {r.place[:2]: Begin(r.offset + 1, instant) for r in sorted(cut, key=lambda r: r.place)}
    return kept, replace(READ, begins=begins)


def retained(log: Records, chance: Random, setup: Setup) -> tuple[Records, Setup]:
    """The log once retention has taken from each partition what it liked, from the front."""
    times = sorted({record.timestamp for record in log})
    begins: dict[tuple[str, int], Begin] = {}
    kept = list(log)
    for partition in sorted({r.place[:2] for r in log if r.role != "approvals"}):
        instant = chance.choice([0, chance.choice(times)])
        gone = [r for r in log if r.place[:2] == partition and r.timestamp < instant]
        if gone:
            begins[partition] = Begin(max(r.offset for r in gone) + 1, instant)
            kept = [r for r in kept if r not in gone]
    return kept, replace(setup, begins=begins)


def first(log: Records, role: Role) -> int:
    return next(at for at, record in enumerate(log) if record.role == role)


def test_a_whole_log_is_judged_whole() -> None:
    """Ten runs, every answer and every command, nothing left out."""
    report = check(clean_log(), READ)
    assert report.ok, report.summary()
    assert not report.unjudged
    counted = {"runs": report.figures["runs"], "commands": report.figures["commands"]}
    assert counted.items() <= dict(report.judged).items()


def test_a_log_may_begin_anywhere() -> None:
    """Wherever it is cut, what began before breaks nothing, and is counted."""
    log = clean_log()
    for instant in sorted({record.timestamp for record in log}):
        report = check(*since(log, instant))
        assert report.ok, f"{instant}\n{report.summary()}"
    report = check(*since(log, log[len(log) // 2].timestamp))
    assert report.unjudged["runs", "began_before"] > 0
    assert report.judged["runs"] > 0


@pytest.mark.parametrize("seed", range(3))
def test_retention_breaks_no_promise(seed: int) -> None:
    """A log of all kinds of mischief under three protocols, each partition cut at its own place."""
    log, chance = rehearsed(seed, 40), Random(seed)
    topics = {record.topic: record.role for record in log if record.role != "state"}
    whole = replace(REHEARSED, topics=topics, compacted=True, remembered_ms=7 * 86_400_000)
    for _ in range(6):
        report = check(*retained(log, chance, whole))
        assert report.ok, f"seed {seed}\n{report.summary()}"


def test_what_retention_emptied_is_not_missed() -> None:
    """No dead letter is left, and no command: what was then is not judged, what is open is."""
    log = [record for record in clean_log() if record.role not in OUTPUTS]
    begins = {(TOPICS[role], slot): Begin(99, None) for role in OUTPUTS for slot in (0, 1)}  # type: ignore[index]  # roles
    report = check(log, replace(READ, begins=begins))
    assert report.ok, report.summary()
    assert report.judged.get("runs", 0) == 0


def test_a_breach_behind_the_beginning_is_found() -> None:
    """A run that began in the part that was read is judged as ever."""
    log = clean_log()
    command = [record for record in log if record.role == "resume-commands"][-1]
    kept, setup = since(again(log, command), log[first(log, "approvals")].timestamp)
    report = check(kept, setup)
    assert "I1" in report.broken
    assert any(
        place[0] == TOPICS["resume-commands"] for v in report.violations for place in v.places
    )


def test_what_is_young_is_in_flight() -> None:
    """Half of a transaction's outputs may be seen before the others."""
    log = clean_log()
    last = [record for record in log if record.role == "answer-verdicts"][-1]
    torn = without(log, last)
    assert not check(torn, READ).ok
    young = replace(READ, in_flight_ms=60_000, now=last.timestamp + 1_000)
    report = check(torn, young)
    assert report.ok, report.summary()
    assert report.unjudged["answers", "in_flight"] > 0
    assert not check(torn, replace(young, now=last.timestamp + 61_000)).ok


def test_another_thread_is_left_out() -> None:
    """With a thread only its own breaches are told."""
    log = clean_log()
    command = next(record for record in log if record.role == "resume-commands")
    doubled = again(log, command)
    thread = (command.key or b"").decode()
    assert "I1" in check(doubled, replace(READ, thread=thread)).broken
    report = check(doubled, replace(READ, thread="thread-ops"))
    assert report.ok, report.summary()
    assert report.judged["runs"] == 1


def test_a_source_that_began_late_owes_nothing_for_what_was_before() -> None:
    """The first record that anything came of is where it began at the latest."""
    log = clean_log()
    early = next(record for record in log if record.role == "input")
    gone = [r for r in log if r.role != "input" or r is early]
    gone = [r for r in gone if r.role in ("input", "state")]
    assert not check(gone, replace(READ, compacted=False)).ok
    late = replace(READ, compacted=False, late_starts=frozenset({EVENTS}))
    assert check(gone, late).ok
