"""I2, how runs end: nobody waits for ever, and a run that closes had a cause to.

Whether a cause had to close a run depends on an order that no log shows; that there is one does
not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from bridge.audit.asked import RunKey, ThreadKey
from bridge.audit.log import LogRecord, Violation, text_of
from bridge.audit.readings import Asked, Went
from bridge.audit.story import Life, Story

_DONE = frozenset({"answered", "cancelled", "expired"})
_WENT_ON = frozenset({"moved_on", "resumed_elsewhere", "task_ended", "run_failed"})
_EFFECTS = {"withdraw": frozenset({"withdrawn"}), "expire": frozenset({"resumed", "unresumable"})}


def nothing_stays_open_for_ever(story: Story) -> Iterator[Violation]:
    """I2: a covered run is closed, an overdue one expires, a thread waits for its newest run."""
    waiting: dict[tuple[str, ...], RunKey] = {}
    for key, lives in story.runs():
        if lives[0].last.body.get("run_outcome") is not None:
            continue
        if all(life.statuses[-1] in _DONE for life in lives):
            yield Violation("I2", "every interrupt is covered, yet the run is open", key)
        if not story.setup.final:
            continue
        due = [
            life.last.at("expires_at") or story.horizon
            for life in lives
            if life.statuses[-1] in {"pending", "answered"}
        ]
        if any(expires + story.setup.expiry_grace_ms < story.horizon for expires in due):
            yield Violation("I2", "an interrupt is past its expiry and still open", key)
        if key[:3] in waiting:
            yield Violation("I2", "two open runs on one thread", (*key, waiting[key[:3]][3]))
        waiting[key[:3]] = key


def closed_for_a_cause(story: Story) -> Iterator[Violation]:
    """I2: superseded needs a rival run, an operator's reason its operation, moved_on a new run."""
    operated = _operated(story)
    runs_of: dict[tuple[str, ...], set[str]] = {}
    for key in story.asked:
        runs_of.setdefault(key[:3], set()).add(key[3])
    gone: dict[ThreadKey, list[tuple[LogRecord, Went]]] = defaultdict(list)
    for record, source, reading in story.events:
        if isinstance(reading, Went):
            gone[source, reading.scope, reading.thread].append((record, reading))
    for key, lives in story.runs():
        outcome = lives[0].last.body.get("run_outcome")
        reasons = {str(life.last.body.get("closed_reason")) for life in lives}
        if outcome == "superseded" and len(runs_of.get(key[:3], ())) < 2:
            yield Violation("I2", "superseded by no other run", key)
        if outcome == "withdrawn" and "operator" in reasons and not operated & {key, key[2:]}:
            yield Violation("I2", "withdrawn by no operation", key)
        elsewhere = reasons & _WENT_ON
        if outcome == "withdrawn" and not elsewhere <= _causes(story, key, gone.get(key[:3], [])):
            yield Violation("I2", "moved on without an event that says so", key)
        if outcome == "unresumable" and not _is_given_up(lives):
            yield Violation("I2", "given up without a reason", key)
        if outcome == "unresumable" and not reasons & set(story.reasons_of(lives[0].last.origin)):
            yield Violation("I2", "given up, and no dead letter says so", key)


def _causes(story: Story, key: RunKey, gone: list[tuple[LogRecord, Went]]) -> set[str]:
    """Why the run may have closed: by any end, and by work that is newer than its question."""
    asked = story.asked.get(key, [])
    return {
        reason
        for record, went in gone
        if not went.works or not asked or any(_is_after(*one, record, went) for one in asked)
        for reason in went.reasons
    }


def a_run_that_moved_on_is_closed(story: Story) -> Iterator[Violation]:
    """I2: a thread that went on without us, surely after the run was asked, closed it."""
    went: dict[tuple[str, ThreadKey], list[tuple[LogRecord, Went]]] = defaultdict(list)
    for record, source, reading in story.events:
        if isinstance(reading, Went) and reading.surely and record.place not in story.letters_of:
            thread = (source, reading.scope, reading.thread)
            went[record.topic, thread].append((record, reading))
    for key, lives in story.runs():
        if lives[0].last.body.get("run_outcome") is not None:
            continue
        for opening, asked in story.asked.get(key, []):
            if opening.place == lives[0].last.origin and any(
                _closes(story, opening, asked, lives, *later)
                for later in went.get((opening.topic, key[:3]), [])
            ):
                yield Violation("I2", "open, though its thread went on without it", key)


def _closes(
    story: Story,
    opening: LogRecord,
    asked: Asked,
    lives: list[Life],
    record: LogRecord,
    went: Went,
) -> bool:
    """Whether a record beyond doubt is about that run and was read after it."""
    behind = record.place[:2] == opening.place[:2] and record.offset > opening.offset
    published = lives[0].revisions[0].at("published_at")
    afterwards = published is not None and record.timestamp > published + story.setup.clock_slack_ms
    ours = {str(life.last.body.get("interrupt_id")) for life in lives}
    covered = went.resumes is None or ours <= set(went.resumes)
    is_later = _is_after(opening, asked, record, went)
    if asked.generation or went.generation:  # sure only where both have one
        is_later = 0 < asked.generation < went.generation
    return covered and (behind or afterwards) and is_later and story.settled(record.place)


def _is_after(opening: LogRecord, asked: Asked, record: LogRecord, went: Went) -> bool:
    """By what there is; work at the question's very instant is not after it."""
    if 0 < asked.generation != went.generation > 0:
        return went.generation > asked.generation
    began = opening.timestamp if asked.at is None else asked.at
    went_at = record.timestamp if went.at is None else went.at
    return went_at > began if went.works else went_at >= began


def _is_given_up(lives: list[Life]) -> bool:
    """Whether the run cannot go on: an unanswered question has no refusal, or it is too large."""
    reasons = {str(life.last.body.get("closed_reason")) for life in lives}
    stuck = any(
        "no_refusal" in (life.last.body.get("flags") or []) and life.statuses[-1] != "answered"
        for life in lives
    )
    return reasons == {"command_too_large"} or (reasons == {"no_refusal_configured"} and stuck)


def operations_take_effect(story: Story) -> Iterator[Violation]:
    """I2: a run whose withdrawal or expiry was accepted is closed that way."""
    for place, given in story.given.items():
        verdicts = {str(v.body.get("verdict")) for v in story.verdicts_of.get(place, [])}
        life = story.latest(given.approval_id)
        if given.is_answer or "accepted" not in verdicts or life is None:
            continue
        wanted = _EFFECTS.get(str(given.body.get("op")), frozenset())
        if life.last.body.get("run_outcome") not in wanted:
            yield Violation("I2", "an accepted operation had no effect", (text_of(place),))


def _operated(story: Story) -> set[tuple[str, str] | RunKey]:
    """Runs that accepted operations were about: thread and run, or all four names."""
    found: set[tuple[str, str] | RunKey] = set()
    for verdict in story.verdicts:
        given = story.given.get(verdict.origin)
        if given is None or given.is_answer or verdict.body.get("verdict") != "accepted":
            continue
        life = story.latest(given.approval_id)
        found.add((str(given.body.get("thread_id")), str(given.body.get("run_id"))))
        if life is not None:
            found.add(life.last.run_key)
    return found
