"""What the doctor says of what it found."""

from __future__ import annotations

from dataclasses import replace

import pytest
from aiokafka.structs import TopicPartition

from bridge.config import Worker
from bridge.kafka.adoption import Holding
from bridge.kafka.doctor.approvals import judge_approvals
from bridge.kafka.doctor.cluster import judge_settings
from bridge.kafka.doctor.hanging import judge_hanging
from bridge.kafka.doctor.members import judge_members
from bridge.kafka.doctor.positions import judge_positions
from bridge.kafka.doctor.probes import judge_probes
from bridge.kafka.doctor.state import judge_state
from bridge.kafka.doctor.transaction import judge_clock
from bridge.kafka.group import Group, Member
from bridge.kafka.positions import Standing
from bridge.kafka.seats import Declaration
from bridge.kafka.verdict import OpenTransaction

GOOD = {
    "auto.create.topics.enable": "false",
    "group.max.session.timeout.ms": "1800000",
    "group.min.session.timeout.ms": "6000",
    "producer.id.expiration.ms": "86400000",
    "transaction.max.timeout.ms": "900000",
    "transaction.state.log.replication.factor": "3",
    "transactional.id.expiration.ms": "604800000",
}


def test_the_defaults_of_kafka_fit_the_defaults_of_a_worker() -> None:
    assert list(judge_settings(GOOD, 3, Worker())) == []


@pytest.mark.parametrize(
    ("name", "value", "grade"),
    [
        ("group.min.session.timeout.ms", "10000", "fail"),
        ("group.max.session.timeout.ms", "5000", "fail"),
        ("transaction.max.timeout.ms", "14999", "fail"),
        ("transactional.id.expiration.ms", "3599999", "fail"),
        ("producer.id.expiration.ms", "86400001", "warn"),
        ("transaction.state.log.replication.factor", "1", "warn"),
        ("auto.create.topics.enable", "true", "warn"),
    ],
)
def test_each_setting_that_does_not_fit_is_named_with_its_remedy(
    name: str, value: str, grade: str
) -> None:
    (check,) = judge_settings(GOOD | {name: value}, 3, Worker())
    assert (check.grade, check.subject) == (grade, name)
    assert check.advice


def test_one_broker_may_keep_one_copy() -> None:
    """What a development cluster cannot have is not asked of it."""
    single = GOOD | {"transaction.state.log.replication.factor": "1"}
    assert list(judge_settings(single, 1, Worker())) == []


@pytest.mark.parametrize(
    ("stamp", "grade", "found"),
    [
        (100_500, "ok", "agrees with"),
        (99_960, "ok", "agrees with"),
        (98_500, "ok", "1.5 s ahead of"),
        (97_000, "fail", "3.0 s ahead of"),
        (104_000, "fail", "3.0 s behind"),
    ],
)
def test_a_stamp_between_before_and_after_is_no_difference(
    stamp: int, grade: str, found: str
) -> None:
    """The commit took a second, and a clock cannot be told better than that."""
    check = judge_clock(stamp, before=100_000, after=101_000)
    assert check.grade == grade
    assert found in check.found


def test_lost_positions_fail_by_slot_and_lag_does_not() -> None:
    lost = Standing(3, "events", 3, position=1, begin=5, end=9)
    start = Standing(0, "events", 0, position=0, begin=0, end=9)
    behind = replace(start, position=1)
    (check,) = judge_positions([start, lost], [behind, lost])
    assert (check.grade, check.found) == ("fail", "slot 3 has lost 1 position")
    assert "interrupt-bridge positions skip --slot 3" in check.advice
    (check,) = judge_positions([start], [behind])
    assert (check.grade, check.found) == ("ok", "none lost, 8 offsets left to read")


STUCK = Standing(3, "events", 3, position=1, begin=0, end=9)


def test_a_slot_that_reads_nothing_of_what_there_is_is_named() -> None:
    """Its worker keeps the seat in the group, so only the positions tell; others may be well."""
    busy = Standing(0, "events", 0, position=1, begin=0, end=9)
    (check,) = judge_positions([STUCK, busy], [STUCK, replace(busy, position=2)])
    assert (check.grade, check.subject) == ("warn", "positions")
    assert check.found == "slot 3 has 8 offsets left to read and reads none"
    assert "log" in check.advice
    one = replace(STUCK, position=8)
    (check,) = judge_positions([one], [one])
    assert check.found == "slot 3 has 1 offset left to read and reads none"


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ([replace(STUCK, end=1)], [STUCK]),  # it came just now
        ([STUCK, replace(STUCK, topic="b")], [STUCK, replace(STUCK, topic="b", position=5)]),
        ([replace(STUCK, position=None)], [replace(STUCK, position=None)]),  # never opened
        ([STUCK], [replace(STUCK, position=9)]),
    ],
)
def test_a_slot_that_moves_anywhere_is_at_work(before: list[Standing], now: list[Standing]) -> None:
    (check,) = judge_positions(before, now)
    assert check.grade == "ok"


OPEN = OpenTransaction(TopicPartition("events", 3), 1, 7, 0, 1_800_000_000_000)


def test_a_transaction_that_stays_open_is_named_with_its_remedy() -> None:
    """The slot is no culprit: it cannot read on. One that is another by now is no trouble."""
    held = replace(STUCK, end=1, high=9, blocked_by=OPEN)
    (check,) = judge_positions([held], [held])
    assert check.grade == "fail"
    assert "events/3 is held back at 1 by a transaction of producer 7 since 2027" in check.found
    assert "abort --topic events --partition 3 --start-offset 1" in check.advice
    moved = replace(held, position=5, end=5, blocked_by=replace(OPEN, start=5))
    (check,) = judge_positions([held], [moved])
    assert check.grade == "ok"


def test_what_is_open_in_an_own_topic_fails_also_where_nobody_says_whose_it_is() -> None:
    at = TopicPartition("bridge.state", 2)
    later = replace(OPEN, partition=at, start=9)
    (check,) = judge_hanging([at], [replace(later, start=4), later])
    assert (check.grade, "held back at 4" in check.found) == ("fail", True)
    (check,) = judge_hanging([at], [])
    assert (check.grade, check.found.split()[0]) == ("fail", "bridge.state/2")
    (check,) = judge_hanging([], [])
    assert check.grade == "ok"


def worker(name: str, *slots: int) -> Member:
    return Member(f"{name}-id", name, "/10.0.0.1", Declaration(name), slots)


STRANGER = Member("x-id", "reporting", "/10.0.0.9", None, (0, 1))


SILENT = replace(STRANGER, slots=())
"""What brokers tell of any member while the group rebalances."""


def group(*members: Member, state: str = "Stable") -> Group:
    return Group("app:bridge.state", state, "interrupt-bridge", members)


@pytest.mark.parametrize(
    ("found", "grades", "says"),
    [
        (group(worker("a", 0, 1), worker("b", 2, 3)), ["ok"], "2 in the group app:bridge.state"),
        (group(worker("a", 0, 1, 2)), ["fail"], "none has slot 3"),
        (group(SILENT, SILENT, state="PreparingRebalance"), ["warn"], "2 in the group"),
        (group(state="Empty"), ["fail"], "none in the group"),
        (group(STRANGER), ["fail", "fail"], "reporting at 10.0.0.9 (x-id)"),
        (group(worker("a", 2, 3), STRANGER), ["fail", "fail"], "none has slots 0-1"),
    ],
)
def test_who_is_in_the_group(found: Group, grades: list[str], says: str) -> None:
    """Every stranger and every slot without a worker is a finding of its own."""
    checks = list(judge_members(found, 4))
    assert [check.grade for check in checks] == grades
    assert any(says in check.found for check in checks)
    assert all(check.advice for check in checks if check.grade != "ok")


def test_a_source_that_is_not_read_yet_is_named_with_the_worker_that_does_not_know_it() -> None:
    """A worker that a rollout forgot keeps it from being read, while every slot answers."""
    old = Member("a", "bridge", "/10.0.0.1", Declaration("old", ("mail",)), (0, 1))
    new = Member("b", "bridge", "/10.0.0.2", Declaration("new", ("mail", "chat")), (2, 3))
    served, waiting = judge_members(group(old, new), 4)
    assert (served.grade, waiting.grade) == ("ok", "warn")
    assert waiting.found == "source chat is not read until old knows it"
    assert waiting.advice


@pytest.mark.parametrize(("state", "told"), [("Empty", False), ("Dead", True)])
def test_a_group_that_brokers_do_not_show_may_be_hidden(state: str, told: bool) -> None:
    """By a member of the newer protocol: then workers are served and not to be seen."""
    (check,) = judge_members(group(state=state), 4)
    assert ("--members --group app:bridge.state" in check.advice) is told


def test_silent_slots_are_named_by_the_worker_that_has_them() -> None:
    """Its log says why; of a slot that nobody has, there is none to look at."""
    checks = list(judge_probes({0: 0.1, 1: 0.25}, 6, {2: "host-a", 3: "host-a"}))
    assert [(check.grade, check.found) for check in checks] == [
        ("ok", "slots 0-1 answered a probe within 250 ms"),
        ("fail", "slots 4-5 did not answer in 5 s"),
        ("fail", "slots 2-3 did not answer in 5 s"),
    ]
    assert "start a worker" in checks[1].advice
    assert checks[2].advice.startswith("host-a has it")


def test_silence_of_all_is_not_called_good() -> None:
    assert [check.grade for check in judge_probes({}, 2, {})] == ["fail"]


def test_state_of_another_or_of_nobody_fails() -> None:
    """One line for slots in the same way; what no worker has opened is no loss."""
    found = [
        Holding(0, None, "ours"),
        Holding(1, None, "ours"),
        Holding(2, None, "lost", "it is empty beside bridge.approvals/2"),
        Holding(3, None, "lost", "it is empty beside bridge.approvals/3"),
        Holding(4, None, "another's", "it belongs to app_id other"),
        Holding(5, None, "not begun"),
    ]
    checks = list(judge_state(found))
    assert sorted((check.grade, check.found) for check in checks) == [
        ("fail", "slot 4 of another deployment: it belongs to app_id other"),
        ("fail", "slots 2-3 lost: it is empty beside bridge.approvals/2"),
        ("ok", "slots 0-1 of this deployment"),
        ("warn", "slot 5 not begun"),
    ]
    assert "deployment adopt" in next(c.advice for c in checks if "lost" in c.found)


def test_approvals_that_no_state_knows_are_counted_by_slot() -> None:
    """Each slot has a line, with one of them to look for."""
    (known,) = judge_approvals({}, "approvals")
    assert known.grade == "ok"
    found = judge_approvals({3: frozenset({"b", "a"}), 0: frozenset({"c"})}, "approvals")
    one, two = map(str, found)
    assert one.startswith("warn  approvals: approvals/0 has 1 pending approval that")
    assert two.startswith("warn  approvals: approvals/3 has 2 pending approvals that")
    assert "such as a:" in two
