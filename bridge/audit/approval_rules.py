"""I4 and the approval side of I10: every interrupt asked once, every revision in its place."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from bridge.audit import ids, text
from bridge.audit.asked import RunKey
from bridge.audit.log import LogRecord, Place, Violation, text_of
from bridge.audit.readings import Asked, Question
from bridge.audit.story import Life, Output, Story

# Reasons for which a well-formed event is refused all the same.
_LAWFUL = frozenset(
    {"run_conflict", "run_reused", "too_old", "no_timestamp", "limit", "too_large"}
    | {"unsupported", "command_too_large", "no_refusal_configured"}
)
_CONSTANT = (
    *("approval_id", "kind", "protocol", "source", "scope", "thread_id", "run_id"),
    *("interrupt_id", "index", "total", "origin", "published_at", "expires_at", "actions"),
    *("reason", "message", "tool_call_id", "expires_at_raw", "response_schema", "metadata"),
    *("authorize_at", "subagent_run_id"),
)
_YEAR_2000, _YEAR_2100 = 946_684_800_000, 4_102_444_800_000  # in milliseconds
_WITHHELD = "[withheld]"
# Only an answered question can still change, by its own deadline.
_NEXT = {
    "pending": {"pending", "answered", "cancelled", "expired", "superseded", "withdrawn"},
    "answered": {"answered", "expired"},
    **{status: {status} for status in ("cancelled", "expired", "superseded", "withdrawn")},
}


def every_event_is_accounted_for(story: Story) -> Iterator[Violation]:
    """I4: each valid event opened its run, repeats the one that did, or was lawfully refused."""
    for key, events in story.asked.items():
        opener = _opener(story, key)
        for record, asked in events:
            if record.place == opener:
                yield from _all_published(story, key, record, asked)
            elif record.place in story.letters_of:
                yield from _lawfully_refused(story, record, len(events) if key[3] else None)
            elif story.settled(record.place):
                yield from _repeats(story, key, record, asked, opener)


def every_approval_was_asked(story: Story) -> Iterator[Violation]:
    """I4: no approval without its interrupt, and what it shows is what was asked."""
    for approval_id, lives in story.lives.items():
        for life in lives:
            first = life.revisions[0]
            asked = story.opener([life])
            if asked is None:
                yield Violation("I4", "an approval that no event asked for", (approval_id,))
            elif not _shows(approval_id, first, asked):
                yield Violation("I4", "an approval shows other than was asked", (approval_id,))


def revisions_have_no_gap(story: Story) -> Iterator[Violation]:
    """I4: revisions of one approval count from 1 by 1, each of them once."""
    for approval_id, lives in story.lives.items():
        for life in lives:
            found = [text.integer(r.body.get("revision")) or 0 for r in life.revisions]
            if len(set(found)) != len(found):
                yield Violation("I4", "a revision appears twice", (approval_id, str(found)))
            elif found != sorted(found):
                yield Violation("I4", "revisions out of order", (approval_id, str(found)))
            elif not story.setup.compacted and found != list(range(1, len(found) + 1)):
                yield Violation("I4", "revisions with a gap", (approval_id, str(found)))
            if _changed(life, _CONSTANT) or _loses_flags(life):
                yield Violation("I4", "what must stay changed", (approval_id,))


def an_end_is_final(story: Story) -> Iterator[Violation]:
    """I10: an outcome never changes, an expired question is never answered again."""
    for approval_id, lives in story.lives.items():
        for life in lives:
            ended = [r.body for r in life.revisions if r.body.get("run_outcome") is not None]
            if len({(body["run_outcome"], str(body.get("status"))) for body in ended}) > 1:
                yield Violation("I10", "a closed run changed its outcome", (approval_id,))
            if ended and life.last.body.get("run_outcome") is None:
                yield Violation("I10", "a closed run is open again", (approval_id,))
            if not _follows(life.statuses):
                yield Violation("I10", "a status that cannot follow", (approval_id,))


def _opener(story: Story, key: RunKey) -> Place | None:
    """The event that the run's approvals name as theirs."""
    lives = story.runs_by_key.get(key)
    return lives[0].last.origin if lives else None


def _all_published(
    story: Story, key: RunKey, record: LogRecord, asked: Asked
) -> Iterator[Violation]:
    published = {str(life.last.body.get("index")) for life in story.runs_by_key[key]}
    for index in range(len(asked.questions)):
        if str(index) not in published and story.remembers(record.timestamp):
            yield Violation("I4", "an interrupt was never published", (*key, str(index)))
    for letter in story.letters_of.get(record.place, []):
        if (letter.header("bridge-reason") or b"").decode() not in _LAWFUL:
            yield Violation("I4", "an event both published and refused", (text_of(record.place),))


def _lawfully_refused(story: Story, record: LogRecord, rivals: int | None) -> Iterator[Violation]:
    """`rivals` is how many records ask of that run; None where its id is the bridge's to make."""
    for letter in story.letters_of[record.place]:
        reason = (letter.header("bridge-reason") or b"").decode()
        if reason not in _LAWFUL:
            yield Violation(
                "I4", f"a valid event was refused as {reason!r}", (text_of(record.place),)
            )
        elif reason == "no_timestamp" and _YEAR_2000 <= record.timestamp < _YEAR_2100:
            yield Violation("I4", "no_timestamp for a stamped record", (text_of(record.place),))
        elif (
            reason in {"run_conflict", "run_reused"}
            and rivals in {0, 1}
            and not story.lacks("input")
        ):
            yield Violation(
                "I4", f"{reason} without another event of that run", (text_of(record.place),)
            )


def _repeats(
    story: Story, key: RunKey, record: LogRecord, asked: Asked, opener: Place | None
) -> Iterator[Violation]:
    if opener is None:
        # Without a run of its own it repeats one of its thread.
        repeats = not key[3] and any(other[:3] == key[:3] for other in story.runs_by_key)
        if not repeats and story.remembers(record.timestamp):
            yield Violation("I4", "an event was neither published nor refused", key)
        return
    first = next((reading for record, reading in story.asked[key] if record.place == opener), None)
    if first is not None and not first.same_questions(asked):
        yield Violation("I4", "another content for a run was ignored silently", key)
    if first is not None and asked.at is not None and asked.at == first.at:
        return  # the same status, told of again
    closed_at = _closed_at(story, key)
    if closed_at is not None and record.timestamp > closed_at + story.setup.clock_slack_ms:
        yield Violation("I4", "a closed run was asked again and nobody said so", key)


def _closed_at(story: Story, key: RunKey) -> int | None:
    """When the last item of a closed run ended; None while it is open, or was forgotten."""
    lives = story.runs_by_key[key]
    over = all(life.last.body.get("run_outcome") and not life.forgotten for life in lives)
    return max((life.last.at("closed_at") or 0 for life in lives), default=0) if over else None


def _shows(approval_id: str, first: Output, asked: Asked) -> bool:
    """Whether the approval is the question at its place, under the id that its names give."""
    body, total = first.body, len(asked.questions)
    index = text.integer(body.get("index"))
    if index is None or not 0 <= index < total or str(body.get("total")) != str(total):
        return False
    question, interrupt_id = asked.questions[index], str(body.get("interrupt_id"))
    wanted = ids.make_id("approval", *first.run_key, interrupt_id)
    return (
        question.id in {None, interrupt_id}
        and asked.run in {None, first.run_key[3]}
        and approval_id == body.get("approval_id") == wanted
        and _copied(question, body)
    )


def _copied(question: Question, body: dict[str, Any]) -> bool:
    """Members as they were written, but for what the bridge withholds as a credential."""
    metadata = body.get("metadata")
    inside = metadata if isinstance(metadata, dict) else {}
    pairs = [(body.get(name), wanted) for name, wanted in question.shown.items()]
    pairs += [(inside.get(name), wanted) for name, wanted in question.metadata.items()]
    return all(_WITHHELD in text.written(f) or text.written(f) == text.written(w) for f, w in pairs)


def _changed(life: Life, names: tuple[str, ...]) -> bool:
    kept = {
        text.written([revision.body.get(name) for name in names]) for revision in life.revisions
    }
    return len(kept) > 1


def _loses_flags(life: Life) -> bool:
    flags = [set(revision.body.get("flags") or []) for revision in life.revisions]
    return any(not earlier <= later for earlier, later in pairwise(flags))


def _follows(statuses: list[str]) -> bool:
    known = all(status in _NEXT for status in statuses)
    return known and all(later in _NEXT[earlier] for earlier, later in pairwise(statuses))
