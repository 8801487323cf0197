"""Ids: what they are, how they are told from one another, and that each is made once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.audit import ids as audited
from bridge.core.ids import RunKey, home_of_id, home_slot, id_bytes
from bridge.core.model import ThreadKey
from tests.unit.slot.desk import Bench, answer, event, sent

PLAIN = ThreadKey("support-agents", "", "thread-1")
JAPANESE = ThreadKey("a2a", "agent-1/tenant-9", "タスク-1")


@contextmanager
def making() -> Iterator[list[str]]:
    """The kinds of the ids that are computed meanwhile, in order."""
    made: list[str] = []

    def look(frame: FrameType, what: str, _: Any) -> None:
        if what == "call" and frame.f_code is RunKey.make.__code__:
            made.append(frame.f_locals["kind"])

    sys.setprofile(look)
    try:
        yield made
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize(
    ("thread", "run", "interrupt", "approval_id", "home"),
    [
        (PLAIN, "run-1", "int-1", "faf6703e-aba3-8201-b3a3-5057f251dd62", 2),
        (JAPANESE, "q1", "q1", "d689a6cf-7b9c-861c-94e7-5621b7818833", 5),
    ],
)
def test_ids_that_others_rely_on(
    thread: ThreadKey, run: str, interrupt: str, approval_id: str, home: int
) -> None:
    """They stand in the documentation, and in other people's topics."""
    assert RunKey.of(thread, run).approval_id(interrupt) == approval_id
    assert home_slot(thread.thread_id, 6) == home_of_id(approval_id, 6) == home


@given(st.tuples(*[st.text(max_size=9)] * 5))
def test_ids_are_what_anybody_else_computes(names: tuple[str, ...]) -> None:
    """As the checker does, which shares no code; of version 8, and home is in the first bytes."""
    source, scope, thread_id, run, interrupt = names
    key = RunKey.of(ThreadKey(source, scope, thread_id), run)
    made = (key.approval_id(interrupt), key.command_id, key.resume_run_id)
    assert made == (
        audited.make_id("approval", *names),
        audited.make_id("command", *names[:4]),
        audited.make_id("resume-run", *names[:4]),
    )
    for one in made:
        assert (UUID(one).version, UUID(one).bytes) == (8, id_bytes(one))
        assert home_of_id(one, 7) == home_slot(thread_id, 7)


def test_one_answer_computes_each_of_its_ids_once() -> None:
    """Question, command and the run that resumes: whoever wants one asks its key."""
    bench = Bench()
    bench.cycle(event("once"))
    with making() as made:
        out = bench.restored().cycle(answer("once"))
    assert len(sent(out, "resume-commands")) == 1
    assert made == ["resume-run"]


def test_a_question_and_its_answer_compute_three_ids() -> None:
    """From the event to the command; nobody has met this run before."""
    bench = Bench()
    with making() as made:
        bench.cycle(event("fresh"), answer("fresh"))
    assert sorted(made) == ["approval", "command", "resume-run"]


def test_ids_of_long_names_are_not_kept() -> None:
    """A cache must not keep a sender's megabytes; the ids are the same."""
    long = ThreadKey("agents", "", "x" * 5_000)
    assert RunKey.of(long, "run") is not RunKey.of(long, "run")
    assert RunKey.of(long, "run").command_id == RunKey.of(long, "run").command_id
    key = RunKey.of(PLAIN, "run-1")
    with making() as made:
        assert key.approval_id("y" * 5_000) == key.approval_id("y" * 5_000)
    assert made == ["approval", "approval"]
