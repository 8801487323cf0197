"""The tools of the fault tests, tried by themselves: load and faults are what they say they are."""

from __future__ import annotations

import itertools
import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from bridge.config.load import load
from bridge.demo.check.answers import read_given
from bridge.demo.check.events import Asked, Bad, read_event
from bridge.demo.check.log import LogRecord
from bridge.demo.check.schemas import fits
from tests.chaos import faults, plan
from tests.chaos.shapes import SHAPES, bad_answer, bad_record, finished, in_future
from tests.chaos.workers import Worker, WorkerError, write_config

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
def test_answers_of_a_shape_are_what_they_are_called(shape: Any) -> None:
    """Valid ones fit the schema and differ, the invalid one does not fit."""
    question = shape(random.Random(1), "thread-1", "run-1", 0)
    approval = {"response_schema": question.interrupt.get("responseSchema")}
    assert question.valid[0] != question.valid[1]
    for valid in question.valid:
        assert fits(approval, json.loads(valid)) in {True, None}
    if question.invalid is not None:
        assert fits(approval, json.loads(question.invalid)) is False


def test_every_planned_event_asks_its_questions() -> None:
    """All cycles of a seed are events that a naive reader takes for what they are meant to be."""
    for cycle in plan.cycles(7, 200):
        expires = [in_future(2.0) if r.expires_in else None for r in cycle.replies]
        value = finished(cycle.thread, cycle.run, cycle.questions, expires)
        reading = read_event(value, 64, 1_000_000)
        assert isinstance(reading, Asked)
        assert len(reading.interrupts) == len(cycle.questions)


def test_bad_records_are_bad() -> None:
    """None of them reads as an event, none of the bad answers as an answer."""
    chance = random.Random(3)
    for _ in range(200):
        value = bad_record(chance, "thread-1").value
        assert isinstance(read_event(value, 64, 1_000_000), Bad), value
        record = LogRecord("answers", "answers", 0, 0, 0, None, bad_answer(chance))
        assert read_given(record, 64, 1_000_000).sound is not True, record.value


def test_plans_come_from_their_seed() -> None:
    """A printed seed is enough to have the same load and the same faults again."""
    assert list(plan.cycles(5, 50)) == list(plan.cycles(5, 50))
    assert list(plan.cycles(5, 50)) != list(plan.cycles(6, 50))
    assert faults.plan(5, 60, 2) == faults.plan(5, 60, 2)
    assert {follows for follows in (c.follows for c in plan.cycles(5, 200))} == {
        "nothing",
        "a closed run",
        "an open run",
    }


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
    assert config.topics.name("resume-commands") == "t.commands"
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
