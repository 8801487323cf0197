"""A log written by hand, as a correct bridge would have left it, for the checker to read.

Nothing here comes from the bridge. `Log` appends records and keeps offsets; `Run` follows one run
through its approvals.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar, Self

from bridge.audit.ids import home, make_id
from bridge.audit.log import LogRecord, Role, Setup, Source

SOURCE, EVENTS, SLOTS = "support-agents", "agents.run-finished", 2
START = 1_790_000_000_000
TOPICS: dict[Role, str] = {
    "input": EVENTS,
    "answers": "bridge.answers",
    "operations": "bridge.operations",
    "reroute": "bridge.reroute",
    "approvals": "bridge.approvals",
    "resume-commands": "bridge.resume-commands",
    "answer-verdicts": "bridge.answer-verdicts",
    "dead-letters": "bridge.dead-letters",
    "state": "bridge.state",
}
_SOURCES = {EVENTS: SOURCE.encode(), "reviewers.tasks": b"reviewers", "bank.turns": b"bank"}
SETUP = Setup(sources={EVENTS: Source(SOURCE)}, slots=SLOTS, final=True)


def instant(ms: int) -> str:
    """RFC 3339 with milliseconds, as the records show it."""
    text = datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def packed(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def origin_of(record: LogRecord) -> dict[str, Any]:
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": instant(record.timestamp),
    }


def origin_headers(record: LogRecord) -> tuple[tuple[str, bytes], ...]:
    place = (
        ("bridge-origin-topic", record.topic.encode()),
        ("bridge-origin-partition", str(record.partition).encode()),
        ("bridge-origin-offset", str(record.offset).encode()),
        ("bridge-origin-timestamp", str(record.timestamp).encode()),
    )
    return place if record.key is None else (*place, ("bridge-origin-key", record.key))


def hop_headers(record: LogRecord) -> tuple[tuple[str, bytes], ...]:
    """What a hop says it is."""
    if record.role == "input":
        return (("bridge-hop", b"event"), ("bridge-hop-source", _SOURCES[record.topic]))
    return (("bridge-hop", record.role.removesuffix("s").encode()),)


@dataclass
class Log:
    """The topics. One second passes with every record."""

    records: list[LogRecord] = field(default_factory=list)
    now: int = START

    def append(
        self,
        role: Role,
        partition: int,
        key: bytes | None,
        value: bytes | None,
        headers: tuple[tuple[str, bytes], ...] = (),
        topic: str = "",
    ) -> LogRecord:
        """`topic` is that of the role, unless it is another source's."""
        self.now += 1_000
        topic = topic or TOPICS[role]
        held = [r.offset for r in self.records if (r.topic, r.partition) == (topic, partition)]
        offset = max(held, default=-1) + 1
        record = LogRecord(role, topic, partition, offset, self.now, key, value, headers)
        self.records.append(record)
        return record

    def event(
        self, thread: str, body: dict[str, Any], keyed: bool = True, topic: str = EVENTS
    ) -> LogRecord:
        """An input record; without a key it arrives on the other partition and goes home."""
        slot = home(thread, SLOTS)
        at, key = (slot, thread.encode()) if keyed else (1 - slot, None)
        record = self.append("input", at, key, packed(body), topic=topic)
        if not keyed:
            self.hop(record, thread)
        return record

    def hop(self, record: LogRecord, thread: str) -> None:
        headers = (*record.headers, *origin_headers(record), *hop_headers(record))
        self.append("reroute", home(thread, SLOTS), thread.encode(), record.value, headers)

    def probe(self, slot: int, partition: int) -> None:
        """Answered by the slot that it asks for, over one hop where it is written elsewhere."""
        asked = {"op": "probe", "slot": slot, "by": "doctor"}
        record = self.append("operations", partition, None, packed(asked))
        if partition != slot:
            headers = (*origin_headers(record), *hop_headers(record))
            self.append("reroute", slot, None, record.value, headers)
        self.verdict(record, "probed", slot=slot)

    def dead(self, record: LogRecord, reason: str) -> None:
        headers = (*record.headers, *origin_headers(record), ("bridge-reason", reason.encode()))
        self.append("dead-letters", record.partition, record.key, record.value, headers)

    def verdict(
        self,
        record: LogRecord,
        said: str,
        run: Run | None = None,
        index: int = 0,
        slot: int | None = None,
    ) -> None:
        """The verdict on an answer or operation, on the slot of its run or on the one given."""
        given = _loaded(record.value)
        body: dict[str, Any] = {
            "answer_id": given.get("answer_id")
            or f"{record.topic}/{record.partition}/{record.offset}",
            "verdict": said,
            "decided_at": instant(self.now),
            "origin": origin_of(record),
        }
        if given.get("approval_id"):
            body["approval_id"] = given["approval_id"]
        if run is not None:
            body |= {"approval_id": run.approval_id(index), **run.identity()}
        decider = record.partition if slot is None else slot
        partition = run.slot if run else decider
        self.append("answer-verdicts", partition, body["answer_id"].encode(), packed(body))

    def operation(self, run: Run, op: str) -> LogRecord:
        body = {"op": op, "approval_id": run.approval_id(0), "reason": "asked to", "by": "ops"}
        return self.append("operations", run.slot, None, packed(body))


@dataclass
class Run:
    """One interrupted run of AG-UI, and its approvals as they were last published."""

    source: ClassVar[str] = SOURCE
    scope: ClassVar[str] = ""
    protocol: ClassVar[str] = "ag-ui"
    topic: ClassVar[str] = EVENTS

    log: Log
    thread: str
    run: str
    interrupts: list[dict[str, Any]]
    origin: LogRecord | None = None
    approvals: list[dict[str, Any]] = field(default_factory=list)
    entries: dict[int, dict[str, Any]] = field(default_factory=dict)

    @property
    def slot(self) -> int:
        return home(self.thread, SLOTS)

    def identity(self) -> dict[str, str]:
        ids = {"thread_id": self.thread, "run_id": self.run}
        return {"source": self.source, "scope": self.scope, **ids}

    def make_id(self, kind: str, interrupt: str = "") -> str:
        return make_id(kind, self.source, self.scope, self.thread, self.run, interrupt)

    def approval_id(self, index: int) -> str:
        return self.make_id("approval", self.interrupts[index]["id"])

    def ask(self, keyed: bool = True) -> Self:
        """The event, and the first revision of each approval."""
        self.origin = self.log.event(self.thread, self.asks(), keyed, self.topic)
        for index in range(len(self.interrupts)):
            self.approvals.append(self._first(index, self.origin))
            self.publish(index)
        return self

    def asks(self) -> dict[str, Any]:
        """The event that asks, as its agent writes it."""
        return finished(self.thread, self.run, self.interrupts)

    def shown(self, index: int) -> dict[str, Any]:
        """What an approval has of its interrupt."""
        asked = self.interrupts[index]
        names = {"expiresAt": "expires_at_raw", "responseSchema": "response_schema"}
        names |= {"toolCallId": "tool_call_id", "subagentRunId": "subagent_run_id"}
        names |= {name: name for name in ("reason", "message", "metadata")}
        shown = {ours: asked[theirs] for theirs, ours in names.items() if theirs in asked}
        return shown | ({"expires_at": asked["expiresAt"]} if "expiresAt" in asked else {})

    def native(self, entries: list[dict[str, Any]]) -> dict[str, Any]:
        """What an executor sends."""
        resume = [
            {"interruptId": entry["interrupt_id"], "status": entry["status"]}
            | ({"payload": entry["payload"]} if "payload" in entry else {})
            for entry in entries
        ]
        names = {"threadId": self.thread, "runId": self.make_id("resume-run")}
        return {"method": "run", "body": {**names, "messages": [], "resume": resume}}

    def publish(self, index: int, **changes: Any) -> None:
        """The next revision of one approval."""
        approval = self.approvals[index]
        approval |= {"revision": approval["revision"] + 1, **changes}
        key = approval["approval_id"].encode()
        self.log.append("approvals", self.slot, key, packed(approval))

    def answer(
        self, index: int, payload: Any = None, at_home: bool = True, **members: Any
    ) -> LogRecord:
        """An answer record; off its home partition it names its question in full and hops."""
        body = {"status": "resolved", "payload": payload, "answered_by": "ada", **members}
        if body["status"] == "cancelled":
            del body["payload"]
        if at_home:
            body["approval_id"] = self.approval_id(index)
            key = self.thread.encode()
            return self.log.append("answers", self.slot, key, packed(body))
        body |= {
            **self.identity(),
            "interrupt_id": self.interrupts[index]["id"],
        }
        record = self.log.append("answers", 1 - self.slot, None, packed(body))
        self.log.hop(record, self.thread)
        return record

    def accept(self, index: int, record: LogRecord, *, last: bool = False) -> None:
        """The verdict `accepted` and what it changes; `last` closes the run as resumed."""
        given = _loaded(record.value)
        status = "answered" if given["status"] == "resolved" else "cancelled"
        answer_id = f"{record.topic}/{record.partition}/{record.offset}"
        self.entries[index] = _entry(given, status)
        self.approvals[index] |= {
            "status": status,
            "answer_id": answer_id,
            "answered_by": "ada",
            "answered_at": instant(record.timestamp),
            "closed_reason": status,
        }
        self.log.verdict(record, "accepted", self, index)
        if last:
            self.close("resumed")
        else:
            self.publish(index)

    def refuse(self, index: int, record: LogRecord, said: str) -> None:
        self.log.verdict(record, said, self, index)

    def expire(self, *indices: int, last: bool = False) -> None:
        self.log.now += 3_600_000
        for index in indices:
            self.entries[index] = {"status": "cancelled", "closed_reason": "expired"}
            self.approvals[index] |= {"status": "expired", "closed_reason": "expired"}
            if not last:
                self.publish(index)
        if last:
            self.close("resumed")

    def close(self, outcome: str, **changes: Any) -> None:
        """The last revision of every approval, and the command of a resumed run."""
        changes |= {"run_outcome": outcome, "closed_at": instant(self.log.now)}
        if outcome == "resumed":
            changes["command_id"] = self.make_id("command")
        for index in range(len(self.approvals)):
            self.publish(index, **changes)
        if outcome == "resumed":
            self.log.append("resume-commands", self.slot, self.thread.encode(), self._command())

    def _first(self, index: int, origin: LogRecord) -> dict[str, Any]:
        asked = self.interrupts[index]
        approval = {
            "approval_id": self.approval_id(index),
            **{"revision": 0, "status": "pending", "kind": "input", "protocol": self.protocol},
            **self.identity(),
            **{"interrupt_id": asked["id"], "index": index, "total": len(self.interrupts)},
            **{"flags": [], "published_at": instant(self.log.now), "origin": origin_of(origin)},
        }
        return approval | self.shown(index)

    def _command(self) -> bytes:
        assert self.origin is not None
        entries = [
            {
                "interrupt_id": asked["id"],
                "approval_id": self.approval_id(index),
                **self.entries[index],
            }
            for index, asked in enumerate(self.interrupts)
        ]
        expired = sum(entry["closed_reason"] == "expired" for entry in entries)
        kinds = {0: "answers", len(entries): "expiry"}
        command = {
            "command_id": self.make_id("command"),
            **{"protocol": self.protocol, **self.identity()},
            "resume_run_id": self.make_id("resume-run"),
            **{"entries": entries, "completed_by": kinds.get(expired, "mixed")},
            "native": self.native(entries),
            "issued_at": instant(self.log.now),
            "origin": origin_of(self.origin),
        }
        return packed(command)


def finished(thread: str, run: str, interrupts: list[dict[str, Any]]) -> dict[str, Any]:
    """AG-UI's event of a run that ends with interrupts."""
    outcome = {"type": "interrupt", "interrupts": interrupts}
    return {"type": "RUN_FINISHED", "threadId": thread, "runId": run, "outcome": outcome}


def _entry(given: dict[str, Any], status: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"status": given["status"], "closed_reason": status}
    entry |= {name: given[name] for name in ("payload", "metadata") if name in given}
    return entry


def _loaded(value: bytes | None) -> dict[str, Any]:
    try:
        loaded = json.loads(value or b"")
    except ValueError:
        return {}
    return loaded if isinstance(loaded, dict) else {}


def interrupt(name: str, **members: Any) -> dict[str, Any]:
    """A tool approval with a schema that wants a boolean."""
    schema = {
        "type": "object",
        "properties": {"approved": {"type": "boolean"}, "limit": {"type": "number"}},
        "required": ["approved"],
    }
    asked = {"id": name, "reason": "tool_call", "message": f"Run {name}?"}
    return {**asked, "responseSchema": schema, "metadata": {"tool": name, "x": 1}, **members}
