// What @ag-ui/client makes of hand-made events, resumes, streams and deadlines, by their names.
// Its HttpAgent is the real one; the network is not: each answer is the stream of a case.

import { HttpAgent, isInterruptExpired } from "@ag-ui/client";
import { serve, versions } from "./talk.mjs";

const HEADERS = { "content-type": "text/event-stream" };

/** An agent that says what is in `says`, and keeps the body that left the client. */
class Scripted extends HttpAgent {
  says = [];
  sent = null;
  constructor() {
    const fetching = async (_url, { body }) => {
      this.sent = JSON.parse(body);
      const stream = this.says.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
      return new Response(stream, { headers: HEADERS });
    };
    super({ url: "http://agent.example/", threadId: "t-1", fetch: fetching });
  }
}

/** One run of the client over these events. */
async function play(agent, events, parameters = {}) {
  agent.says = events;
  agent.sent = null;
  try {
    await agent.runAgent(parameters);
    return { verdict: "accepted" };
  } catch (error) {
    return { verdict: "rejected", problem: String(error).replace(/\s+/g, " ").slice(0, 200) };
  }
}

const pending = (agent) => agent.pendingInterrupts.map(({ id }) => id);
const started = { type: "RUN_STARTED", threadId: "t-1", runId: "r-1" };
const asks = (interrupts) => ({
  ...{ type: "RUN_FINISHED", threadId: "t-1", runId: "r-1" },
  outcome: { type: "interrupt", interrupts },
});

async function runFinished({ event }) {
  const agent = new Scripted();
  const came = await play(agent, [started, event]);
  return { ...came, pending: pending(agent) };
}

async function resumed({ pending: interrupts, resume }) {
  const agent = new Scripted();
  if (interrupts.length > 0) await play(agent, [started, asks(interrupts)]);
  const success = { type: "RUN_FINISHED", threadId: "t-1", runId: "r-2" };
  const came = await play(agent, [{ ...started, runId: "r-2" }, success], { resume });
  if (agent.sent !== null) return { verdict: "sent", resume: agent.sent.resume ?? null };
  return { ...came, pending: pending(agent) };
}

/** A line for each stream: what came of it, and what is pending then. */
async function lived({ steps }) {
  const agent = new Scripted();
  const lines = [];
  let parameters = {};
  for (const step of steps) {
    if (!Array.isArray(step)) {
      parameters = step;
      continue;
    }
    const came = await play(agent, step, parameters);
    lines.push({ ...came, pending: pending(agent) });
    parameters = {};
  }
  return lines;
}

/** The instant that the client reads, on a host in this zone; null where it never expires. */
function expires(zone, expiresAt) {
  process.env.TZ = zone;
  const parsed = new Date(expiresAt);
  const late = new Date(8.64e15); // the last date there is
  const never = !isInterruptExpired({ id: "a", reason: "x", expiresAt }, late);
  return never ? null : parsed.toISOString();
}

const each = async (cases, judge) => {
  const found = {};
  for (const one of cases) found[one.name] = await judge(one);
  return found;
};

const zoned = (zone, texts) => texts.map((text) => ({ text, instant: expires(zone, text) }));

const judge = async ({ made }) => ({
  run_finished: await each(made.run_finished, runFinished),
  resumes: await each(made.resumes, resumed),
  lifecycles: await each(made.lifecycles, lived),
  expiries: {
    utc: zoned("UTC", made.expiries),
    new_york: zoned("America/New_York", made.expiries),
  },
});

await serve({
  hello: async () => ({ versions: await versions("@ag-ui/client", "@ag-ui/core") }),
  judge,
});
