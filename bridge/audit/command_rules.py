"""I1 to I3, and the command side of I10: one command per resumed run, made of its answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bridge.audit import ids, native, text
from bridge.audit.answers import Given
from bridge.audit.asked import RunKey
from bridge.audit.log import Violation
from bridge.audit.schemas import fits
from bridge.audit.story import Life, Output, Story

_UNANSWERED = frozenset({"expired", "lapsed"})
_DONE = frozenset({"answered", "cancelled", "expired"})


def one_command_per_run(story: Story) -> Iterator[Violation]:
    """I1: a read_committed reader sees at most one, under the id that the run gives it."""
    for key, commands in story.commands_of.items():
        if len(commands) > 1:
            yield Violation("I1", f"{len(commands)} resume commands for one run", key)
        for command in commands:
            wanted = (ids.make_id("command", *key), ids.make_id("resume-run", *key))
            if (command.body.get("command_id"), command.body.get("resume_run_id")) != wanted:
                yield Violation("I1", "a command under other ids than its run's", key)


def command_iff_resumed(story: Story) -> Iterator[Violation]:
    """I2: resumed runs have their command, no other run has, all siblings agree."""
    for key, lives in story.runs():
        outcome = lives[0].last.body.get("run_outcome")
        ends = {
            (one.last.body.get("run_outcome"), one.last.body.get("command_id")) for one in lives
        }
        if len(ends) > 1:
            yield Violation("I2", "approvals of one run show different outcomes", key)
        if any(life.forgotten and life.last.body.get("run_outcome") is None for life in lives):
            yield Violation("I2", "a run was forgotten while open", key)
        commands = story.commands_of.get(key, [])
        if outcome == "resumed" and not commands:
            yield Violation("I2", "a resumed run without a command", key)
        if outcome != "resumed" and commands:
            yield Violation("I2", f"a command for a run that is {outcome or 'open'}", key)
        if outcome is not None:
            yield from _closed_with_reason(key, lives, commands)
    for key, commands in story.commands_of.items():
        newest = max(command.record.timestamp for command in commands)
        if key not in story.runs_by_key and story.remembers(newest):
            yield Violation("I2", "a command for a run that was never published", key)


def entries_come_from_answers(story: Story) -> Iterator[Violation]:
    """I3: one entry per interrupt in order, each with the accepted answer to that interrupt."""
    for key, lives in story.runs():
        if story.setup.compacted and any(life.forgotten for life in lives):
            continue
        for command in story.commands_of.get(key, []):
            listed = command.body.get("entries")
            entries = [e for e in listed if isinstance(e, dict)] if isinstance(listed, list) else []
            asked = [life.last.body.get("interrupt_id") for life in lives]
            if [entry.get("interrupt_id") for entry in entries] != asked:
                yield Violation("I3", "entries are not the run's interrupts in order", key)
                continue
            for entry, life in zip(entries, lives, strict=True):
                yield from _entry(story, key, entry, life)
            for fault in native.faults(story, key, command, entries, lives):
                yield Violation("I3", fault, key)
            yield from _frame(key, command, entries, lives)


def answers_and_expiry_do_not_mix(story: Story) -> Iterator[Violation]:
    """I10: a command says truly whether answers or expiry completed it."""
    for key, lives in story.runs():
        if story.setup.compacted and any(life.forgotten for life in lives):
            continue
        for command in story.commands_of.get(key, []):
            expired = sum(life.statuses[-1] == "expired" for life in lives)
            kinds = {0: "answers", len(lives): "expiry"}
            if command.body.get("completed_by") != kinds.get(expired, "mixed"):
                yield Violation("I10", "a command claims another cause than its approvals", key)


def _closed_with_reason(
    key: RunKey, lives: Sequence[Life], commands: Sequence[Output]
) -> Iterator[Violation]:
    bodies = [life.last.body for life in lives]
    if not all(body.get("closed_reason") and body.get("closed_at") for body in bodies):
        yield Violation("I2", "a closed run does not say when and why", key)
    if (
        bodies[0].get("run_outcome") == "resumed"
        and not {str(b["status"]) for b in bodies} <= _DONE
    ):
        yield Violation("I2", "a run was resumed with an uncovered interrupt", key)
    if any(
        body.get("command_id") != command.body.get("command_id")
        for body in bodies
        for command in commands
    ):
        yield Violation("I2", "approvals name another command than was issued", key)


def _entry(story: Story, key: RunKey, entry: dict[str, Any], life: Life) -> Iterator[Violation]:
    approval = life.last.body
    approval_id = str(approval.get("approval_id"))
    if entry.get("approval_id") != approval_id:
        yield Violation("I3", "an entry names another approval", (*key, approval_id))
    if entry.get("closed_reason") != approval.get("closed_reason"):
        yield Violation("I3", "an entry closed for another reason", (approval_id,))
    accepted = story.accepted(approval_id)
    if entry.get("closed_reason") in _UNANSWERED or life.statuses[-1] == "expired":
        if entry.get("status") != "cancelled" or entry.get("payload") is not None:
            yield Violation("I3", "an expired interrupt was sent as answered", (approval_id,))
        if life.statuses[-1] != "expired":
            yield Violation("I10", "abandoned in the command, not in approvals", (approval_id,))
    elif not accepted:
        yield Violation("I3", "an entry without an accepted answer", (approval_id,))
    else:
        yield from _as_given(entry, approval, accepted[0])


def _as_given(
    entry: dict[str, Any], approval: dict[str, Any], answer: Given
) -> Iterator[Violation]:
    """The entry is that answer, unchanged, and the answer is fit for the question."""
    approval_id = str(approval.get("approval_id"))
    if answer.approval_id != approval_id:
        yield Violation("I3", "an entry from an answer to another question", (approval_id,))
    status = "cancelled" if entry.get("closed_reason") == "sibling_abandoned" else answer.status
    if entry.get("status") != status:
        yield Violation("I3", "an entry with another status than its answer", (approval_id,))
    if status == "cancelled":
        if entry.get("payload") is not None:
            yield Violation("I3", "a cancelled entry carries a payload", (approval_id,))
        return
    payload = answer.body.get("payload")
    if text.written(entry.get("payload")) != text.written(payload):
        yield Violation("I3", "a payload is not the one given", (approval_id,))
    if text.written(entry.get("metadata")) != text.written(answer.body.get("metadata")):
        yield Violation("I3", "metadata are not those given", (approval_id,))
    if fits(approval, answer.body) is False:
        yield Violation("I3", "a payload breaks the interrupt's schema", (approval_id,))


def _frame(
    key: RunKey, command: Output, entries: Sequence[dict[str, Any]], lives: Sequence[Life]
) -> Iterator[Violation]:
    """Whence the command comes, and until when it may be delivered."""
    first = lives[0].last
    if command.origin != first.origin or command.body.get("protocol") != first.body.get("protocol"):
        yield Violation("I3", "a command of another event", key)
    deadlines = [
        life.last.at("expires_at")
        for entry, life in zip(entries, lives, strict=True)
        if entry.get("status") == "resolved"
    ]
    earliest = min((one for one in deadlines if one is not None), default=None)
    if command.at("deliver_by") != earliest or command.at("issued_at") is None:
        yield Violation("I3", "a command with wrong times", key)
