"""How large state and command of a run will be, near enough to keep below a record's bound.

Counts free JSON and texts exactly and everything else by an allowance; never encodes.
"""

from __future__ import annotations

from bridge.core.model import AcceptedAnswer, Answer, Question, Run

# Ids, instants, names and framing of one item, in state and in JSON with long member names.
_ITEM = 512
_RUN = 1_024


def answer_bytes(answer: Answer | AcceptedAnswer) -> int:
    """The free JSON of an answer."""
    size = 0
    for text in (answer.payload, answer.metadata, answer.revised_input):
        if text is not None:
            size += len(text)
    return size


def state_bytes(run: Run) -> int:
    """The state record of an open run."""
    size = _RUN + len(run.native or b"")
    for item in run.items:
        size += _ITEM + _question_bytes(item.question)
        if item.answer is not None:
            size += answer_bytes(item.answer)
    return size


def command_bytes(run: Run, body: int, added: int = 0) -> int:
    """A resume command with a body of so many bytes, and `added` bytes of one more answer."""
    size = _RUN + added + body
    for item in run.items:
        size += _ITEM + _utf8(item.question.interrupt_id)
        if item.answer is not None:
            size += answer_bytes(item.answer)
    return size


def body_estimate(run: Run, added: int) -> int:
    """A body before it is built: it repeats the entries and what the protocol wants back."""
    native = sum(len(item.question.native or b"") for item in run.items)
    return len(run.native or b"") + native + command_bytes(run, 0, added)


def _question_bytes(question: Question) -> int:
    size = _utf8(question.interrupt_id)
    for text in (
        question.message,
        question.reason,
        question.tool_call_id,
        question.expires_at_raw,
        question.authorize_at,
    ):
        if text is not None:
            size += _utf8(text)
    for slice_ in (question.response_schema, question.metadata, question.native):
        if slice_ is not None:
            size += len(slice_)
    return size


def _utf8(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
