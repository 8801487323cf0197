"""A slot without Kafka that reads A2A tasks: events and answers in, approvals and commands out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bridge.core.model import Limits, SourcePolicy
from bridge.core.record import Header, Record
from bridge.core.schema import SchemaCache
from bridge.protocols.a2a import A2a
from bridge.records.outgoing import Outgoing
from bridge.slot.desk import Desk, Source
from tests.unit.protocols.a2a_events import encoded
from tests.unit.slot.desk import NOW, TOPICS, Bench, raw, sent

TASKS = "agents.tasks"


class Agents:
    """A source of A2A agents: each call is one cycle, a second after the last."""

    def __init__(
        self, options: Mapping[str, object] | None = None, policy: SourcePolicy | None = None
    ) -> None:
        source = Source("agents", A2a().configured(options or {}), policy or SourcePolicy())
        self.bench = Bench(Desk(0, 1, {TASKS: source}, TOPICS, Limits(), SchemaCache(16)))
        self.out: list[Outgoing] = []
        self.latest: dict[str, dict[str, Any]] = {}
        self._offset = 0

    def tells(
        self, *events: Any, key: bytes | None = b"task-1", headers: Sequence[Header] = ()
    ) -> None:
        """The agents' events, one record and one cycle each."""
        for event in events:
            record = raw(encoded(event), TASKS, key, self._offset, self.now, headers)
            self._cycle(record)

    def answers(self, approval: Mapping[str, Any], payload: Any = None, **more: Any) -> str:
        """An answer by approval id; its verdict."""
        given = {"approval_id": approval["approval_id"], "status": "resolved", **more}
        if payload is not None:
            given["payload"] = payload
        record = raw(json.dumps(given).encode(), TOPICS["answers"], None, self._offset, self.now)
        self._cycle(record)
        return str(sent(self.out, "answer-verdicts")[-1]["verdict"])

    def waits(self, seconds: int) -> None:
        """Time passes, and what is due by then happens."""
        self._offset += seconds
        self._cycle(due=self.now)

    def pending(self) -> list[dict[str, Any]]:
        """The approvals that can still be answered, in the order of their questions."""
        found = [one for one in self.latest.values() if one["status"] == "pending"]
        return sorted(found, key=lambda one: one["index"])

    def ended(self) -> list[tuple[str, str, str]]:
        """(run, status, reason) of what closed, as it was last published."""
        return [
            (one["run_id"], one["status"], one["closed_reason"])
            for one in self.latest.values()
            if one["status"] != "pending"
        ]

    def commands(self) -> list[dict[str, Any]]:
        return [dict(one) for one in sent(self.out, "resume-commands")]

    def letters(self) -> list[str]:
        """Reasons of the dead letters so far."""
        return [
            dict(one.headers)["bridge-reason"].decode()
            for one in self.out
            if one.topic == "dead-letters"
        ]

    @property
    def now(self) -> int:
        return NOW + 1_000 * self._offset

    def _cycle(self, *records: Record, due: int | None = None) -> None:
        out = self.bench.cycle(*records, now=self.now, due=due)
        self._offset += 1
        self.out.extend(out)
        for approval in sent(out, "approvals"):
            self.latest[approval["approval_id"]] = dict(approval)
