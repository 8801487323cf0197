"""A bank's agent on Genkit for Python: a scripted model, and tools that pause for people.

`server`: the tool itself asks and is restarted; snapshots are in a store here.
`client`: an interrupt that takes a response; the caller keeps the state.
`insists`: the caller keeps the state, and the tool may ask the same again.
`approval`: ToolApproval holds a tool that would ask nothing.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final
from uuid import uuid4

from genkit import (
    ActionRunContext,
    FinishReason,
    Interrupt,
    Message,
    ModelInfo,
    ModelRequest,
    ModelResponse,
    Part,
    Role,
    Supports,
    ToolRunContext,
)
from genkit.exp import Agent, Genkit, InMemorySessionStore
from genkit_middleware import Middleware, ToolApproval
from pydantic import BaseModel

MODEL: Final = "scripted/bank"


class Transfer(BaseModel):
    to: str
    amount: float
    order: str
    signatures: int


class Question(BaseModel):
    question: str


def bank_of(kind: str) -> Agent[Any]:
    ai = Genkit(plugins=[Middleware()])
    tool = _GATED[kind](ai)
    _check_limit(ai)
    script = _Script(tool, asks_in_tool=kind in ("server", "insists"))
    info = ModelInfo(supports=Supports(tools=True, multiturn=True))
    ai.define_model(MODEL, script.answer, info=info)
    return ai.define_agent(
        "bank",
        model=MODEL,
        tools=[tool, "checkLimit"],
        use=[ToolApproval(allowed_tools=["checkLimit"])] if kind == "approval" else None,
        store=InMemorySessionStore() if kind in ("server", "approval") else None,
    )


def _transfer_that_asks(ai: Genkit) -> str:
    signed: Counter[str] = Counter()

    @ai.tool("transferMoney", "Transfers money to a payee.")
    async def transfer(transfer: Transfer, context: ToolRunContext) -> dict[str, Any]:
        answer = context.resumed_metadata or {}
        if context.is_resumed() and not answer["approved"]:
            return {"status": "declined"}
        signed[transfer.order] += bool(answer)
        if signed[transfer.order] < transfer.signatures:
            raise Interrupt({"reason": f"Transfer money to {transfer.to}?"})
        return {"status": "sent", "note": answer["note"]}

    return "transferMoney"


def _transfer(ai: Genkit) -> str:
    @ai.tool("transferMoney", "Transfers money to a payee.")
    async def transfer(transfer: Transfer) -> dict[str, Any]:
        return {"status": "sent", "paid": transfer.to}

    return "transferMoney"


def _ask_user(ai: Genkit) -> str:
    ai.define_interrupt("askUser", input_schema=Question, description="Asks the person.")
    return "askUser"


_GATED: Final = {
    "server": _transfer_that_asks,
    "client": _ask_user,
    "insists": _transfer_that_asks,
    "approval": _transfer,
}


def _check_limit(ai: Genkit) -> None:
    @ai.tool("checkLimit", "What is left.")
    async def check_limit() -> int:
        return 0


# --- The script -----------------------------------------------------------------------------------


class _Script:
    """Asks as often as the person's message says, then repeats what the tools gave.

    A transfer of the case `again` is asked about twice by its tool; the model calls it once.
    """

    def __init__(self, tool: str, *, asks_in_tool: bool) -> None:
        self.tool = tool
        self.asks_in_tool = asks_in_tool

    async def answer(self, request: ModelRequest, _: ActionRunContext) -> ModelResponse:
        content = self._next(request.messages)
        message = Message(role=Role.MODEL, content=content)
        return ModelResponse(message=message, finish_reason=FinishReason.STOP)

    def _next(self, messages: list[Message]) -> list[Part]:
        last = max(at for at, message in enumerate(messages) if message.role == Role.USER)
        wanted = messages[last].text
        answered = [message for message in messages[last:] if message.role == Role.TOOL]
        again = [1] if self.asks_in_tool else [1, 1]
        calls = {"one": [1], "two": [2], "again": again}[wanted]
        if len(answered) == len(calls):
            return [Part.from_text(f"The tools said {_outputs(answered)}")]
        signatures = 2 if wanted == "again" else 1
        parts = [self._call(signatures) for _ in range(calls[len(answered)])]
        return parts if len(parts) == 1 else [parts[0], _limit_call(), *parts[1:]]

    def _call(self, signatures: int) -> Part:
        order = uuid4().hex
        # 50.0 must come back as 50.0: this runtime compares the texts.
        transfer = {"to": "payee-1 ✓", "amount": 50.0, "order": order, "signatures": signatures}
        asked = {"question": "Which account?"} if self.tool == "askUser" else transfer
        return Part.from_tool_request(name=self.tool, ref=f"call-{order}", input=asked)


def _limit_call() -> Part:
    return Part.from_tool_request(name="checkLimit", ref="call-limit", input={})


def _outputs(answered: list[Message]) -> list[Any]:
    parts = [part for message in answered for part in message.content]
    return [part.tool_response.output for part in parts if part.tool_response is not None]
