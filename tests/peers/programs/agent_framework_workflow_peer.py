"""A workflow of Microsoft's Agent Framework behind agent-framework-ag-ui: a step that asks.

The endpoint keeps each thread's workflow in the process; nothing is taken from `messages`.
"""

from __future__ import annotations

import ag_ui_runs
from agent_framework import (
    Executor,
    Message,
    Workflow,
    WorkflowBuilder,
    WorkflowContext,
    handler,
    response_handler,
)
from agent_framework_ag_ui import AgentFrameworkWorkflow, add_agent_framework_fastapi_endpoint
from fastapi import FastAPI


class PayOut(Executor):
    """Asks which account each order is to be paid to."""

    def __init__(self) -> None:
        super().__init__(id="pay_out")
        self.prompt = ""
        self.turn = 0
        self.paid: list[str] = []

    @handler
    async def begin(self, messages: list[Message], ctx: WorkflowContext[None, str]) -> None:
        self.prompt = messages[-1].text
        await self.ask(ctx)

    async def ask(self, ctx: WorkflowContext[None, str]) -> None:
        for call in range(ag_ui_runs.calls_now(self.prompt, self.turn)):
            order = f"{self.turn}-{call}"
            asked = {"message": f"Which account is {order} to be paid to?", "order": order}
            await ctx.request_info(asked, str)
        self.turn += 1

    @response_handler
    async def pay(
        self, asked: dict[str, str], account: str, ctx: WorkflowContext[None, str]
    ) -> None:
        self.paid.append(f"paid {asked['order']} to {account}")
        await ctx.yield_output(ag_ui_runs.conclusion(self.prompt, self.paid))
        await self.ask(ctx)


def workflow(_thread_id: str) -> Workflow:
    return WorkflowBuilder(name="refunds", start_executor=PayOut()).build()


if __name__ == "__main__":
    app = FastAPI()
    agent = AgentFrameworkWorkflow(workflow_factory=workflow, name="refunds")
    add_agent_framework_fastapi_endpoint(app, agent, "/", single_user=True)
    names = ("agent-framework-ag-ui", "agent-framework-core", "ag-ui-protocol")
    ag_ui_runs.serve_app(app, *names)
