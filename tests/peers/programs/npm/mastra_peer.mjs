// Mastra behind @ag-ui/mastra: a tool that suspends itself to ask for an account, in an agent whose
// model is a script. The agent's own memory store keeps what is suspended between the runs.
//
// With the argument `outcome` the adapter asks as it comes: by `CUSTOM on_interrupt` and with the
// interrupt outcome at once. With `legacy` the outcome is switched off, and only the former is left.

import { randomUUID } from "node:crypto";
import { MastraAgent } from "@ag-ui/mastra";
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { serve, versions } from "./talk.mjs";

const CALLS = { one: 1, again: 2 }; // one after the other: of several at once it suspends one
const USAGE = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

const payOut = createTool({
  id: "pay_out",
  description: "Ask which account an order is to be paid to, and pay.",
  inputSchema: z.object({ order: z.string() }),
  suspendSchema: z.object({ order: z.string() }),
  resumeSchema: z.object({ account: z.string() }),
  execute: async ({ order }, { agent }) => {
    if (agent.resumeData === undefined) return agent.suspend({ order });
    return { text: `paid ${order} to ${agent.resumeData.account}` };
  },
});

/** What the model says, for the conversation as it is given. */
function* script(prompt) {
  const contents = prompt.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const asked = contents.find(({ type }) => type === "text").text;
  const results = contents.filter(({ type }) => type === "tool-result");
  const calls = results.length < CALLS[/case is (\w+)/.exec(asked)[1]];
  if (calls) yield calling(`${results.length}-0`);
  else yield* saying(results, /I am (\w+)/.exec(asked)[1]);
  yield { type: "finish", finishReason: calls ? "tool-calls" : "stop", usage: USAGE };
}

function calling(order) {
  const input = JSON.stringify({ order });
  return { type: "tool-call", toolCallId: `call-${randomUUID()}`, toolName: "pay_out", input };
}

function* saying(results, name) {
  const words = results.map(({ output }) => output.value.text).join("; ");
  yield { type: "text-start", id: "t" };
  yield { type: "text-delta", id: "t", delta: `${name}: ${words}` };
  yield { type: "text-end", id: "t" };
}

const model = {
  specificationVersion: "v2",
  provider: "script",
  modelId: "script",
  supportedUrls: {},
  async doStream({ prompt }) {
    const parts = [{ type: "stream-start", warnings: [] }, ...script(prompt)];
    return { stream: ReadableStream.from(parts) };
  },
};

const tools = { pay_out: payOut };
const refunds = new Agent({ id: "refunds", name: "refunds", instructions: "Pay.", model, tools });
const mastra = new Mastra({ agents: { refunds }, storage: new InMemoryStore(), logger: false });
const served = new MastraAgent({
  agentId: "refunds",
  agent: mastra.getAgent("refunds"),
  resourceId: "ann",
  ...(process.argv[2] === "legacy" ? { emitInterruptOutcome: false } : {}),
});

/** The events of a run, as they are emitted. */
function run(input) {
  return new Promise((resolve, reject) => {
    const events = [];
    const complete = () => resolve(events);
    served.run(input).subscribe({ next: (event) => events.push(event), error: reject, complete });
  });
}

function records(threadId, events) {
  return events.map((event) => ({ key: threadId, value: JSON.stringify(event), headers: {} }));
}

async function ask({ case: name }) {
  const threadId = randomUUID();
  const content = `I am Ann. My case is ${name}. Pay my refund.`;
  const messages = [{ id: "m-1", role: "user", content }];
  const empty = { state: {}, tools: [], context: [], forwardedProps: {} };
  const events = await run({ threadId, runId: randomUUID(), messages, ...empty });
  return { records: records(threadId, events) };
}

async function resume({ native: { body } }) {
  let events;
  try {
    events = await run(body);
  } catch (error) {
    return { records: [], end: "refused", result: null, problem: String(error) };
  }
  const result = events.flatMap(({ delta, content }) => delta ?? content ?? []);
  const asks = events.some(({ name }) => name === "on_interrupt");
  return { records: records(body.threadId, events), end: asks ? "asks" : "finished", result };
}

await serve({
  hello: async () => ({ versions: await versions("@ag-ui/mastra", "@mastra/core") }),
  ask,
  resume,
});
