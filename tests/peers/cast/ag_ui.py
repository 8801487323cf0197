"""AG-UI agents, each behind the HTTP endpoint of its own package, and AG-UI's own client.

The scripted models know from the conversation alone whom they speak with and end with that name,
so the proofs show that the answer has come and that the agent still knows its thread.
"""

from __future__ import annotations

from typing import Final

from tests.peers.peer import ALL_CANCELLED, NO_SCHEMA, ONE_EXPIRED, WRONG_THEN_RIGHT, Peer

_ONE_AT_A_TIME: Final = "of several calls it suspends one: a run never asks two things"
_EDITED: Final = {"approved": True, "editedArgs": {"order": "4711", "amount": 42.5}}

PEERS: Final = (
    Peer(
        name="ag-ui-langgraph",
        title="LangGraph (ag-ui-langgraph)",
        protocol="ag-ui",
        set="current",
        program="ag_ui_langgraph_peer.py",
        answer={"approved": True},
        proof="refunded 1-1",
        wrong={"approved": "yes"},
        own_deadline=True,
        note="several answers at once, as its default gives them, are refused by LangGraph 1; a "
        "subclass gives them by interrupt id, which the package provides for",
    ),
    Peer(
        name="ag-ui-langgraph-default",
        title="LangGraph (ag-ui-langgraph) as it comes, `CUSTOM on_interrupt`",
        protocol="ag-ui",
        set="current",
        program="ag_ui_langgraph_peer.py",
        arguments=("default",),
        source={"options": {"legacy_refusal": {"approved": False}}},
        answer={"approved": True},
        proof="refunded 1-1",
        wrong={"approved": "yes"},
        own_deadline=True,
        note="the package's own agent with its default settings; what is cancelled or expires gets "
        "the source's `legacy_refusal`",
    ),
    Peer(
        name="pydantic-ai",
        title="Pydantic AI, history in `messages`",
        protocol="ag-ui",
        set="current",
        program="pydantic_ai_peer.py",
        source={"continuity": True},
        answer=_EDITED,
        proof="Ann: refunded 42.5 for 4711",
        wrong={"approved": "yes"},
        note="with `continuity = true`; its stream tells the history where its adapter's "
        "`on_complete` yields a MESSAGES_SNAPSHOT, and the agent keeps nothing itself",
    ),
    Peer(
        name="pydantic-ai-store",
        title="Pydantic AI, its conversation store",
        protocol="ag-ui",
        set="current",
        program="pydantic_ai_peer.py",
        arguments=("store",),
        answer=_EDITED,
        proof="Ann: refunded 42.5 for 4711",
        wrong={"approved": "yes"},
    ),
    Peer(
        name="ag-ui-strands-approval",
        title="Strands (ag_ui_strands), tool approval",
        protocol="ag-ui",
        set="current",
        program="ag_ui_strands_peer.py",
        arguments=("approval",),
        answer={"approved": True},
        proof="Ann: refunded 0-0",
        wrong={"approved": "yes"},
        note="each request meets a new replica; they share the session store",
    ),
    Peer(
        name="ag-ui-strands-interrupt",
        title="Strands (ag_ui_strands), a tool's own interrupt",
        protocol="ag-ui",
        set="current",
        program="ag_ui_strands_peer.py",
        arguments=("interrupt",),
        answer="DE-42",
        proof="Ann: paid 0-0 to DE-42",
        wrong=NO_SCHEMA,
        cannot={WRONG_THEN_RIGHT: "a tool's own interrupt comes without a `responseSchema`"},
        note="each request meets a new replica; they share the session store",
    ),
    Peer(
        name="agent-framework",
        title="Agent Framework (agent-framework-ag-ui), tool approval",
        protocol="ag-ui",
        set="earlier",
        program="agent_framework_peer.py",
        source={"continuity": True},
        answer={"approved": True, "editedArgs": {"order": "4711"}},
        proof="Ann: refunded 4711",
        wrong={"approved": True, "order": 4711},
        cannot={
            ONE_EXPIRED: "where of two approvals one is not given, whether by a cancelled entry or "
            "by `approved: false`, it runs neither, asks for the one again, and refuses every "
            "answer to that with APPROVAL_RESUME_MISSING_INTERRUPT"
        },
        note="with `continuity = true`; without it the approved tool runs, and the model is shown "
        "its result and nothing of the conversation",
    ),
    Peer(
        name="agent-framework-workflow",
        title="Agent Framework, a workflow that asks",
        protocol="ag-ui",
        set="earlier",
        program="agent_framework_workflow_peer.py",
        answer="DE-42",
        proof="Ann: paid 0-0 to DE-42",
        wrong=42,
    ),
    Peer(
        name="mastra",
        title="Mastra (@ag-ui/mastra), `CUSTOM on_interrupt` and the outcome at once",
        protocol="ag-ui",
        set="npm",
        program="npm/mastra_peer.mjs",
        arguments=("outcome",),
        answer={"account": "DE-42"},
        proof="Ann: paid 0-0 to DE-42",
        wrong={"account": 42},
        cannot=dict.fromkeys((ALL_CANCELLED, ONE_EXPIRED), _ONE_AT_A_TIME),
        note="its real adapter and agent without an HTTP server; @copilotkit/runtime, which its "
        "adapter needs for another entry, is not installed",
    ),
    Peer(
        name="mastra-legacy",
        title="Mastra (@ag-ui/mastra), `CUSTOM on_interrupt` alone",
        protocol="ag-ui",
        set="npm",
        program="npm/mastra_peer.mjs",
        arguments=("legacy",),
        answer={"account": "DE-42"},
        proof="Ann: paid 0-0 to DE-42",
        wrong={"account": 42},
        cannot=dict.fromkeys((ALL_CANCELLED, ONE_EXPIRED), _ONE_AT_A_TIME),
        note="`emitInterruptOutcome: false`; resumed by an entry of `resume`, which its adapter "
        "takes all the same",
    ),
    Peer(
        name="ag-ui-client",
        title="@ag-ui/client, its own checks of a resume",
        protocol="ag-ui",
        set="npm",
        program="npm/ag_ui_client_peer.mjs",
        source={"continuity": True},
        answer={"account": "DE-42"},
        proof="Ann: paid to DE-42",
        wrong={"account": 42},
        own_deadline=True,
        note="with `continuity = true`; a client only: the program plays its agent, and sees that "
        "what the client sends is the native body, member for member",
    ),
)
