"""A record of many questions, or one made to be slow, takes time in proportion to its size."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import process_time
from typing import Any

import pytest

from bridge.core import json_text
from bridge.core.json_text import JsonError
from bridge.core.model import Input, Interrupted, Keep, Limits, ResumeSeen, WentOn
from bridge.protocols.a2a import A2a
from bridge.protocols.a2a.credentials import text_without
from bridge.protocols.interface import Reading
from tests.unit.protocols import a2a_events as a2a
from tests.unit.protocols import agui_events as ag_ui
from tests.unit.protocols import genkit_turns as genkit

TIMES = 22  # eight times the size: 8 is linear, 64 quadratic, and this is midway between them


def took(work: Callable[[], Any]) -> float:
    """Seconds of processor time: what else the machine does is not in it."""
    start = process_time()
    work()
    return process_time() - start


def assert_linear(work: Callable[[Any], Any], make: Callable[[int], Any], size: int) -> None:
    """By the least of five times each, in turns: the one with the fewest interruptions."""
    small, large = make(size // 8), make(size)
    pairs = [(took(lambda: work(small)), took(lambda: work(large))) for _ in range(5)]
    least_small, least_large = (min(times) for times in zip(*pairs, strict=True))
    assert least_large < TIMES * least_small


def task(index: int, state: str = "INPUT_REQUIRED") -> dict[str, Any]:
    said = a2a.status(state, a2a.text(f"Which of {index}?"), message_id=f"q{index}")
    return {"id": f"t{index}", "status": said["statusUpdate"]["status"]}


def a2a_page(size: int) -> dict[str, Any]:
    """Every other task asks."""
    states = ("INPUT_REQUIRED", "WORKING")
    return {"tasks": [task(index, states[index % 2]) for index in range(size)]}


def a2a_items(size: int) -> dict[str, Any]:
    return a2a.status("INPUT_REQUIRED", a2a.strands(*(f"i{index}" for index in range(size))))


def ag_ui_run(size: int) -> dict[str, Any]:
    return ag_ui.interrupted(*({**ag_ui.ASK, "id": f"i{index}"} for index in range(size)))


def ag_ui_odd_run(size: int) -> dict[str, Any]:
    """With nulls, which take the long way."""
    asks = ({**ag_ui.ASK, "id": f"i{index}", "message": None} for index in range(size))
    return ag_ui.interrupted(*asks)


def genkit_turn(size: int) -> dict[str, Any]:
    return genkit.output(*(genkit.request(ref=f"c{index}") for index in range(size)))


RECORDS = [
    pytest.param(a2a.read, a2a_page, 1_000, id="a2a-page"),
    pytest.param(a2a.read, a2a_items, 1_000, id="a2a-items"),
    pytest.param(ag_ui.read, ag_ui_run, 1_000, id="ag-ui"),
    pytest.param(ag_ui.read, ag_ui_odd_run, 1_000, id="ag-ui-odd"),
    pytest.param(genkit.read, genkit_turn, 200, id="genkit"),
]


@pytest.mark.parametrize(("read", "make", "size"), RECORDS)
def test_eight_times_the_questions_take_about_eight_times_as_long(
    read: Callable[[Any], Reading], make: Callable[[int], Any], size: int
) -> None:
    """A reader that went through the whole record for each of them would take sixty-four."""
    assert_linear(read, make, size)


@pytest.mark.parametrize(("read", "make", "size"), RECORDS)
def test_a_record_of_many_asks_all_of_them(
    read: Callable[[Any], Reading], make: Callable[[int], Any], size: int
) -> None:
    """None is lost, and all of them are different."""
    reading = read(make(size))
    assert reading.refusal is None
    found = list(ids_of(reading.inputs))
    assert len(found) == len(set(found)) == (size // 2 if make is a2a_page else size)


def ids_of(inputs: Iterable[Input]) -> Iterable[str]:
    for found in inputs:
        if isinstance(found, Interrupted):
            yield from (question.interrupt_id for question in found.questions)


def test_a_page_reads_as_its_tasks_do_one_by_one() -> None:
    """That the page is read strictly once changes nothing of what its tasks say."""
    page = a2a_page(100)
    single = [found for one in page["tasks"] for found in a2a.read({"task": one}).inputs]
    assert list(a2a.read(page).inputs) == single
    assert sum(isinstance(found, ResumeSeen | WentOn) for found in single) == 100


# --- Bounds --------------------------------------------------------------------------------------


def refused(event: Any, limits: Limits) -> str | None:
    refusal = a2a.read(event, limits=limits).refusal
    return None if refusal is None else refusal.reason


def test_tasks_of_a_page_are_held_to_the_limit_of_a_run() -> None:
    """Whatever they ask or not: each becomes inputs."""
    assert refused(a2a_page(4), Limits(interrupts_per_run=3)) == "limit"
    assert refused(a2a_page(4), Limits(interrupts_per_run=4)) is None


def test_questions_of_a_page_are_held_to_it_together() -> None:
    """Each task of this page alone would pass."""
    said = a2a_items(2)["statusUpdate"]["status"]
    page = {"tasks": [{"id": "a", "status": said}, {"id": "b", "status": said}]}
    assert refused(page, Limits(interrupts_per_run=3)) == "limit"
    assert refused(page, Limits(interrupts_per_run=4)) is None


def test_what_items_share_is_not_multiplied_without_end() -> None:
    """It stands in each question: a thousand items and half a record would fill the memory."""
    event = a2a.status("INPUT_REQUIRED", a2a.strands("a", "b", "c"), metadata={"note": "n" * 1_000})
    assert refused(event, Limits(thread_state_bytes=2_500)) == "limit"
    assert refused(event, Limits(thread_state_bytes=4_000)) is None


def test_kept_items_are_held_to_the_limit_of_a_run() -> None:
    """They become questions with a later record."""
    artifact = a2a.interrupt_artifact("a", "b", "c")
    assert refused(artifact, Limits(interrupts_per_run=2)) == "limit"
    assert refused(artifact, Limits(interrupts_per_run=3)) is None


@pytest.mark.parametrize("state", ["WORKING", "INPUT_REQUIRED"])
def test_a_generation_of_too_many_digits_is_none(state: str) -> None:
    """A reader never raises, and int() does from some thousand digits on."""
    event = a2a.status(state, a2a.text(), generation="9" * 5_000)
    assert [found.order.generation for found in a2a.read(event).inputs if hasattr(found, "order")]
    assert a2a.read(event).refusal is None


def test_kept_items_that_contradict_each_other_are_none() -> None:
    """They are met where nothing can be refused any more: the status asks by itself."""
    artifact = a2a.interrupt_artifact("x", "x")
    artifact["artifact"]["parts"][1]["data"]["value"] = "another"
    (carry,) = a2a.read(artifact).inputs
    assert isinstance(carry, Keep)
    event = a2a.only_asked(a2a.read(a2a.hybrid()))
    assert A2a().complete(event, None, carry.body) == event


def test_ids_of_genkit_parts_are_digests_of_all_they_are_made_of() -> None:
    """Open approvals bear them: hashing the shared part once must not change one."""
    (first, second) = genkit.questions(genkit.read(genkit_turn(2)))
    assert first.interrupt_id == json_text.digest(["", "s-1", "p-1", 0, "pay", "c0"]).hex()
    assert second.interrupt_id == json_text.digest(["", "s-1", "p-1", 1, "pay", "c1"]).hex()


# --- Texts made to be slow -----------------------------------------------------------------------


@pytest.mark.parametrize("piece", ["eyJ", "pin:", "bearer ", "-----BEGIN ", "://", "pin ", "sk-"])
def test_a_text_that_nearly_looks_like_credentials_is_given_up_soon(piece: str) -> None:
    """Words of agents come here whole."""
    assert_linear(text_without, lambda size: piece * size, 8_000)


def test_quotes_that_never_close_are_gone_through_once() -> None:
    """Brackets enough to have the depth looked at, and then every quote escaped."""

    def read(text: bytes) -> None:
        with pytest.raises(JsonError):
            json_text.read(text)

    assert_linear(read, lambda size: b"[]" * 70 + b'"' + b'\\"' * size, 40_000)
