"""How large state and command of a run will be, near enough to keep below a record's bound.

Counts free JSON and texts exactly and everything else by an allowance; never encodes.
"""

from __future__ import annotations

from collections.abc import Sequence

from bridge.core.model import AcceptedAnswer, Answer, Item, Question, Run

# Ids, instants, names and framing of one item, in state and in JSON with long member names.
_ITEM = 512
_RUN = 1_024


def answer_bytes(answer: Answer | AcceptedAnswer | None) -> int:
    """The free JSON of an answer."""
    if answer is None:
        return 0
    return (
        len(answer.payload or b"") + len(answer.metadata or b"") + len(answer.revised_input or b"")
    )


def state_bytes(run: Run) -> int:
    """The state record of an open run."""
    items = sum(_question_bytes(i.question) + answer_bytes(i.answer) for i in run.items)
    return _RUN + len(run.native or b"") + items + _ITEM * len(run.items)


def command_bytes(run: Run, answers: int, body: int) -> int:
    """A resume command: entries with `answers` bytes of free JSON, and a body of `body` bytes."""
    return _RUN + answers + body + _entries_bytes(run.items)


def answers_bytes(items: Sequence[Item]) -> int:
    """The free JSON of all accepted answers."""
    return sum(answer_bytes(item.answer) for item in items)


def body_estimate(run: Run, answers: int) -> int:
    """A body before it is built: it repeats the answers and what the protocol wants back."""
    native = sum(len(item.question.native or b"") for item in run.items)
    return len(run.native or b"") + native + answers + _entries_bytes(run.items)


def _entries_bytes(items: Sequence[Item]) -> int:
    return sum(_text(item.question.interrupt_id) for item in items) + _ITEM * len(items)


def _question_bytes(question: Question) -> int:
    return (
        _text(question.interrupt_id)
        + _text(question.message)
        + _text(question.reason)
        + _text(question.tool_call_id)
        + _text(question.expires_at_raw)
        + _text(question.authorize_at)
        + len(question.response_schema or b"")
        + len(question.metadata or b"")
        + len(question.native or b"")
    )


def _text(text: str | None) -> int:
    if text is None:
        return 0
    return len(text) if text.isascii() else len(text.encode())
