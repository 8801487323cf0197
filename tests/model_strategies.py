"""Hypothesis strategies for the model's values: anything a record or a state value must hold."""

from __future__ import annotations

import json
from typing import Any, get_args
from uuid import UUID

from hypothesis import strategies as st

from bridge.core import model
from bridge.core.model import (
    AcceptedAnswer,
    Answer,
    Entry,
    Item,
    Judged,
    Native,
    Origin,
    Parked,
    Problem,
    Question,
    Resume,
    Run,
    RunPolicy,
    ThreadKey,
)

INT64 = st.integers(-(2**63), 2**63 - 1)
DATED = st.integers(-62_135_596_800_000, 253_402_300_799_999)

texts = st.text(max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
json_texts = json_values.map(lambda value: json.dumps(value, ensure_ascii=False).encode())
uuids = st.binary(min_size=16, max_size=16).map(lambda raw: str(UUID(bytes=raw)))


def optional(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The strategy or None."""
    return st.none() | strategy


def one_of(literal: Any) -> st.SearchStrategy[Any]:
    """One of the words of a Literal type."""
    return st.sampled_from(get_args(literal))


def words(most: int = 2) -> st.SearchStrategy[tuple[str, ...]]:
    """A few different texts."""
    return st.lists(texts, max_size=most, unique=True).map(tuple)


threads = st.builds(ThreadKey, texts, texts, texts)


def origins(instants: st.SearchStrategy[int]) -> st.SearchStrategy[Origin]:
    return st.builds(
        Origin,
        topic=st.from_regex(r"[a-zA-Z0-9._-]{1,20}", fullmatch=True),
        partition=st.integers(0, 2**31 - 1),
        offset=st.integers(0, 2**63 - 1),
        timestamp=instants,
    )


questions = st.builds(
    Question,
    interrupt_id=texts,
    kind=one_of(model.Kind),
    reason=optional(texts),
    message=optional(texts),
    tool_call_id=optional(texts),
    response_schema=optional(json_texts),
    metadata=optional(json_texts),
    expires_at_raw=optional(texts),
    actions=words(),
    authorize_at=optional(texts),
    flags=words(),
    native=optional(json_texts),
    subagent_run_id=optional(texts),
)


def accepted(instants: st.SearchStrategy[int]) -> st.SearchStrategy[AcceptedAnswer]:
    return st.builds(
        AcceptedAnswer,
        status=one_of(model.AnswerStatus),
        digest=st.binary(max_size=16),
        answer_id=texts,
        answered_at=instants,
        answered_by=optional(texts),
        payload=optional(json_texts),
        metadata=optional(json_texts),
        action=optional(st.sampled_from(["restart", "respond"])),
        revised_input=optional(json_texts),
    )


def items(instants: st.SearchStrategy[int]) -> st.SearchStrategy[Item]:
    """Items of any shape, half of them as they are first published."""
    fresh = st.builds(Item, questions, expires_at=optional(instants))
    grown = st.builds(
        Item,
        question=questions,
        status=one_of(model.Status),
        revision=st.integers(1, 2**31 - 1),
        expires_at=optional(instants),
        flags=words(),
        answer=optional(accepted(instants)),
        closed_at=optional(instants),
        closed_reason=optional(one_of(model.ClosedReason)),
    )
    return fresh | grown


policies = st.just(RunPolicy()) | st.builds(RunPolicy, words(), st.booleans(), INT64)


def runs(instants: st.SearchStrategy[int]) -> st.SearchStrategy[Run]:
    return st.builds(
        Run,
        thread=threads,
        run_id=texts,
        protocol=st.sampled_from(["ag-ui", "a2a", "genkit"]),
        digest=st.binary(max_size=16),
        at=instants,
        generation=st.integers(0, 3),
        origin=origins(instants),
        published_at=instants,
        items=st.lists(items(instants), min_size=1, max_size=3).map(tuple),
        policy=policies,
        native=optional(json_texts),
        outcome=optional(one_of(model.RunOutcome)),
        closed_at=optional(instants),
        confirmed=st.booleans(),
    )


def answers(instants: st.SearchStrategy[int]) -> st.SearchStrategy[Answer]:
    return st.builds(
        Answer,
        origin=origins(instants),
        status=one_of(model.AnswerStatus),
        approval_id=optional(uuids),
        thread=optional(threads),
        run_id=optional(texts),
        interrupt_id=optional(texts),
        payload=optional(json_texts),
        metadata=optional(json_texts),
        answer_id=optional(texts),
        answered_by=optional(texts),
        answered_at=optional(instants),
        comment=optional(texts),
        action=optional(st.sampled_from(["restart", "respond"])),
        revised_input=optional(json_texts),
    )


def parked(instants: st.SearchStrategy[int]) -> st.SearchStrategy[tuple[Parked, ...]]:
    """Early answers under one approval id."""

    def under(approval_id: str) -> st.SearchStrategy[tuple[Parked, ...]]:
        one = st.builds(Parked, st.just(approval_id), answers(instants), instants)
        return st.lists(one, min_size=1, max_size=3).map(tuple)

    return uuids.flatmap(under)


def judged(instants: st.SearchStrategy[int]) -> st.SearchStrategy[Judged]:
    return st.builds(
        Judged,
        verdict=one_of(model.Verdict),
        origin=origins(instants),
        answer_id=texts,
        decided_at=instants,
        approval_id=optional(uuids),
        thread=optional(threads),
        run_id=optional(texts),
        interrupt_id=optional(texts),
        problems=st.lists(st.builds(Problem, texts, texts), max_size=2).map(tuple),
        open=optional(st.integers(0, 1000)),
    )


natives = st.builds(
    Native,
    method=texts,
    body=json_texts,
    endpoint=optional(texts),
    headers=st.dictionaries(texts, texts, max_size=2),
    notes=words(),
)


def entries(instants: st.SearchStrategy[int]) -> st.SearchStrategy[Entry]:
    return st.builds(
        Entry,
        question=questions,
        approval_id=uuids,
        status=one_of(model.AnswerStatus),
        closed_reason=one_of(model.ClosedReason),
        payload=optional(json_texts),
        metadata=optional(json_texts),
        answered_by=optional(texts),
        answered_at=optional(instants),
    )


def resumes(instants: st.SearchStrategy[int]) -> st.SearchStrategy[Resume]:
    return st.builds(
        Resume,
        run=runs(instants),
        entries=st.lists(entries(instants), min_size=1, max_size=3).map(tuple),
        native=natives,
        completed_by=st.sampled_from(["answers", "expiry", "mixed"]),
        issued_at=instants,
        deliver_by=optional(instants),
    )
