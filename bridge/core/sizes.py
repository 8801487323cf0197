"""How large state and command of a run will be, near enough to stay below a record's bound.

Counts free JSON and texts exactly and everything else by an allowance; never encodes.
"""

from __future__ import annotations

from bridge.core.model import AcceptedAnswer, Answer, Carried, Limits, Question, Run

# Ids, instants, names of members and framing: of a run, of an item in state, of a command's entry
# and of the entry's twin in the native body.
_RUN = 1_024
_ITEM = 256
_ENTRY = 320
_BODY_ENTRY = 128


def most_state(run: Run, limits: Limits) -> int:
    """What the run may take in the state: as much as now, or as when it opened."""
    return max(limits.thread_state_bytes, run.policy.state_bytes)


def most_command(run: Run, limits: Limits) -> int:
    """What its command may take: as much as now, or as when it opened."""
    return max(limits.command_bytes, run.policy.command_bytes)


def longest_id(run: Run) -> int:
    """The longest of the ids that the run's records repeat."""
    ids = [run.thread.thread_id, run.thread.scope, run.run_id]
    ids += [item.question.interrupt_id for item in run.items]
    return max(map(_utf8, ids))


def answer_bytes(answer: Answer | AcceptedAnswer) -> int:
    """The free JSON of an answer and the names in it."""
    size = _utf8(answer.answered_by or "") + _utf8(answer.answer_id or "")
    for slice_ in (answer.payload, answer.metadata, answer.revised_input):
        if slice_ is not None:
            size += len(slice_)
    return size


def early_bytes(answer: Answer) -> int:
    """An answer that waits for its question keeps its comment and the ids it names."""
    names = [answer.comment, answer.run_id, answer.interrupt_id]
    if answer.thread is not None:
        names += [answer.thread.thread_id, answer.thread.scope, answer.thread.source]
    return answer_bytes(answer) + sum(_utf8(name) for name in names if name is not None)


def state_bytes(run: Run) -> int:
    """The state record of an open run."""
    size = _RUN + len(run.native or b"")
    for item in run.items:
        size += _ITEM + _question_bytes(item.question)
        if item.answer is not None:
            size += answer_bytes(item.answer)
    return size


def carried_bytes(carried: Carried) -> int:
    """A context, and the questions that its run told."""
    told = sum(_ITEM + _question_bytes(one.question) for one in carried.announced)
    return len(carried.body) + told


def command_bytes(run: Run, body: int, added: int = 0) -> int:
    """A resume command with a body of so many bytes, and `added` bytes of one more answer."""
    return _RUN + body + _entries_bytes(run, _ENTRY) + added


def body_estimate(run: Run, added: int) -> int:
    """A body before it is built: it repeats the entries and what the protocol wants back."""
    native = sum(len(item.question.native or b"") for item in run.items)
    return len(run.native or b"") + native + _entries_bytes(run, _BODY_ENTRY) + added


def _entries_bytes(run: Run, framing: int) -> int:
    size = 0
    for item in run.items:
        size += framing + _utf8(item.question.interrupt_id)
        if item.answer is not None:
            size += answer_bytes(item.answer)
    return size


def _question_bytes(question: Question) -> int:
    size = _utf8(question.interrupt_id)
    for text in (
        question.message,
        question.reason,
        question.tool_call_id,
        question.expires_at_raw,
        question.authorize_at,
        question.subagent_run_id,
    ):
        if text is not None:
            size += _utf8(text)
    for slice_ in (question.response_schema, question.metadata, question.native):
        if slice_ is not None:
            size += len(slice_)
    return size + sum(len(schema) for _, schema in question.action_schemas)


def _utf8(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
