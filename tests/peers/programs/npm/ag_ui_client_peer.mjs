// @ag-ui/client: the interrupted run and the one that goes on are both its `runAgent`, on one
// HttpAgent for each thread, so that its own checks meet our `resume` with its own pending list.
//
// The agent it talks to is played here, by a small server that asks for accounts and then says
// what it was given, and to whom, which it knows from the messages alone.

import { createServer } from "node:http";
import { once } from "node:events";
import { isDeepStrictEqual } from "node:util";
import { randomUUID } from "node:crypto";
import { HttpAgent } from "@ag-ui/client";
import { serve, versions } from "./talk.mjs";

const CASES = { one: [1], two: [2], again: [1, 1] }; // questions of each run
const SCHEMA = {
  type: "object",
  properties: { account: { type: "string" } },
  required: ["account"],
};

const plans = new Map(); // by thread: how many questions each further run asks
const agents = new Map(); // by thread: the client's agent, and what came off the wire
const inputs = new Map(); // by run: what the server was sent

/** The events of one run, for the input as it arrived. */
function* play(input) {
  const { threadId, runId, messages, resume = [] } = input;
  const { questions, deadline } = plans.get(threadId);
  yield { type: "RUN_STARTED", threadId, runId, protocolVersion: "1.0", input };
  const words = resume.map(({ status, payload }) =>
    status === "resolved" ? `paid to ${payload.account}` : "kept",
  );
  const name = messages.map(({ content }) => /I am (\w+)/.exec(content)?.[1]).find(Boolean);
  if (words.length > 0) yield* say(`${name}: ${words.join("; ")}`);
  const asked = questions.shift() ?? 0;
  const interrupts = Array.from({ length: asked }, (_, i) => question(`${runId}/${i}`));
  if (asked > 1 && deadline !== null) interrupts.at(-1).expiresAt = deadline;
  const outcome = asked > 0 ? { type: "interrupt", interrupts } : { type: "success" };
  yield { type: "RUN_FINISHED", threadId, runId, outcome };
}

function question(id) {
  const message = "Which account is it to be paid to?";
  return { id, reason: "input_required", message, responseSchema: SCHEMA };
}

function* say(delta) {
  const messageId = randomUUID();
  yield { type: "TEXT_MESSAGE_START", messageId, role: "assistant" };
  yield { type: "TEXT_MESSAGE_CONTENT", messageId, delta };
  yield { type: "TEXT_MESSAGE_END", messageId };
}

const server = createServer(async (request, response) => {
  const input = JSON.parse(Buffer.concat(await request.toArray()).toString());
  inputs.set(input.runId, input);
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of play(input)) response.write(`data: ${JSON.stringify(event)}\n\n`);
  response.end();
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const url = `http://127.0.0.1:${server.address().port}/`;

/** An agent of the client, and the texts of the responses that it has read. */
function client(threadId) {
  const responses = [];
  const fetching = async (...given) => {
    const response = await fetch(...given);
    const [read, kept] = response.body.tee();
    responses.push(new Response(kept).text());
    return new Response(read, response);
  };
  const message = { id: "m-1", role: "user", content: "I am Ann. Pay my refund." };
  const agent = new HttpAgent({ url, threadId, initialMessages: [message], fetch: fetching });
  return { agent, responses };
}

/** The events of the last run as records. */
async function records(threadId) {
  const text = await agents.get(threadId).responses.at(-1);
  const lines = text.split("\n").filter((line) => line.startsWith("data: "));
  return lines.map((line) => ({ key: threadId, value: line.slice("data: ".length), headers: {} }));
}

async function ask(request) {
  const threadId = randomUUID();
  const seconds = request.expires_in;
  const deadline = seconds === null ? null : new Date(Date.now() + seconds * 1000).toISOString();
  plans.set(threadId, { questions: [...CASES[request.case]], deadline });
  agents.set(threadId, client(threadId));
  await agents.get(threadId).agent.runAgent({ runId: randomUUID() });
  return { records: await records(threadId) };
}

/** Fails unless the client refuses what does not settle its list: its checks are at work. */
async function checkGuards(agent) {
  await refused(agent, [], "not addressed by resume");
  const expired = agent.pendingInterrupts.some(({ expiresAt }) => new Date(expiresAt) <= new Date());
  const payload = { account: "nobody" };
  const resume = agent.pendingInterrupts.map(({ id }) => {
    return { interruptId: id, status: "resolved", payload };
  });
  if (expired) await refused(agent, resume, "can no longer be answered");
}

async function refused(agent, resume, words) {
  const problem = await agent.runAgent({ resume }).then(() => "it ran", String);
  if (!problem.includes(words)) throw new Error(`the client's check is not at work: ${problem}`);
}

async function resume({ native }) {
  const { body } = native;
  const { agent } = agents.get(body.threadId);
  await checkGuards(agent);
  agent.setMessages(body.messages);
  agent.setState(body.state);
  let ran;
  try {
    ran = await agent.runAgent(body);
  } catch (error) {
    return { records: [], end: "refused", result: null, problem: String(error) };
  }
  if (!isDeepStrictEqual(inputs.get(body.runId), body)) {
    throw new Error("what the client sent is not the body that it was given");
  }
  const said = ran.newMessages.map(({ content }) => content);
  const end = agent.pendingInterrupts.length > 0 ? "asks" : "finished";
  return { records: await records(body.threadId), end, result: said };
}

await serve({
  hello: async () => ({ versions: await versions("@ag-ui/client", "@ag-ui/core") }),
  ask,
  resume,
});
