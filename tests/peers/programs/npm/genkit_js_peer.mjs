// Genkit for JavaScript as a peer: its agent behind its own Express handler.
// The one argument says which agent: server, client or approval, as genkit_bank.mjs has them.

import { expressHandler } from "@genkit-ai/express";
import express from "express";
import { bankOf } from "./genkit_bank.mjs";
import { replyOf, Turns } from "./genkit_turns.mjs";
import { serve, versions } from "./talk.mjs";

const kind = process.argv[2] ?? "server";
const url = await listen(bankOf(kind));
const turns = new Turns(url, kind === "client" ? "client" : "server");

async function listen(agent) {
  const app = express().use(express.json({ limit: "10mb" }));
  app.post("/bank", expressHandler(agent));
  if (kind !== "client") app.post("/bank/getSnapshot", expressHandler(agent.getSnapshotDataAction));
  const server = await new Promise((resolve) => {
    const listening = app.listen(0, "127.0.0.1", () => resolve(listening));
  });
  return `http://127.0.0.1:${server.address().port}/bank`;
}

await serve({
  hello: async () => ({
    versions: await versions("genkit", "@genkit-ai/express", "@genkit-ai/middleware"),
  }),
  ask: async (request) => {
    const message = { role: "user", content: [{ text: request.case }] };
    const turn = await turns.run({ data: { message }, init: {} });
    if (turn.problem !== undefined) throw new Error(turn.problem);
    return { records: await turns.records(turn) };
  },
  resume: async ({ native }) => {
    const problem = await turns.refusal(native);
    if (problem !== undefined) return { records: [], end: "refused", result: null, problem };
    return replyOf(turns, await turns.run(native.body, native.headers));
  },
});
