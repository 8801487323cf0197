"""Answers as the serializers of other languages write them: what decides nothing refuses nothing,
what is spelled in another way is told the right spelling.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.core.model import Answer, Limits, Operation
from bridge.records.answers import BadAnswer, read_answer
from bridge.records.operations import read_operation
from tests.unit.records.test_answers import APPROVAL_ID, IDENTITY, answer, record, refused_members
from tests.unit.slot.desk import NOW, Bench, event, sent
from tests.unit.slot.desk import answer as answer_record

LIMITS = Limits(text_bytes=256, id_bytes=256)
EMPTY = dict.fromkeys(("approval_id", "scope", "answer_id", "answered_by", "comment", "action"), "")
AT_08_15 = 1_796_026_500_000  # 2026-11-30T08:15:00Z


@pytest.mark.parametrize("absent", [None, ""])
def test_nulls_and_empty_texts_are_absent(absent: str | None) -> None:
    """Jackson writes nulls and Go empty texts for all that nobody has set."""
    assert answer(**IDENTITY, **dict.fromkeys(EMPTY, absent)) == answer(**IDENTITY)
    without = dict.fromkeys(IDENTITY, absent)
    assert answer(approval_id=APPROVAL_ID, **without) == answer(approval_id=APPROVAL_ID)


def test_half_an_identity_is_no_empty_one() -> None:
    """Leniency names no question: an empty part beside a given one is a missing part."""
    bad = refused_members(**IDENTITY | {"run_id": ""})
    assert (bad.refusal.reason, bad.refusal.pointer) == ("malformed", "/run_id")


@pytest.mark.parametrize("absent", [None, ""])
def test_operations_are_read_alike(absent: str | None) -> None:
    """An operator's tool is written in the same languages."""
    whole = {"op": "expire", "source": "s", "scope": "", "thread_id": "t", "run_id": "r"}
    bare = read_operation(record(json.dumps(whole).encode()), LIMITS)
    more = dict.fromkeys(("approval_id", "reason", "by"), absent)
    assert isinstance(bare, Operation)
    assert read_operation(record(json.dumps(whole | more).encode()), LIMITS) == bare


@pytest.mark.parametrize(
    ("written", "instant"),
    [
        ("2026-11-30T08:15:00.313840", AT_08_15 + 313),
        ("2026-11-30T08:15:00", AT_08_15),
        ("2026-11-30 08:15:00.313840", AT_08_15 + 313),
        ("2026-11-30T08:15", AT_08_15),
        ("2026-11-30T09:15:00+01:00[Europe/Berlin]", AT_08_15),
        (AT_08_15, AT_08_15),
        (AT_08_15 // 1_000, AT_08_15),
        (AT_08_15 / 1_000 + 0.5, AT_08_15 + 500),
    ],
)
def test_instants_of_other_languages_are_read(written: object, instant: int) -> None:
    """Without a zone it is UTC; a number is of milliseconds, or of seconds where it is small."""
    read = answer(approval_id=APPROVAL_ID, answered_at=written)
    assert (read.answered_at, read.problems) == (instant, ())


@pytest.mark.parametrize(
    "written",
    [
        *("s3cret", "yesterday", "2026-13-40T08:15:00Z"),
        *(True, -1, 0, 1e300, -1e300, 10**400, [1], {"seconds": 1}),
    ],
)
def test_an_instant_that_cannot_be_read_is_left_out(written: object) -> None:
    """It decides nothing, so the answer counts; its verdict says what was left out."""
    read = answer(approval_id=APPROVAL_ID, answered_at=written)
    assert read.answered_at is None
    assert [problem.path for problem in read.problems] == ["/answered_at"]
    assert "s3cret" not in read.problems[0].message


@pytest.mark.parametrize("early", [False, True])
def test_what_was_left_out_stands_in_the_one_verdict(early: bool) -> None:
    """Also where the answer waited for its question, and was read back from the log meanwhile."""
    bench = Bench()
    asked, answered = event(), answer_record(answered_at="yesterday")
    if early:
        assert not sent(bench.cycle(answered), "answer-verdicts")
        outgoing = bench.restored().cycle(asked)
    else:
        outgoing = bench.cycle(asked, answered)
    (verdict,) = sent(outgoing, "answer-verdicts")
    assert verdict["verdict"] == "accepted"
    assert [problem["path"] for problem in verdict["problems"]] == ["/answered_at"]
    assert len(sent(outgoing, "resume-commands")) == 1


@pytest.mark.parametrize(
    ("members", "pointer", "hint"),
    [
        ({"threadId": "t"}, "/threadId", "write thread_id"),
        ({"InterruptID": "i"}, "/InterruptID", "write interrupt_id"),
        ({"answered-by": "a"}, "/answered-by", "write answered_by"),
        ({"status": "RESOLVED"}, "/status", "resolved or cancelled"),
        ({"action": "RESTART"}, "/action", "restart or respond"),
        ({"approval_id": APPROVAL_ID.upper()}, "/approval_id", "in lower case"),
    ],
)
def test_another_spelling_is_told_the_right_one(
    members: dict[str, Any], pointer: str, hint: str
) -> None:
    """Two spellings of a name would be two readings of one record: refused, and helped."""
    bad = refused_members(**members)
    assert (bad.refusal.reason, bad.refusal.pointer) == ("malformed", pointer)
    assert hint in bad.refusal.detail


def test_an_operation_in_capitals_is_told_the_right_spelling() -> None:
    """The closed sets of all records are told alike."""
    bad = read_operation(record(b'{"op":"WITHDRAW","approval_id":"%b"}' % b"x"), LIMITS)
    assert isinstance(bad, BadAnswer)
    assert "withdraw" in bad.refusal.detail


@pytest.mark.parametrize("name", ["comment", "answered_by", "source", "thread_id", "run_id"])
def test_every_text_of_an_answer_has_a_limit(name: str) -> None:
    """They are kept in the state and sent again: a comment of megabytes is not."""
    members = {"status": "resolved", **IDENTITY, name: "é" * 128}
    at_limit = read_answer(record(json.dumps(members).encode()), LIMITS)
    above = read_answer(record(json.dumps(members | {name: "é" * 129}).encode()), LIMITS)
    assert isinstance(at_limit, Answer)
    assert isinstance(above, BadAnswer)
    assert (above.judged(NOW).verdict, above.refusal.pointer) == ("too_large", f"/{name}")


@pytest.mark.parametrize("name", ["reason", "by"])
def test_every_text_of_an_operation_has_a_limit(name: str) -> None:
    """Operators have the same."""
    members = {"op": "withdraw", "approval_id": APPROVAL_ID, name: "x" * 257}
    bad = read_operation(record(json.dumps(members).encode()), LIMITS)
    assert isinstance(bad, BadAnswer)
    assert (bad.judged(NOW).verdict, bad.refusal.pointer) == ("too_large", f"/{name}")
