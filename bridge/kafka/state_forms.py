"""Model values as the dictionaries that Avro writes, and back.

Field names are those of the state schemas. A member of a union that is itself a record is written
as (name, form): it spares the writer from trying the form against every branch.
"""

from __future__ import annotations

from typing import Any

from bridge.core.model import (
    AcceptedAnswer,
    Answer,
    Item,
    Origin,
    Parked,
    Question,
    Run,
    RunPolicy,
    ThreadKey,
)

Form = dict[str, Any]
Named = tuple[str, Form]

USUAL_POLICY = RunPolicy((), False, 604_800_000)
"""What an absent policy means; part of the format, so not the model's own default."""


def run_form(run: Run, peek: bytes, approval_ids: bytes) -> Form:
    """The Run schema's form."""
    thread, origin = run.thread, run.origin
    return {
        "peek": peek,
        "approval_ids": approval_ids,
        "source": thread.source,
        "scope": thread.scope,
        "thread_id": thread.thread_id,
        "run_id": run.run_id,
        "protocol": run.protocol,
        "digest": run.digest,
        "topic": origin.topic,
        "partition": origin.partition,
        "offset": origin.offset,
        "timestamp": origin.timestamp,
        "published_at": run.published_at,
        "items": [_item_form(item) for item in run.items],
        "extra": _extra(run),
        "end": _end(run),
    }


def run_of(form: Form) -> Run:
    """The run that a Run form holds."""
    extra, end = form["extra"] or _NO_EXTRA, form["end"] or _NO_END
    policy = extra["policy"]
    return Run(
        thread=ThreadKey(form["source"], form["scope"], form["thread_id"]),
        run_id=form["run_id"],
        protocol=form["protocol"],
        digest=form["digest"],
        at=form["timestamp"] if extra is _NO_EXTRA else extra["at"],
        generation=extra["generation"],
        origin=_origin_of(form),
        published_at=form["published_at"],
        items=tuple([_item_of(item) for item in form["items"]]),
        policy=USUAL_POLICY if policy is None else _policy_of(policy),
        native=extra["native"],
        outcome=end["outcome"],
        closed_at=end["closed_at"],
        confirmed=end["confirmed"],
    )


def parked_form(parked: tuple[Parked, ...], peek: bytes) -> Form:
    """The Parked schema's form; all are of one approval id."""
    return {
        "peek": peek,
        "approval_id": parked[0].approval_id,
        "answers": [_answer_form(early) for early in parked],
    }


def parked_of(form: Form) -> tuple[Parked, ...]:
    """The early answers that a Parked form holds."""
    approval_id = form["approval_id"]
    return tuple(
        Parked(approval_id, _answer_of(answer), answer["until"]) for answer in form["answers"]
    )


_NO_EXTRA: Form = {"generation": 0, "policy": None, "native": None}
_NO_END: Form = {"outcome": None, "closed_at": None, "confirmed": False}


def _extra(run: Run) -> Named | None:
    usual = run.policy is USUAL_POLICY or run.policy == USUAL_POLICY
    if usual and run.at == run.origin.timestamp and not run.generation and run.native is None:
        return None
    form = {
        "at": run.at,
        "generation": run.generation,
        "policy": None if usual else ("Policy", _policy_form(run.policy)),
        "native": run.native,
    }
    return "Extra", form


def _end(run: Run) -> Named | None:
    if run.outcome is None and run.closed_at is None and not run.confirmed:
        return None
    form = {"outcome": run.outcome, "closed_at": run.closed_at, "confirmed": run.confirmed}
    return "End", form


def _item_form(item: Item) -> Form:
    question = item.question
    return {
        "interrupt_id": question.interrupt_id,
        "reason": question.reason,
        "message": question.message,
        "tool_call_id": question.tool_call_id,
        "response_schema": question.response_schema,
        "expires_at": item.expires_at,
        "rare": _rare(question),
        "progress": _progress(item),
    }


_NOTHING_RARE: Form = {
    "kind": "input",
    "metadata": None,
    "expires_at_raw": None,
    "actions": (),
    "authorize_at": None,
    "flags": (),
    "native": None,
}

_NO_PROGRESS: Form = {
    "status": "pending",
    "revision": 1,
    "flags": (),
    "answer": None,
    "closed_at": None,
    "closed_reason": None,
}


def _item_of(form: Form) -> Item:
    rare, progress = form["rare"] or _NOTHING_RARE, form["progress"] or _NO_PROGRESS
    answer = progress["answer"]
    return Item(
        question=Question(
            interrupt_id=form["interrupt_id"],
            kind=rare["kind"],
            reason=form["reason"],
            message=form["message"],
            tool_call_id=form["tool_call_id"],
            response_schema=form["response_schema"],
            metadata=rare["metadata"],
            expires_at_raw=rare["expires_at_raw"],
            actions=tuple(rare["actions"]),
            authorize_at=rare["authorize_at"],
            flags=tuple(rare["flags"]),
            native=rare["native"],
        ),
        status=progress["status"],
        revision=progress["revision"],
        expires_at=form["expires_at"],
        flags=tuple(progress["flags"]),
        answer=None if answer is None else AcceptedAnswer(**answer),
        closed_at=progress["closed_at"],
        closed_reason=progress["closed_reason"],
    )


def _rare(question: Question) -> Named | None:
    form = {
        "kind": question.kind,
        "metadata": question.metadata,
        "expires_at_raw": question.expires_at_raw,
        "actions": question.actions,
        "authorize_at": question.authorize_at,
        "flags": question.flags,
        "native": question.native,
    }
    return None if form == _NOTHING_RARE else ("Rare", form)


def _progress(item: Item) -> Named | None:
    form: Form = {
        "status": item.status,
        "revision": item.revision,
        "flags": item.flags,
        "answer": item.answer,
        "closed_at": item.closed_at,
        "closed_reason": item.closed_reason,
    }
    if form == _NO_PROGRESS:
        return None
    if item.answer is not None:
        form["answer"] = ("AcceptedAnswer", _accepted_form(item.answer))
    return "Progress", form


def _accepted_form(answer: AcceptedAnswer) -> Form:
    return {
        "status": answer.status,
        "digest": answer.digest,
        "answer_id": answer.answer_id,
        "answered_at": answer.answered_at,
        "answered_by": answer.answered_by,
        "payload": answer.payload,
        "metadata": answer.metadata,
        "action": answer.action,
        "revised_input": answer.revised_input,
    }


def _policy_form(policy: RunPolicy) -> Form:
    return {
        "allowed_answerers": policy.allowed_answerers,
        "withdraw_on_failure": policy.withdraw_on_failure,
        "closed_retention": policy.closed_retention,
    }


def _policy_of(form: Form) -> RunPolicy:
    return RunPolicy(
        tuple(form["allowed_answerers"]), form["withdraw_on_failure"], form["closed_retention"]
    )


def _origin_of(form: Form) -> Origin:
    return Origin(form["topic"], form["partition"], form["offset"], form["timestamp"])


def _answer_form(early: Parked) -> Form:
    answer, thread, origin = early.answer, early.answer.thread, early.answer.origin
    named = None
    if thread is not None:
        named = (
            "Thread",
            {"source": thread.source, "scope": thread.scope, "thread_id": thread.thread_id},
        )
    return {
        "until": early.until,
        "topic": origin.topic,
        "partition": origin.partition,
        "offset": origin.offset,
        "timestamp": origin.timestamp,
        "status": answer.status,
        "approval_id": answer.approval_id,
        "thread": named,
        "run_id": answer.run_id,
        "interrupt_id": answer.interrupt_id,
        "payload": answer.payload,
        "metadata": answer.metadata,
        "answer_id": answer.answer_id,
        "answered_by": answer.answered_by,
        "answered_at": answer.answered_at,
        "comment": answer.comment,
        "action": answer.action,
        "revised_input": answer.revised_input,
    }


_ORIGIN_AND_TIME = frozenset({"until", "topic", "partition", "offset", "timestamp", "thread"})


def _answer_of(form: Form) -> Answer:
    thread = form["thread"]
    rest = {name: value for name, value in form.items() if name not in _ORIGIN_AND_TIME}
    return Answer(
        origin=_origin_of(form),
        thread=None if thread is None else ThreadKey(**thread),
        **rest,
    )
