"""Who plays: agents of three protocols, what they ask, and what people answer.

Shapes are those of the frameworks' own events; names, texts and numbers are made up.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from bridge.demo.agent import Agent, AgUiAgent, Json
from bridge.demo.task_agent import TaskAgent, code_review
from bridge.demo.turn_agent import TurnAgent, bank

Key = Literal["thread", "approval", "none"]

APPROVED: Json = {
    "type": "object",
    "properties": {
        "approved": {"type": "boolean"},
        "editedArgs": {"type": "object"},
        "reason": {"type": "string"},
    },
    "required": ["approved"],
}


@dataclass(frozen=True, slots=True)
class Reply:
    """What one person says to one question, and the verdict it must get.

    `run_id` when it is not about the agent's first run.
    """

    answer_id: str
    agent: Agent
    interrupt: int
    payload: Any
    verdict: str
    by: str = "ann@example.org"
    status: Literal["resolved", "cancelled"] = "resolved"
    key: Key = "thread"
    run_id: str | None = None

    @property
    def run(self) -> str:
        """The run that the question belongs to."""
        return self.run_id or self.agent.run_id

    def record(self, approval_id: str | None = None) -> bytes:
        """The `Answer` in JSON; by `approval_id` where that is the question's only name."""
        named: dict[str, Any] = {"approval_id": approval_id}
        if not approval_id:
            agent = self.agent
            interrupt_id = agent.interrupt_id(self.run, self.interrupt)
            ids = {"thread_id": agent.thread_id, "run_id": self.run, "interrupt_id": interrupt_id}
            scope = {"scope": agent.scope} if agent.scope else {}
            named = {"source": agent.name, **scope, **ids}
        answer = {
            **named,
            "status": self.status,
            "answer_id": self.answer_id,
            "answered_by": self.by,
        }
        if self.status == "resolved":
            answer["payload"] = self.payload
        return json.dumps(answer).encode()


@dataclass(frozen=True, slots=True)
class Cast:
    """All seven. Threads are spread over the four slots, two to each of two workers."""

    travel: AgUiAgent
    files: AgUiAgent
    ops: AgUiAgent
    shop: AgUiAgent
    news: AgUiAgent
    review: TaskAgent
    bank: TurnAgent

    @property
    def agents(self) -> tuple[Agent, ...]:
        """Those that ask at once first, then the one that wants a sign-in before."""
        return (self.travel, self.files, self.ops, self.shop, self.news, self.bank, self.review)

    def agent(self, name: str) -> Agent:
        return next(agent for agent in self.agents if agent.name == name)


def cast(expires_at: datetime) -> Cast:
    """The agents; one of the questions of `ops` expires then."""
    ag_ui = (_travel(), _files(), _ops(expires_at), _shop(), _news())
    return Cast(*ag_ui, code_review(), bank())


def _travel() -> AgUiAgent:
    """LangGraph: ids of 32 hex digits, the value handed to interrupt() in the metadata."""

    def ask(id_: str, message: str, value: Json, schema: Json) -> Json:
        graph = {"raw": value, "ns": ["plan:7c1f"], "resumable": True, "when": "during"}
        metadata = {"langgraph": graph}
        shown = {"id": id_, "reason": "langgraph:interrupt", "message": message}
        return {**shown, "responseSchema": schema, "metadata": metadata}

    flights: Json = {
        "type": "object",
        "properties": {"flight": {"enum": ["TP 573", "LH 1166"]}},
        "required": ["flight"],
    }
    budget: Json = {
        "type": "object",
        "properties": {"limit": {"type": "number", "maximum": 2000}},
        "required": ["limit"],
    }
    return AgUiAgent(
        "travel-desk",
        "LangGraph",
        "trip-lisbon-0412",
        "1f0cb8a2-5d1e-6c3a-8f44-0242ac120002",
        (
            ask(
                "8d0b6a1e4c7f4d0d9a3ce2f1b5a60c11",
                "Which flight to Lisbon?",
                {"options": ["TP 573", "LH 1166"]},
                flights,
            ),
            ask(
                "b7f94e02a6de41d38b90c4470ce2f582",
                "How much may the hotel cost, in EUR?",
                {"city": "Lisbon", "nights": 3},
                budget,
            ),
        ),
    )


def _files() -> AgUiAgent:
    """pydantic-ai: one approval for each tool call, the id made from the call's."""
    calls = (
        ("call_A1", 'delete_file({"path":"/data/2019.csv"})'),
        ("call_A2", 'delete_file({"path":"/data/2020.csv"})'),
        ("call_A3", 'move_file({"path":"/data/now.csv","to":"/data/2026.csv"})'),
        ("call_A4", 'send_mail({"to":"all@example.org"})'),
    )
    return AgUiAgent(
        "file-keeper",
        "pydantic-ai",
        "cleanup-2026-11",
        "run_01jdm3v6x9",
        tuple(
            {
                "id": f"int-{call}",
                "reason": "tool_call",
                "message": f"Approve {text}?",
                "toolCallId": call,
                "responseSchema": APPROVED,
            }
            for call, text in calls
        ),
    )


def _ops(expires_at: datetime) -> AgUiAgent:
    """Strands: ids with colons, the tool's input in the metadata; here one with a deadline."""

    def ask(tool: str, use: str, message: str, value: Json) -> dict[str, Any]:
        return {
            "id": f"v1:before_tool_call:{use}:6d2c",
            "reason": "tool_call",
            "message": message,
            "toolCallId": use,
            "responseSchema": APPROVED,
            "metadata": {
                "tool_name": tool,
                "tool_input": value,
                "strandsName": f"ag_ui:tool_call:{tool}",
            },
        }

    drain = ask("drain_node", "tooluse_k3", "Drain node db-2?", {"node": "db-2"})
    promote = ask("promote", "tooluse_k4", "Promote db-3 to primary?", {"node": "db-3"})
    promote["expiresAt"] = expires_at.isoformat(timespec="milliseconds")
    return AgUiAgent("ops-runner", "Strands", "orders-db-failover", "run-7781", (drain, promote))


def _shop() -> AgUiAgent:
    """Mastra: run and tool call in the id, its schema a text inside the metadata."""
    run_id = "9a41c0de-52b7-4a8e-9c1d-5b0f6f0c7e10"
    schema: Json = {
        "type": "object",
        "properties": {"approved": {"type": "boolean"}, "amount": {"type": "number"}},
        "required": ["approved"],
    }
    payload = {"order": "88213", "amount": 59.90}
    return AgUiAgent(
        "shop-helper",
        "Mastra",
        "refund-88213",
        run_id,
        (
            {
                "id": f"{run_id}::call_refund",
                "reason": "mastra:tool_suspend",
                "message": "Refund 59.90 EUR for order 88213?",
                "toolCallId": "call_refund",
                "responseSchema": schema,
                "metadata": {
                    "mastra": {"suspendPayload": payload, "resumeSchema": json.dumps(schema)}
                },
            },
        ),
    )


def _news() -> AgUiAgent:
    """CrewAI: the flow's id is thread and interrupt at once, the same at every pause."""
    return AgUiAgent(
        "newsroom",
        "CrewAI",
        "daily-brief",
        "kickoff-20261129",
        (
            {
                "id": "daily-brief",
                "reason": "crewai:human_feedback",
                "message": "Publish the daily brief?",
                "responseSchema": {"type": "string", "enum": ["publish", "rewrite"]},
                "metadata": {"crewai": {"output": "Three lines on shipping, two on weather."}},
            },
        ),
    )
