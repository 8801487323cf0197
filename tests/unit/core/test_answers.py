"""Verdicts in their order, and what an accepted answer does."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from bridge.core import answers
from bridge.core.decide import decide
from bridge.core.model import (
    Carried,
    DeadLetter,
    Digest,
    Judged,
    Limits,
    Native,
    Operation,
    Order,
    Origin,
    Thread,
    WentOn,
)
from tests.unit.core.builders import (
    APPROVED,
    HOUR,
    NEEDS_APPROVED,
    NOW,
    THREAD,
    answer,
    approval_of,
    event,
    letters,
    opened,
    published,
    question,
    resumes,
    rules,
    run_policy,
    told,
    verdicts,
)

DUE = "2027-01-15T08:00:01Z"  # NOW + 1 s
CLOSED: dict[Any, list[str]] = {
    None: [],
    "resumed": ["late"],
    "superseded": ["stale"],
    "withdrawn": ["withdrawn"],
    "unresumable": ["withdrawn"],
}


def test_the_order_of_the_verdicts_is_written_down_once() -> None:
    """The published order; `unknown` has no question to check, `accepted` is what is left."""
    first, last = ["malformed", "forbidden", "duplicate"], ["expired", "out_of_band", "conflict"]
    last += ["too_large", "invalid_payload"]
    [run] = opened("a").runs
    for outcome, closed in CLOSED.items():
        case = answers.Case(
            answer=answer("a"),
            run=replace(run, outcome=outcome),
            index=0,
            item=run.items[0],
            approval_id=approval_of("a"),
            digest=Digest(b""),
            at=NOW,
            rules=rules(),
        )
        assert [verdict for verdict, _ in answers.checks(case)] == [*first, *closed, *last]


def test_the_last_answer_resumes_the_run_once() -> None:
    """Entries are in the order of the run, however the answers came."""
    decision = told(opened("a", "b"), [answer("b", payload=b"2"), answer("a", payload=b"1")])
    [command] = resumes(decision)
    assert [entry.payload for entry in command.entries] == [b"1", b"2"]
    assert command.completed_by == "answers"
    assert command.native.body == b"[1,2]"
    assert published(decision) == [("b", "answered", 2), ("a", "answered", 2), ("b", "answered", 3)]
    assert {run.outcome for run in decision.thread.runs} == {"resumed"}


def test_a_closed_run_keeps_no_bodies() -> None:
    """The effects have them, the memory has identities, digests, statuses and flags."""
    asked = question("a", message="m", metadata=b"{}", response_schema=NEEDS_APPROVED, native=b"1")
    decision = told(opened(asked, native=b"2"), [answer("a", answered_by="ann")])
    assert resumes(decision)[0].entries[0].question == asked
    [run] = decision.thread.runs
    [item] = run.items
    assert item.question == question("a")
    assert run.native is None
    assert item.answer is not None
    assert (item.answer.payload, item.answer.answered_by) == (None, "ann")


def test_an_answer_may_name_only_its_approval() -> None:
    """The approval id alone finds run and question."""
    named = answer("b", thread=None, run_id=None, interrupt_id=None, approval_id=approval_of("b"))
    [judged] = [e for e in told(opened("a", "b"), [named]).effects if isinstance(e, Judged)]
    assert (judged.verdict, judged.interrupt_id, judged.open) == ("accepted", "b", 1)


def test_names_that_contradict_each_other_are_malformed() -> None:
    """Neither of the two named questions gets the answer; the original is kept for its sender."""
    decision = told(opened("a", "b"), [answer("a", approval_id=approval_of("b"))])
    assert verdicts(decision) == ["malformed"]
    assert letters(decision) == ["malformed"]


def test_only_allowed_people_answer() -> None:
    """A filter by name; everyone where the list is empty."""
    thread = opened("a", rules=rules(run_policy(allowed_answerers=("ann",))))
    decision = told(thread, [answer("a"), answer("a", answered_by="ann")])
    assert verdicts(decision) == ["forbidden", "accepted"]


@pytest.mark.parametrize(
    ("second", "verdict"),
    [
        ({}, "duplicate"),
        ({"payload": b'{ "approved" : true }'}, "duplicate"),
        ({"payload": b'{"approved":false}'}, "conflict"),
        ({"status": "cancelled"}, "conflict"),
        ({"action": "restart"}, "conflict"),
        ({"revised_input": b"1"}, "conflict"),
        ({"answered_by": "bob", "comment": "again"}, "duplicate"),
    ],
)
def test_the_first_answer_stands(second: dict[str, Any], verdict: str) -> None:
    """Equality is of JSON values; who repeats it and why is not part of it."""
    decision = told(opened("a", "b"), [answer("a"), answer("a", offset=2, **second)])
    assert verdicts(decision) == ["accepted", verdict]


def test_a_duplicate_is_recognised_after_the_run_has_closed() -> None:
    """The sender may stop; anybody else learns that it is over."""
    decision = told(
        opened("a"), [answer("a", payload=b"50"), answer("a", payload=b"50.0"), answer("a")]
    )
    assert verdicts(decision) == ["accepted", "duplicate", "late"]


def test_a_reused_answer_id_is_judged_by_content() -> None:
    """The verdict is that of the content; the problem tells what went wrong at the sender."""
    one = answer("a", answer_id="x")
    other = answer("a", answer_id="x", payload=b"0")
    *_, judged = told(opened("a", "b"), [one, other]).effects
    assert isinstance(judged, Judged)
    assert judged.verdict == "conflict"
    assert [problem.message for problem in judged.problems] == ["answer_id_reused"]


@pytest.mark.parametrize(
    ("closing", "verdict"),
    [
        (event("z", run="run-2", at=NOW + 1), "stale"),
        (WentOn(THREAD, Order(NOW), Origin("events", 0, 8, NOW)), "withdrawn"),
        (Operation(Origin("operations", 0, 1, NOW), "withdraw", approval_of("a")), "withdrawn"),
        (Operation(Origin("operations", 0, 1, NOW), "expire", approval_of("a")), "expired"),
    ],
)
def test_an_answer_after_the_run_has_closed(closing: object, verdict: str) -> None:
    """The verdict names what became of the question."""
    decision = told(opened("a"), [closing, answer("a")])  # type: ignore[list-item]
    assert verdicts(decision)[-1] == verdict


@pytest.mark.parametrize(
    ("written", "now", "verdict"),
    [
        (NOW + 999, NOW + 999, "accepted"),
        (NOW + 1_000, NOW + 1_000, "expired"),
        (NOW + 999, NOW + HOUR, "accepted"),  # it was in time; the bridge was late
        (NOW + HOUR, NOW + 999, "accepted"),  # stamped by a clock that is ahead
        (NOW + HOUR, NOW + 1_000, "expired"),
    ],
)
def test_in_time_is_decided_by_the_earlier_of_record_and_now(
    written: int, now: int, verdict: str
) -> None:
    """Whether a timer has fired yet plays no part."""
    thread = opened(question("a", expires_at_raw=DUE))
    assert verdicts(told(thread, [answer("a", at=written)], now)) == [verdict]


def test_an_authorization_is_not_answered_here() -> None:
    """Credentials go elsewhere; only cancelling is an answer."""
    thread = opened(question("a", kind="authorization"))
    decision = told(thread, [answer("a"), answer("a", status="cancelled")])
    assert verdicts(decision) == ["out_of_band", "accepted"]


def test_an_invalid_payload_can_be_answered_again() -> None:
    """The question stays open; pointers say where, and nothing of the payload is repeated."""
    thread = opened(question("a", response_schema=NEEDS_APPROVED))
    wrong = answer("a", payload=b'{"approved":"s3cret"}')
    decision = told(thread, [wrong, answer("a", payload=None), answer("a")])
    assert verdicts(decision) == ["invalid_payload", "invalid_payload", "accepted"]
    first = decision.effects[0]
    assert isinstance(first, Judged)
    assert [(p.path, p.message) for p in first.problems] == [
        ("/approved", "must be of type boolean")
    ]
    assert "s3cret" not in repr(first)


def test_a_cancelled_answer_is_not_held_against_the_schema() -> None:
    """Abandoning needs no payload."""
    thread = opened(question("a", response_schema=NEEDS_APPROVED))
    decision = told(thread, [answer("a", status="cancelled")])
    assert verdicts(decision) == ["accepted"]
    assert resumes(decision)[0].completed_by == "answers"


def test_revised_input_is_taken_only_where_the_question_allows_it() -> None:
    """A revision that nobody will look at must not be taken for consent to it."""
    revised = answer("a", revised_input=b'{"amount":5}')
    decision = told(opened("a"), [revised])
    assert verdicts(decision) == ["invalid_payload"]
    assert verdicts(told(opened(question("a", revisable=True)), [revised])) == ["accepted"]


@pytest.mark.parametrize(
    ("action", "payload", "verdict"),
    [
        ("respond", b"7", "accepted"),
        ("respond", b"true", "invalid_payload"),
        ("restart", b"true", "accepted"),
        (None, b"7", "invalid_payload"),
    ],
)
def test_each_action_may_have_its_own_schema(
    action: str | None, payload: bytes, verdict: str
) -> None:
    """An answer is held to the schema of the action it takes; without one, of the first."""
    asked = question(
        "a",
        actions=("restart", "respond"),
        response_schema=b'{"type":"boolean"}',
        action_schemas=(("respond", b'{"type":"integer"}'),),
    )
    decision = told(opened(asked), [answer("a", action=action, payload=payload)])
    assert verdicts(decision) == [verdict]


def test_an_unusable_schema_of_the_question_frees_no_action_from_its_own() -> None:
    """The flag is about `response_schema`; a response is still held to what its tool gives."""
    asked = question(
        "a",
        actions=("restart", "respond"),
        response_schema=b'{"type":"no"}',
        action_schemas=(("respond", b'{"type":"integer"}'),),
    )
    thread = opened(asked, "b")
    assert thread.runs[0].items[0].flags == ("schema_unusable",)
    responds = [answer("a", action="respond", payload=payload) for payload in (b"true", b"7")]
    assert verdicts(told(thread, responds)) == ["invalid_payload", "accepted"]
    restarts = answer("a", action="restart", payload=b"true")
    assert verdicts(told(thread, [restarts])) == ["accepted"]


def test_an_action_must_be_one_of_those_offered() -> None:
    """Where a question offers none, an answer with one is meant for something else."""
    thread = opened(question("a", actions=("respond",)), "b")
    decision = told(thread, [answer("a", action="restart"), answer("b", action="respond")])
    assert verdicts(decision) == ["invalid_payload", "invalid_payload"]
    assert verdicts(told(thread, [answer("a", action="respond")])) == ["accepted"]


@pytest.mark.parametrize(
    "limits",
    [
        Limits(payload_bytes=100),
        Limits(thread_state_bytes=2_000),
        Limits(command_bytes=3_000),
    ],
)
def test_what_does_not_fit_leaves_the_question_open(limits: Limits) -> None:
    """Checked before anything is sent; a smaller answer is still welcome."""
    large = answer("a", payload=b'"' + b"x" * 1_000 + b'"')
    given = rules(limits=limits)
    decision = told(opened("a", rules=given), [large, answer("a")], given=given)
    assert verdicts(decision) == ["too_large", "accepted"]


def test_a_body_that_turns_out_too_large_refuses_the_last_answer() -> None:
    """Only the protocol knows its body; an answer that can be given smaller closes nothing."""
    tight = rules(limits=Limits(command_bytes=6_000), build=lambda *_: Native("x", b"y" * 5_000))
    decision = told(opened("a", rules=tight), [answer("a")], given=tight)
    assert verdicts(decision) == ["too_large"]
    assert decision.thread.runs[0].is_open


def test_a_command_that_never_fits_closes_the_run_as_unresumable() -> None:
    """A cancelled answer can't be made smaller: approvals and a dead letter say why it ended."""
    tight = rules(limits=Limits(command_bytes=6_000), build=lambda *_: Native("x", b"y" * 5_000))
    decision = told(opened("a", rules=tight), [answer("a", status="cancelled")], given=tight)
    assert published(decision) == [("a", "cancelled", 2)]
    [letter] = [e for e in decision.effects if isinstance(e, DeadLetter)]
    assert letter.refusal.reason == "command_too_large"
    assert letter.run is not None
    [run] = decision.thread.runs
    assert (run.outcome, run.items[0].closed_reason) == ("unresumable", "command_too_large")
    assert resumes(decision) == []


def test_continuity_is_dropped_before_a_command_is() -> None:
    """The carried context goes first, with a note."""
    context = Carried("run-1", b'"' + b"c" * 5_000 + b'"', NOW)
    given = rules(limits=Limits(command_bytes=5_000))
    thread = replace(opened("a", rules=given), carry=(context,))
    decision = told(thread, [answer("a")], given=given)
    [command] = resumes(decision)
    assert command.native.body == b"[" + APPROVED + b"]"
    assert command.native.notes == ("continuity_omitted",)


def test_early_answers_are_parked_or_refused() -> None:
    """No room, or no patience: the sender is told at once."""
    assert len(told(Thread(), [answer("a")]).thread.parked) == 1
    assert verdicts(told(Thread(), [answer("a")], given=rules(parked_room=False))) == [
        "parked_full"
    ]
    hasty = rules(replace(rules().policy, early_answer_ttl=0))
    assert verdicts(told(Thread(), [answer("a")], given=hasty)) == ["unknown"]


def test_an_interrupt_that_a_known_run_does_not_have_is_unknown_at_once() -> None:
    """The list of a run never changes, so nothing is worth waiting for."""
    assert verdicts(told(opened("a"), [answer("z")])) == ["unknown"]


def test_a_protocol_that_takes_the_whole_run_back_abandons_the_answered() -> None:
    """Its native body delivers no answer, and the entries say so."""
    whole = Native("CancelTask", b"{}", abandons_siblings=True)
    thread = opened(question("a", expires_at_raw=DUE), "b")
    given = rules(build=lambda *_: whole)
    decision = told(thread, [answer("a"), answer("b", status="cancelled")], given=given)
    [command] = resumes(decision)
    reasons = [(entry.status, entry.closed_reason) for entry in command.entries]
    assert reasons == [("cancelled", "sibling_abandoned"), ("cancelled", "cancelled")]
    assert command.deliver_by is None


def test_an_abandoned_question_without_a_refusal_makes_the_run_unresumable() -> None:
    """There is nothing to send for it, so the whole turn can't be resumed."""
    decision = told(opened(question("a", flags=("no_refusal",))), [answer("a", status="cancelled")])
    assert letters(decision) == ["no_refusal_configured"]
    assert decision.thread.runs[0].outcome == "unresumable"


@pytest.mark.parametrize("count", [200, 1_000])
def test_many_interrupts_in_one_run(count: int) -> None:
    """The last of many answers, and only it, resumes; every approval then shows the outcome."""
    names = [f"q{n}" for n in range(count)]
    thread, given = opened(*names), rules()
    for name in names[:-1]:
        decision = decide(thread, answer(name), NOW, given)
        assert len(decision.effects) == 2
        thread = decision.thread
    decision = decide(thread, answer(names[-1]), NOW, given)
    [command] = resumes(decision)
    assert [entry.question.interrupt_id for entry in command.entries] == names
    assert len(published(decision)) == count


def test_an_answer_for_another_thread_is_not_for_this_one() -> None:
    """Run and interrupt ids recur; only the whole identity names a question."""
    elsewhere = replace(THREAD, thread_id="thread-2")
    decision = told(opened("a"), [answer("a", thread=elsewhere)])
    assert verdicts(decision) == []
    assert [parked.answer.thread for parked in decision.thread.parked] == [elsewhere]


def test_an_answer_in_time_is_not_lapsed_by_its_own_lateness() -> None:
    """The bridge was away past the deadline; the answer that completes the run still counts."""
    thread = opened(question("a", expires_at_raw=DUE))
    [command] = resumes(told(thread, [answer("a", at=NOW)], NOW + HOUR))
    assert command.entries[0].status == "resolved"


def test_a_repeated_answer_under_its_own_id_is_no_reuse() -> None:
    """Same id, same content: nothing to complain about."""
    *_, judged = told(opened("a", "b"), [answer("a", answer_id="x")] * 2).effects
    assert isinstance(judged, Judged)
    assert (judged.verdict, judged.problems) == ("duplicate", ())


def test_early_answer_is_bounded_before_it_is_kept() -> None:
    """Whatever it carries, its comment too: answers to nothing must not fill the memory."""
    early = answer("a", comment="c" * 300_000)
    assert verdicts(told(Thread(), [early])) == ["too_large"]
