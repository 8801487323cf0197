"""The commands against a real broker, with records on the topics as any team would see them."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiokafka.admin import NewTopic

from bridge.cli.main import main
from bridge.core.ids import RunKey, home_slot
from bridge.core.model import (
    Answer,
    Limits,
    Operation,
    ThreadKey,
)
from bridge.core.record import Record
from bridge.kafka.post import post
from bridge.kafka.reader import reading, snapshot
from bridge.records.answers import read_answer
from bridge.records.operations import read_operation
from tests.topics import create_topics

THREAD = "thread-1"
SOURCE = "support-agents"
APPROVAL_ID = RunKey.of(ThreadKey(SOURCE, "", THREAD), "run-1").approval_id("int-1")
PARTITIONS = 3
AT = "2026-01-01T11:00:00.000Z"


class Cluster:
    """The bridge's topics under a name of this test's own, and settings that name them."""

    def __init__(self, bootstrap: str, prefix: str, folder: Path) -> None:
        self.client = {"bootstrap_servers": bootstrap}
        self.prefix = prefix
        self.events = prefix + "events"
        self.settings = folder / "bridge.toml"
        self.settings.write_text(
            f'[kafka]\nbootstrap_servers = "{bootstrap}"\n'
            f'[topics]\nprefix = "{prefix}"\npartitions = {PARTITIONS}\n'
            f'[[sources]]\nname = "{SOURCE}"\ntopic = "{self.events}"\n',
            encoding="utf-8",
        )

    def run(self, *arguments: str) -> int:
        return main([*arguments, "--config", str(self.settings)])

    def write(self, role: str, value: Any, key: str = THREAD, partition: int = 0) -> None:
        text = value if isinstance(value, bytes) else json.dumps(value).encode()
        asyncio.run(post(self.client, self.prefix + role, key.encode(), text, partition))

    def read(self, role: str) -> list[Record]:
        return asyncio.run(snapshot(self.client, self.prefix + role))


@pytest.fixture
def cluster(
    bootstrap: str,
    unique: Callable[[str], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Cluster:
    for name in [name for name in os.environ if name.startswith("BRIDGE_")]:
        monkeypatch.delenv(name)
    made = Cluster(bootstrap, unique(""), tmp_path)
    asyncio.run(create_topics(bootstrap, [NewTopic(made.events, 2, 1)]))
    assert made.run("topics", "create") == 0
    return made


def approval(**changes: Any) -> dict[str, Any]:
    return {
        "approval_id": APPROVAL_ID,
        "revision": 1,
        "status": "pending",
        "command_id": APPROVAL_ID,
        "kind": "input",
        "protocol": "ag-ui",
        "source": SOURCE,
        "scope": "",
        "thread_id": THREAD,
        "run_id": "run-1",
        "interrupt_id": "int-1",
        "index": 0,
        "total": 1,
        "flags": [],
        "published_at": AT,
        "actions": [],
        "origin": {"topic": "t", "partition": 0, "offset": 0, "timestamp": AT},
        "message": "Refund 50 €?",
    } | changes


@contextmanager
def judging(cluster: Cluster, role: str, verdict: str, **members: Any) -> Iterator[None]:
    """Somebody who gives one verdict on the next record of a topic, as a worker would."""
    ready = threading.Event()

    async def judge() -> None:
        topic = cluster.prefix + role
        async with reading(cluster.client, topic, start="end") as reader:
            ready.set()
            for _ in range(100):
                for record in await reader.poll(0.2):
                    origin = record.origin
                    place = {"topic": topic, "partition": origin.partition, "offset": origin.offset}
                    value = {
                        "answer_id": "x",
                        "verdict": verdict,
                        "problems": [],
                        "decided_at": AT,
                        "origin": place | {"timestamp": AT},
                    } | members
                    verdicts = cluster.prefix + "answer-verdicts"
                    text = json.dumps(value).encode()
                    await post(cluster.client, verdicts, b"k", text, 0)
                    return

    thread = threading.Thread(target=lambda: asyncio.run(judge()))
    thread.start()
    try:
        assert ready.wait(30)
        yield
    finally:
        thread.join(60)


def test_created_topics_pass_the_check(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cluster.run("topics", "check") == 0
    assert cluster.run("topics", "create") == 0
    assert f"exists  {cluster.prefix}state" in capsys.readouterr().out
    assert cluster.run("topics", "create", "--partitions", "7") == 0
    out = capsys.readouterr().out
    assert "keeps the partitions that it has" in out
    assert "now set topics.partitions" not in out, "they would not be as many"


def test_a_wrong_topic_fails_the_check_and_says_what_mends_it(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    text = cluster.settings.read_text(encoding="utf-8")
    cluster.settings.write_text(text.replace("partitions = 3", "partitions = 4"), encoding="utf-8")
    assert cluster.run("topics", "check") == 3
    assert "set topics.partitions = 3" in capsys.readouterr().out


def test_pending_lists_what_waits(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    """Answered ones are gone, whatever partition they stand on; a pipe gets plain lines."""
    cluster.write("approvals", approval(), APPROVAL_ID)
    cluster.write("approvals", approval(approval_id="b", interrupt_id="int-2"), "b", 1)
    cluster.write("approvals", approval(approval_id="b", revision=2, status="answered"), "b", 1)
    capsys.readouterr()
    assert cluster.run("pending") == 0
    heading, *lines = capsys.readouterr().out.splitlines()
    assert heading.startswith("approval\tsource\tthread\tquestion")
    assert [line.split("\t")[:4] for line in lines] == [
        [APPROVAL_ID, SOURCE, THREAD, "Refund 50 €?"]
    ]


def test_pending_json_is_the_record_itself(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    """Number literals and later fields survive: it is no parsed copy."""
    text = json.dumps(approval()).encode()[:-1] + b', "metadata": {"n": 1e2}}'
    cluster.write("approvals", text, APPROVAL_ID)
    capsys.readouterr()
    assert cluster.run("pending", "--json", "--source", SOURCE) == 0
    assert capsys.readouterr().out.encode() == text + b"\n"


def test_an_accepted_answer_exits_with_0(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    """It stands on its thread's own partition, its payload as it was typed."""
    with judging(cluster, "answers", "accepted", open=0):
        typed = ("--payload", '{"amount": 50.0}', "--by", "ann", "--answer-id", "a-1")
        assert cluster.run("answer", APPROVAL_ID, *typed) == 0
    assert "accepted (0 of the run still open): it counts" in capsys.readouterr().out
    (record,) = cluster.read("answers")
    assert record.value == (
        b'{"status":"resolved","approval_id":"%s","payload":{"amount": 50.0},'
        b'"answer_id":"a-1","answered_by":"ann"}' % APPROVAL_ID.encode()
    )
    assert record.origin.partition == home_slot(THREAD, PARTITIONS)
    assert isinstance(read_answer(record, Limits()), Answer)


def test_a_refused_answer_exits_with_4_and_says_why(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    problems = [{"path": "/amount", "message": "is too large\x1b[2J"}]
    with judging(cluster, "answers", "invalid_payload", problems=problems):
        assert cluster.run("answer", APPROVAL_ID, "--payload", "1") == 4
    out = capsys.readouterr().out
    assert "invalid_payload: the question does not take this; it stays open\n" in out
    assert "  /amount: is too large\\u001b[2J\n" in out


def test_the_same_answer_again_is_done(cluster: Cluster) -> None:
    with judging(cluster, "answers", "duplicate"):
        assert cluster.run("answer", APPROVAL_ID, "--cancel") == 0


def test_no_verdict_in_time_exits_with_5(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    """A verdict on somebody else's answer is not ours."""
    other = {"topic": cluster.prefix + "answers", "partition": 9, "offset": 9}
    cluster.write("answer-verdicts", {"answer_id": "x", "verdict": "accepted", "origin": other})
    assert cluster.run("answer", APPROVAL_ID, "--cancel", "--wait", "500ms") == 5
    told = capsys.readouterr().err
    assert "is a worker running?" in told
    assert "early_answer_ttl (15m)" in told
    assert cluster.run("answer", APPROVAL_ID, "--cancel", "--wait", "0s") == 0
    assert len(cluster.read("answers")) == 2


def test_withdraw_writes_an_operation(cluster: Cluster) -> None:
    with judging(cluster, "operations", "accepted"):
        assert cluster.run("withdraw", APPROVAL_ID, "--reason", "asked by mistake") == 0
    (record,) = cluster.read("operations")
    assert json.loads(record.value or b"") == {
        "op": "withdraw",
        "approval_id": APPROVAL_ID,
        "reason": "asked by mistake",
    }
    assert isinstance(read_operation(record, Limits()), Operation)


def test_watching_as_json_prints_each_change(cluster: Cluster) -> None:
    """A closing is a change too; Ctrl-C ends it."""
    cluster.write("approvals", approval(), APPROVAL_ID)
    command = [sys.executable, "-m", "bridge.cli.main", "pending", "--watch", "--json"]
    with subprocess.Popen(
        [*command, "--config", str(cluster.settings)], stdout=subprocess.PIPE
    ) as watching:
        assert watching.stdout is not None
        assert json.loads(watching.stdout.readline())["status"] == "pending"
        cluster.write("approvals", approval(revision=2, status="answered"), APPROVAL_ID)
        assert json.loads(watching.stdout.readline())["status"] == "answered"
        watching.send_signal(signal.SIGINT)
        assert watching.wait(30) == 130


def test_watching_on_a_terminal_draws_a_table(cluster: Cluster) -> None:
    cluster.write("approvals", approval(message="[red]Refund\x1b[2J?"), APPROVAL_ID)
    command = [sys.executable, "-m", "bridge.cli.main", "pending", "--watch"]
    screen, terminal = pty.openpty()
    environ = os.environ | {"COLUMNS": "140", "LINES": "30", "TERM": "xterm"}
    with subprocess.Popen(
        [*command, "--config", str(cluster.settings)], stdout=terminal, env=environ
    ) as watching:
        drawn = b""
        while b"1 pending" not in drawn or APPROVAL_ID.encode() not in drawn:
            assert select.select([screen], [], [], 30)[0], drawn
            drawn += os.read(screen, 65_536)
        watching.send_signal(signal.SIGINT)
        assert watching.wait(30) == 130
    assert b"[red]Refund\\u001b[2J?" in drawn
    os.close(screen)
    os.close(terminal)


def write_story(cluster: Cluster) -> None:
    """A thread's life on the topics, and records of another thread among them."""
    ids = {"thread_id": THREAD, "source": SOURCE, "run_id": "run-1"}
    question = {"id": "int-1", "reason": "approval"}
    finished = {
        "type": "RUN_FINISHED",
        "threadId": THREAD,
        "runId": "run-1",
        "outcome": {"type": "interrupt", "interrupts": [question]},
    }
    cluster.write("events", finished, "any-key", 1)
    cluster.write("events", finished | {"threadId": "thread-2"}, "thread-2")
    cluster.write("approvals", approval(), APPROVAL_ID)
    cluster.write("answers", {"approval_id": APPROVAL_ID, "status": "resolved", "payload": 1})
    cluster.write("answers", {"approval_id": "other", "status": "resolved"}, "thread-2")
    origin = {"topic": "t", "partition": 0, "offset": 0, "timestamp": AT}
    verdict: dict[str, Any] = {"problems": [], "decided_at": AT, "origin": origin}
    verdict |= {"answer_id": "x", "verdict": "accepted", "approval_id": APPROVAL_ID}
    cluster.write("answer-verdicts", verdict)
    entry = {"interrupt_id": "int-1", "approval_id": APPROVAL_ID, "status": "resolved"}
    command = {
        "command_id": "c",
        "protocol": "ag-ui",
        "scope": "",
        "resume_run_id": "run-2",
        "entries": [entry | {"closed_reason": "answered"}],
        "completed_by": "answers",
        "native": {"method": "run", "headers": {}, "body": {}, "notes": []},
        "issued_at": AT,
        "origin": origin,
    }
    cluster.write("resume-commands", command | ids)
    cluster.write("dead-letters", b"not json \x1b[2J")
    cluster.write("operations", {"op": "withdraw", "by": "op", "reason": "late"} | ids)


def test_trace_tells_the_story_of_a_thread_in_order(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    write_story(cluster)
    capsys.readouterr()
    assert cluster.run("trace", THREAD, "--source", SOURCE) == 0
    told = [line.split("  ")[1:] for line in capsys.readouterr().out.splitlines()]
    assert [(parts[0], parts[-2].strip()) for parts in told] == [
        ("input", "run run-1 asks int-1"),
        ("approvals", "int-1 pending, revision 1"),
        ("answers", f"resolved for {APPROVAL_ID}"),
        ("answer-verdicts", f"accepted for {APPROVAL_ID}"),
        ("resume-commands", "resume run-1 as run-2: 1 entries, completed by answers"),
        ("dead-letters", "no DeadLetter: its headers cannot be read"),
        ("operations", "withdraw by op: late"),
    ]


def test_trace_json_holds_the_records(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    write_story(cluster)
    capsys.readouterr()
    assert cluster.run("trace", THREAD, "--json") == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(records) == 7
    assert records[2]["value"] == {
        "approval_id": APPROVAL_ID,
        "status": "resolved",
        "payload": 1,
    }
    assert "value_base64" in records[5]


def test_trace_takes_an_approval_id_for_its_thread(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    """As pending shows it; the story is that of the whole thread."""
    write_story(cluster)
    capsys.readouterr()
    assert cluster.run("trace", THREAD) == 0
    by_thread = capsys.readouterr().out
    for written in (APPROVAL_ID, APPROVAL_ID.upper()):
        assert cluster.run("trace", written) == 0
        assert capsys.readouterr().out == by_thread


def test_trace_of_an_unknown_thread_says_so(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cluster.run("trace", "nobody") == 0
    assert "no record names the thread or approval nobody" in capsys.readouterr().err


def test_the_doctor_calls_nothing_good_that_no_worker_serves(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every other check is made, and what it writes asks nobody."""
    capsys.readouterr()
    assert cluster.run("doctor") == 3
    lines = [line.split(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "ok    versions",
        "ok    cluster",
        "ok    broker settings",
        "ok    rights",
        "ok    topics",
        "fail  workers",
        "warn  state",
        "ok    transaction",
        "ok    clock",
        "ok    approvals",
        "ok    positions",
        "ok    open transactions",
        "fail  slots",
        "not well",
    ]
    assert [record.value for record in cluster.read("approvals")] == [None]
    assert cluster.run("pending", "--json") == 0
    assert capsys.readouterr().out == ""


def test_the_doctor_fails_on_missing_topics_and_says_what_makes_them(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    text = cluster.settings.read_text("utf-8").replace(cluster.prefix, cluster.prefix + "other.")
    cluster.settings.write_text(text, "utf-8")
    capsys.readouterr()
    assert cluster.run("doctor") == 3
    out = capsys.readouterr().out
    assert "fail  topics" in out
    assert "topics create" in out
    assert "transaction:" not in out
    assert "not probed, nor who works on them" in out, "what was not looked at is told"
