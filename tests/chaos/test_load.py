"""The tools of the fault tests, tried by themselves: load and faults are what they say they are."""

from __future__ import annotations

import itertools
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from bridge.audit.answers import read_given
from bridge.audit.log import LogRecord
from bridge.audit.schemas import fits
from bridge.config.load import load
from bridge.core.decide import decide
from bridge.core.model import Interrupted, Keep, Limits, Origin, Run, Thread, ThreadKey
from bridge.protocols import PROTOCOLS
from bridge.protocols.interface import AgentProtocol, Reading, Record
from tests.chaos import faults, plan
from tests.chaos.agents import AGENTS
from tests.chaos.agents.ag_ui_shapes import SHAPES, Shape
from tests.chaos.agents.junk import bad_answer
from tests.chaos.plan import Cycle
from tests.chaos.script import play_of
from tests.chaos.workers import Worker, WorkerError, write_config
from tests.unit.core.builders import rules

ASKED_AT = 1_790_000_000_000
STAND_IN = """
import http.server, json, sys
class Ready(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"up 1")
    def log_message(self, *_): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Ready)
print(json.dumps({"url": f"http://127.0.0.1:{server.server_port}/metrics"}), flush=True)
server.serve_forever()
"""


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_answers_of_a_shape_are_what_they_are_called(shape: Shape) -> None:
    """Valid ones fit the schema and differ, the invalid one does not fit."""
    interrupt = shape(random.Random(1), "thread-1", "run-1", 0)
    approval = {"response_schema": interrupt.body.get("responseSchema")}
    assert interrupt.valid[0] != interrupt.valid[1]
    for valid in interrupt.valid:
        assert fits(approval, {"payload": json.loads(valid)}) in {True, None}
    if interrupt.invalid is not None:
        assert fits(approval, {"payload": json.loads(interrupt.invalid)}) is False


@pytest.mark.parametrize("name", AGENTS)
def test_every_planned_run_asks_its_questions(name: str) -> None:
    """The load can name a question before anybody has published it."""
    protocol = protocol_of(name)
    for cycle in plan.cycles(7, 150, (name,)):
        play = play_of(cycle, ASKED_AT)
        asked = asked_by(protocol, cycle, play.asking)
        assert asked.thread == ThreadKey(name, cycle.source.scope, cycle.thread)
        assert asked.run_id == play.run
        assert asked_ids(asked) == [question.interrupt_id for question in play.questions]


@pytest.mark.parametrize("name", AGENTS)
def test_a_repeat_is_the_same_question_and_a_conflict_is_not(name: str) -> None:
    """Also where the repeat is written in another shape or dialect."""
    protocol = protocol_of(name)
    for cycle in plan.cycles(8, 150, (name,)):
        play = play_of(cycle, ASKED_AT)
        before, last = play.asking[:-1], play.asking[-1]
        asked, again = (asked_by(protocol, cycle, (*before, r)) for r in (last, play.repeat))
        assert (asked.run_id, asked.digest) == (again.run_id, again.digest)
        if play.conflict is not None:
            other = asked_by(protocol, cycle, (play.conflict,))
            assert asked.run_id == other.run_id
            assert asked.digest != other.digest


@pytest.mark.parametrize("name", AGENTS)
def test_bad_records_are_bad(name: str) -> None:
    """None of them becomes an input; and what is only noise is refused by nobody."""
    protocol, chance = protocol_of(name), random.Random(3)
    for _ in range(200):
        reading = read_by(protocol, name, AGENTS[name].bad(chance, "thread-1"))
        assert (reading.inputs, reading.refusal is None) == ((), False)
    for cycle in plan.cycles(9, 50, (name,)):
        for noise in play_of(cycle, ASKED_AT).noise:
            assert read_by(protocol, name, noise).refusal is None


def test_bad_answers_are_bad() -> None:
    """None of them reads as an answer."""
    chance = random.Random(3)
    for _ in range(200):
        record = LogRecord("answers", "answers", 0, 0, 0, None, bad_answer(chance))
        given = read_given(record, 64, 1_000_000)
        assert given is None or given.sound is not True, record.value


@pytest.mark.parametrize("name", AGENTS)
def test_every_run_that_is_asked_comes_to_an_end(name: str) -> None:
    """It is answered, or its deadline or somebody else ends it: no load waits for ever."""
    for cycle in plan.cycles(10, 300, (name,)):
        if cycle.turn == plan.NO_TURN:
            for reply, waits in zip(cycle.replies, cycle.ask.waits, strict=True):
                answers = cycle.ask.is_answerable and reply.manner != "never"
                assert answers or not waits or reply.manner == "cancelled", cycle


def test_plans_come_from_their_seed() -> None:
    """A printed seed is enough to have the same load and the same faults again."""
    assert list(plan.cycles(5, 50)) == list(plan.cycles(5, 50))
    assert list(plan.cycles(5, 50)) != list(plan.cycles(6, 50))
    assert faults.plan(5, 60, 2) == faults.plan(5, 60, 2)
    for name in AGENTS:
        drawn = list(plan.cycles(5, 800, (name,)))
        assert {c.follows for c in drawn} == {"nothing", "a closed run", "an open run"}
        assert {c.turn for c in drawn} == {"none", *plan.OPERATIONS, *AGENTS[name].turns}


def test_faults_keep_their_distance() -> None:
    """No fault starts before the last one is over, none lasts beyond the run."""
    planned = faults.plan(11, 120, workers=3)
    assert len(planned) > 5
    for earlier, later in itertools.pairwise(planned):
        assert later.at > earlier.at + earlier.lasts
    assert planned[-1].at + planned[-1].lasts <= 120


def test_recovery_is_the_first_progress_after_the_fault() -> None:
    """A fault that another one follows at once is not judged, nor one after the last progress."""
    fault = faults.Fault(0.0, "kill worker", 0, 1.0)
    done = [faults.Done(fault, began, began + 1) for began in (10.0, 12.0, 50.0, 90.0)]
    found = faults.recoveries(done, [9.0, 20.0, 53.5, 60.0], bound=10.0)
    assert [(r.ended, r.first_progress) for r in found] == [(13.0, 20.0), (51.0, 53.5)]


def test_settings_are_those_that_a_worker_reads(tmp_path: Path) -> None:
    """The written file is valid, with all its names where they belong."""
    names = {"answers": "t.answers", "resume-commands": "t.commands", "state": "t.state"}
    path = write_config(
        tmp_path / "bridge.toml",
        "127.0.0.1:9092",
        names,
        {"support": "t.events"},
        partitions=4,
        app_id="chaos",
        sections={"worker": {"takeover_grace": "2s"}},
    )
    config = load(path, {})
    assert config.topics.names()["resume-commands"] == "t.commands"
    assert (config.topics.partitions, config.app_id) == (4, "chaos")
    assert config.worker.takeover_grace == 2_000
    assert config.sources[0].topic_names == ("t.events",)


async def test_a_worker_is_started_paused_killed_and_stopped(tmp_path: Path) -> None:
    """By its process id, several times, with each exit noted; a stand-in serves for the worker."""
    script = tmp_path / "stand_in.py"
    script.write_text(STAND_IN)
    worker = Worker("w", tmp_path / "c", tmp_path, command=(sys.executable, str(script)))
    worker.start()
    first = await worker.ready(20)
    assert await worker.metrics() == "up 1"
    worker.pause()
    worker.cont()
    worker.kill()
    worker.kill()
    worker.start()
    assert await worker.ready(20) != first
    assert await worker.stop(10) == -15
    assert (worker.lives, worker.exit_codes, worker.alive) == (2, [-9, -15], False)


async def test_a_worker_that_ends_is_told_with_its_log(tmp_path: Path) -> None:
    """Nobody waits a minute for a worker that refused to start."""
    worker = Worker("w", tmp_path, tmp_path, command=(sys.executable, "-c", "exit('no topics')"))
    worker.start()
    with pytest.raises(WorkerError, match="no topics"):
        await worker.ready(20)


def protocol_of(name: str) -> AgentProtocol:
    """The bridge's reader of that source: what the load relies on when it names questions."""
    source = AGENTS[name].source
    return PROTOCOLS[source.protocol].configured(source.options)


def read_by(
    protocol: AgentProtocol, name: str, value: bytes | None, thread: str = "thread-1"
) -> Reading:
    origin = Origin("events", 0, 0, ASKED_AT)
    return protocol.read(Record(value, thread.encode(), (), origin), name, Limits())


def asked_by(protocol: AgentProtocol, cycle: Cycle, values: Sequence[bytes]) -> Interrupted | Run:
    """The run that these records ask, with what an earlier one of them kept for the last.

    One that they told on its way is asked by its end, which only the rules know.
    """
    carry, thread = None, Thread()
    for value in values:
        reading = read_by(protocol, cycle.source.name, value, cycle.thread)
        for given in reading.inputs:
            thread = decide(thread, given, ASKED_AT, rules()).thread
            if isinstance(given, Keep):
                carry = given.body
    found = [given for given in reading.inputs if isinstance(given, Interrupted)]
    if found:
        assert len(found) == 1, values[-1]
        return protocol.complete(found[0], None, carry)
    (run,) = thread.runs
    return run


def asked_ids(asked: Interrupted | Run) -> list[str]:
    if isinstance(asked, Run):
        return [item.question.interrupt_id for item in asked.items]
    return [question.interrupt_id for question in asked.questions]
