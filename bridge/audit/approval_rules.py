"""I4 and the approval side of I10: every interrupt asked once, every revision in its place."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from bridge.audit import ids, text
from bridge.audit.asked import RunKey
from bridge.audit.log import LogRecord, Place, Violation, text_of
from bridge.audit.readings import Asked
from bridge.audit.story import Output, Story

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
        lives = story.runs_by_key.get(key, [])
        opener = lives[0].last.origin if lives else None
        # Of a run whose id is the bridge's to make nobody knows who else asks of it.
        alone = bool(key[3]) and len(events) < 2 and not story.lacks("input")
        for record, asked in events:
            place = text_of(record.place)
            if record.place == opener:
                published = {str(life.last.body.get("index")) for life in lives}
                for index in range(len(asked.questions)):
                    if str(index) not in published and story.remembers(record.timestamp):
                        yield Violation(
                            "I4", "an interrupt was never published", (*key, str(index))
                        )
                if not set(story.reasons_of(record.place)) <= _LAWFUL:
                    yield Violation("I4", "an event both published and refused", (place,))
            elif record.place in story.letters_of:
                yield from _lawfully_refused(story, record, alone=alone)
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
            bodies = [revision.body for revision in life.revisions]
            constant = {text.written([body.get(name) for name in _CONSTANT]) for body in bodies}
            flags = [set(body.get("flags") or []) for body in bodies]
            if len(constant) > 1 or not all(one <= more for one, more in pairwise(flags)):
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
            steps = pairwise([life.statuses[0], *life.statuses])
            if not all(later in _NEXT.get(earlier, ()) for earlier, later in steps):
                yield Violation("I10", "a status that cannot follow", (approval_id,))


def _lawfully_refused(story: Story, record: LogRecord, *, alone: bool) -> Iterator[Violation]:
    """`alone`: no other record asks of that run."""
    for reason in story.reasons_of(record.place):
        why = None
        if reason not in _LAWFUL:
            why = f"a valid event was refused as {reason!r}"
        elif reason == "no_timestamp" and _YEAR_2000 <= record.timestamp < _YEAR_2100:
            why = "no_timestamp for a stamped record"
        elif reason in {"run_conflict", "run_reused"} and alone:
            why = f"{reason} without another event of that run"
        if why is not None:
            yield Violation("I4", why, (text_of(record.place),))


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
        return  # the same status once more
    lives = story.runs_by_key[key]
    over = all(life.last.body.get("run_outcome") and not life.forgotten for life in lives)
    closed_at = max(life.last.at("closed_at") or 0 for life in lives)
    if over and record.timestamp > closed_at + story.setup.clock_slack_ms:
        yield Violation("I4", "a closed run was asked again and nobody said so", key)


def _shows(approval_id: str, first: Output, asked: Asked) -> bool:
    """Whether the approval is the question at its place, under the id that its names give.

    Members are as they were written, but for what the bridge withholds as a credential.
    """
    body, total = first.body, len(asked.questions)
    index = text.integer(body.get("index"))
    if index is None or not 0 <= index < total or str(body.get("total")) != str(total):
        return False
    question, interrupt_id = asked.questions[index], str(body.get("interrupt_id"))
    wanted = ids.make_id("approval", *first.run_key, interrupt_id)
    metadata = body.get("metadata")
    inside = metadata if isinstance(metadata, dict) else {}
    pairs = [(body.get(name), meant) for name, meant in question.shown.items()]
    pairs += [(inside.get(name), meant) for name, meant in question.metadata.items()]
    written = [(text.written(found), text.written(meant)) for found, meant in pairs]
    return (
        question.id in {None, interrupt_id}
        and asked.run in {None, first.run_key[3]}
        and approval_id == body.get("approval_id") == wanted
        and all(_WITHHELD in found or found == meant for found, meant in written)
    )
