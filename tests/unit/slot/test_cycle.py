"""One cycle: which records go where, and what is read within the same transaction."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bridge.core.ids import RunKey, home_slot
from bridge.core.model import (
    SourcePolicy,
    ThreadKey,
)
from bridge.errors import RerouteNotHome
from tests.unit.slot.desk import EVENTS, NOW, TOPICS, Bench, answer, desk, event, raw, sent


def test_event_and_answer_in_one_cycle_resume_at_once() -> None:
    """A draft is read through: the answer finds the run that the same transaction opens."""
    out = Bench().cycle(event(), answer())
    assert [a["status"] for a in sent(out, "approvals")] == ["pending", "answered"]
    assert len(sent(out, "resume-commands")) == 1


def test_answer_by_id_alone_finds_a_run_of_the_same_cycle() -> None:
    """The approval id is indexed before the run is folded."""
    named = RunKey.of(ThreadKey("agents", "", "t-1"), "r-1").approval_id("i-1")
    by_id = raw(
        b'{"approval_id":"%s","status":"resolved","payload":1}' % named.encode(),
        TOPICS["answers"],
    )
    assert sent(Bench().cycle(event(), by_id), "answer-verdicts")[0]["verdict"] == "accepted"


def test_run_that_changes_often_in_a_cycle_is_written_once() -> None:
    """A run with 50 interrupts answered in one transaction costs one state record."""
    ids = [f"i-{n}" for n in range(50)]
    bench = Bench()
    bench.cycle(event(ids=ids), *(answer(interrupt=i, offset=n) for n, i in enumerate(ids)))
    assert len(bench.log) == 1


def test_foreign_thread_takes_one_hop_home() -> None:
    """A record at another slot is sent on as it came, to the partition of its home."""
    slots = 4
    home = home_slot("t-1", slots)
    away = Bench(desk(slot=(home + 1) % slots, slots=slots))
    out = away.cycle(event())
    assert [(o.topic, o.partition) for o in out] == [("reroute", home)]
    assert out[0].value == event().value


def test_rerouted_record_is_applied_at_home_and_never_sent_on() -> None:
    """At home a hop ends; anywhere else the slot stops instead of starting another hop."""
    slots = 4
    home = home_slot("t-1", slots)
    assert sent(Bench(desk(home, slots)).cycle(event(), rerouted=True), "approvals")
    with pytest.raises(RerouteNotHome):
        Bench(desk((home + 1) % slots, slots)).cycle(event(), rerouted=True)


def test_bad_record_becomes_a_dead_letter_and_the_cycle_goes_on() -> None:
    """The record behind a bad one is worked on in the same transaction."""
    bad = raw(b"{", EVENTS, b"t-1", 7)
    out = Bench().cycle(bad, event(offset=8))
    letters = [o for o in out if o.topic == "dead-letters"]
    assert [o.value for o in letters] == [b"{"]
    assert ("bridge-reason", b"not_json") in letters[0].headers
    assert sent(out, "approvals")


def test_malformed_answer_gets_a_verdict_and_a_dead_letter() -> None:
    """Exactly one of each: the sender learns it, and nothing of the record is lost."""
    out = Bench().cycle(raw(b"[]", TOPICS["answers"], offset=3))
    assert [o.topic for o in out] == ["answer-verdicts", "dead-letters"]
    assert sent(out, "answer-verdicts")[0]["answer_id"] == "bridge.answers/0/3"


def test_error_of_an_unknown_thread_is_counted_and_unused() -> None:
    """RUN_ERROR names no thread; a key that is no known thread attributes nothing."""
    error = raw(b'{"type":"RUN_ERROR","message":"m"}', EVENTS, b"t-unknown")
    assert Bench().cycle(error) == []


def test_defect_on_one_record_sets_it_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception nobody expected must not come again with every new owner of the slot."""

    def defect(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("bridge.slot.cycle.read_answer", defect)
    out = Bench().cycle(answer(), event())
    assert [o.topic for o in out] == ["approvals", "answer-verdicts", "dead-letters"]
    assert ("bridge-reason", b"unsupported") in out[2].headers


def test_trace_context_goes_on_and_nothing_else() -> None:
    """A valid traceparent of the input is on its outputs; other headers of a sender are not."""
    parent = ("traceparent", b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    asked = event()
    sender = raw(asked.value, EVENTS, headers=[parent, ("ce_source", b"forged")])
    (out,) = Bench().cycle(sender)
    assert parent in out.headers
    assert ("ce_source", b"forged") not in out.headers


def test_early_answer_waits_and_is_judged_with_its_question() -> None:
    """Parked in one cycle, restored, applied when the event comes."""
    bench = Bench()
    assert bench.cycle(answer()) == []
    assert bench.ledger.parked_count == 1
    later = bench.restored()
    assert later.ledger.parked_count == 1
    out = later.cycle(event(offset=1))
    assert sent(out, "answer-verdicts")[0]["verdict"] == "accepted"
    assert later.ledger.parked_count == 0


def test_early_answer_without_a_question_is_unknown_in_the_end() -> None:
    """Its timer fires early_answer_ttl after it came."""
    bench = Bench()
    bench.cycle(answer())
    later = NOW + 15 * 60_000
    assert bench.cycle(now=later - 1, due=later - 1) == []
    out = bench.cycle(now=later, due=later)
    assert [v["verdict"] for v in sent(out, "answer-verdicts")] == ["unknown"]
    assert bench.ledger.parked_count == 0


@pytest.mark.parametrize("named", ["its question", "an approval id only"])
def test_early_answer_waits_as_long_as_its_source_says(named: str) -> None:
    """The question has opened no run that could hold the policy yet."""
    bench = Bench(desk(policy=SourcePolicy(early_answer_ttl=2_000)))
    approval_id = RunKey.of(ThreadKey("agents", "", "t-1"), "r-1").approval_id("i-1")
    by_id = b'{"approval_id":"%s","status":"resolved","payload":1}' % approval_id.encode()
    early = answer() if named == "its question" else raw(by_id, TOPICS["answers"])
    bench.cycle(early)
    assert bench.cycle(now=NOW + 1_999, due=NOW + 1_999) == []
    out = bench.cycle(now=NOW + 2_000, due=NOW + 2_000)
    assert [v["verdict"] for v in sent(out, "answer-verdicts")] == ["unknown"]


def test_expiry_closes_the_run_and_commands_its_resume() -> None:
    """The timer of the question fires once; the run's memory then waits to be forgotten."""
    bench = Bench()
    bench.cycle(event(expiresAt="2027-01-15T08:01:00Z"))
    at = NOW + 60_000
    out = bench.cycle(now=at + 2_000, due=at)
    assert sent(out, "approvals")[0]["closed_reason"] == "expired"
    assert sent(out, "resume-commands")[0]["completed_by"] == "expiry"
    assert bench.ledger.timers.next_at() == at + 2_000 + 7 * 86_400_000


def test_early_answers_are_bounded_in_bytes() -> None:
    """A slot keeps no more than its share, within one cycle and over many."""
    at = desk()
    at.limits = replace(at.limits, parked_bytes=2_000)
    bench = Bench(at)
    early = [answer(f"t-{n}", comment="c" * 500, offset=n) for n in range(12)]
    out = bench.cycle(*early[:6]) + bench.cycle(*early[6:])
    assert {v["verdict"] for v in sent(out, "answer-verdicts")} == {"parked_full"}
    assert 2 <= bench.ledger.parked_count <= 5


def test_any_timestamp_can_be_remembered() -> None:
    """A producer may stamp a record with any 64-bit number."""
    for stamp in (2**63 - 1, -1):
        bench = Bench()
        bench.cycle(event(at=stamp), answer())
        assert bench.log or stamp < 0
