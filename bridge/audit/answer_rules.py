"""I8, and the answer side of I3 and I10: one verdict each, and each verdict is the right one."""

from __future__ import annotations

from collections.abc import Iterator

from bridge.audit.answers import Given
from bridge.audit.log import Violation, text_of
from bridge.audit.schemas import fits
from bridge.audit.story import Life, Output, Story

_VERDICTS = frozenset(
    {"malformed", "forbidden", "unknown", "duplicate", "late", "stale", "withdrawn", "expired"}
    | {
        "out_of_band",
        "conflict",
        "too_large",
        "invalid_payload",
        "parked_full",
        "accepted",
        "probed",
    }
)
_IDENTITY = ("source", "scope", "thread_id", "run_id", "interrupt_id")
_CLOSED_AS = {
    "late": frozenset({"resumed"}),
    "stale": frozenset({"superseded"}),
    "withdrawn": frozenset({"withdrawn", "unresumable"}),
}


def one_verdict_each(story: Story) -> Iterator[Violation]:
    """I8: every answer and operation record gets exactly one verdict, under its own id."""
    for place, given in story.given.items():
        verdicts = story.verdicts_of.get(place, [])
        if len(verdicts) > 1:
            yield Violation("I8", f"{len(verdicts)} verdicts for one record", (text_of(place),))
        # An early answer may wait, unless its question is there.
        waits = given.is_answer and given.sound is not False and not story.setup.final
        owed = not waits or story.latest(given.approval_id) is not None
        if not verdicts and owed and story.settled(place):
            yield Violation("I8", "an answer was ignored silently", (text_of(place),))
        # The sender's id, or the place; either where the record is too broken to tell.
        known = {given.answer_id} if given.sound else {given.answer_id, text_of(place)}
        for verdict in verdicts:
            if verdict.body.get("answer_id") not in known:
                yield Violation("I8", "a verdict under another answer id", (text_of(place),))
            if not _on_its_question(story, given, verdict):
                yield Violation("I8", "a verdict on another question", (text_of(place),))
            decided = verdict.at("decided_at")
            if decided is None or decided < given.record.timestamp - story.setup.clock_slack_ms:
                yield Violation("I8", "a verdict before its answer", (text_of(place),))


def shape_is_judged_rightly(story: Story) -> Iterator[Violation]:
    """I8: malformed is said of what is malformed, and only of that."""
    for given, verdict in _judged(story):
        malformed = verdict.body.get("verdict") == "malformed"
        if given.sound is not None and malformed == given.sound:
            said = "called malformed" if malformed else "malformed, yet judged otherwise"
            yield Violation("I8", f"an answer {said}", (text_of(given.record.place),))


def probes_are_answered_by_their_slot(story: Story) -> Iterator[Violation]:
    """I8: `probed` is said of each sound probe, of nothing else, and by the slot it asks."""
    for given, verdict in _judged(story):
        probed, place = verdict.body.get("verdict") == "probed", text_of(given.record.place)
        if given.sound is not None and probed != (given.sound and given.slot is not None):
            yield Violation("I8", "probed is the answer to probes, and they get no other", (place,))
        elif probed and verdict.record.partition != given.slot:
            yield Violation("I8", "another slot answered a probe", (place,))


def first_accepted_stands(story: Story) -> Iterator[Violation]:
    """I8: one accepted answer a question; duplicates equal it, conflicts differ, both follow it."""
    for approval_id, accepted in story.accepted_by.items():
        lives = story.lives.get(approval_id, [])
        if len(accepted) > max(1, len(lives)):
            ids = (approval_id, *(text_of(verdict.origin) for verdict in accepted))
            yield Violation("I8", "two answers were accepted for one question", ids)
    for given, verdict in _judged(story):
        said = verdict.body.get("verdict")
        if said in {"duplicate", "conflict"} and given.is_answer:
            yield from _compared(story, given, verdict)


def accepted_means_valid(story: Story) -> Iterator[Violation]:
    """I3: an accepted payload fits its schema; I8: an answer called invalid does not."""
    for given, verdict in _judged(story):
        said, life = verdict.body.get("verdict"), story.latest(given.approval_id)
        if life is None or not given.is_answer:
            continue
        valid = given.status == "cancelled" or fits(life.last.body, given.body)
        elsewhere = life.last.body.get("kind") == "authorization" and given.status == "resolved"
        if elsewhere and said == "accepted":
            yield Violation(
                "I3", "an answer was accepted to what none answers", (str(given.approval_id),)
            )
        if said == "out_of_band" and not elsewhere:
            place = text_of(given.record.place)
            yield Violation("I8", "out_of_band said of what an answer answers", (place,))
        if said == "accepted" and valid is False:
            yield Violation("I3", "an invalid payload was accepted", (str(given.approval_id),))
        if said == "invalid_payload" and valid is True:
            yield Violation(
                "I8", "a valid answer was called invalid", (text_of(given.record.place),)
            )


def accepted_shows_and_is_in_time(story: Story) -> Iterator[Violation]:
    """I8: an accepted answer shows in its approval; I10: it came before expiry and closing."""
    for approval_id, verdicts in story.accepted_by.items():
        life = story.latest(approval_id)
        if life is None:
            if story.remembers(max(verdict.record.timestamp for verdict in verdicts)):
                yield Violation("I8", "an answer accepted for no question", (approval_id,))
            continue
        body = life.last.body
        for given in story.accepted(approval_id)[-1:]:
            wanted = (given.answer_id, given.body.get("answered_by"), given.record.timestamp)
            said = (body.get("answer_id"), body.get("answered_by"), life.last.at("answered_at"))
            if said[0] is not None and said != wanted:
                yield Violation("I8", "an approval shows another answer", (approval_id,))
        shown = {revision.body.get("answer_id") for revision in life.revisions}
        for verdict in verdicts:
            if verdict.body.get("answer_id") not in shown:
                yield Violation("I8", "an accepted answer does not show", (approval_id,))
            yield from _in_time(story, verdict, life)
    for approval_id, lives in story.lives.items():
        answered = any({"answered", "cancelled"} & set(life.statuses) for life in lives)
        if answered and approval_id not in story.accepted_by:
            yield Violation("I8", "answered without an accepted answer", (approval_id,))


def refusals_have_their_cause(story: Story) -> Iterator[Violation]:
    """I8: unknown, late, stale, withdrawn and expired are said of questions that are so."""
    for given, verdict in _judged(story):
        said = str(verdict.body.get("verdict"))
        if said not in _VERDICTS:
            yield Violation("I8", f"no such verdict: {said}", (text_of(given.record.place),))
        life = story.latest(given.approval_id)
        place = text_of(given.record.place)
        if said == "unknown" and life is not None and not life.forgotten:
            if (verdict.at("decided_at") or 0) > (life.last.at("published_at") or 0):
                yield Violation("I8", "a published question was called unknown", (place,))
        elif said in _CLOSED_AS and (life or not story.setup.compacted):
            if life is None or life.last.body.get("run_outcome") not in _CLOSED_AS[said]:
                yield Violation("I8", f"{said} for a run that did not close so", (place,))
        elif said == "expired" and life is not None and "expired" not in life.statuses:
            expires, decided = life.last.at("expires_at"), verdict.at("decided_at")
            if expires is not None and decided is not None and decided >= expires:
                continue
            yield Violation("I8", "expired was said of a live question", (place,))


def _judged(story: Story) -> Iterator[tuple[Given, Output]]:
    for place, given in story.given.items():
        for verdict in story.verdicts_of.get(place, []):
            yield given, verdict


def _on_its_question(story: Story, given: Given, verdict: Output) -> bool:
    """Whether all names in the verdict are those of the question that was answered."""
    if not (given.sound and given.is_answer):
        return True
    life = story.latest(given.approval_id)
    asked = life.last.body if life else {**verdict.body, **given.body}
    named = {name: verdict.body[name] for name in _IDENTITY if name in verdict.body}
    return verdict.body.get("approval_id") == given.approval_id and all(
        (asked.get(name) or "") == value for name, value in named.items()
    )


def _compared(story: Story, given: Given, verdict: Output) -> Iterator[Violation]:
    said, place = verdict.body.get("verdict"), text_of(given.record.place)
    accepted = story.accepted_by.get(str(given.approval_id), [])
    if not accepted:
        if not story.setup.compacted:
            yield Violation("I8", f"{said} of an answer that was never accepted", (place,))
        return
    equal = any(given.equals(winner) for winner in story.accepted(str(given.approval_id)))
    if equal != (said == "duplicate"):
        yield Violation("I8", f"{said} was said of the wrong answer", (place,))
    first = accepted[0].record
    if first.partition == verdict.record.partition and first.offset > verdict.record.offset:
        yield Violation("I8", f"{said} came before any answer was accepted", (place,))


def _in_time(story: Story, verdict: Output, life: Life) -> Iterator[Violation]:
    approval_id = str(verdict.body.get("approval_id"))
    given = story.given[verdict.origin]
    expires, decided = life.last.at("expires_at"), verdict.at("decided_at")
    if decided is None:
        yield Violation("I8", "a verdict without its time", (approval_id,))
        return
    if expires is not None and min(given.record.timestamp, decided) >= expires:
        yield Violation("I10", "an answer was accepted after expiry", (approval_id,))
    closed = [revision for revision in life.revisions if revision.body.get("run_outcome")]
    closed_at = closed[0].at("closed_at") if closed else None
    if closed_at is not None and decided > closed_at:
        yield Violation("I10", "an answer was accepted after closing", (approval_id,))
