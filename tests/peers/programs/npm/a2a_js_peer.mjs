// @a2a-js/sdk as a peer: its JSON-RPC handler on Express, streamed where it asks.

import { randomUUID } from "node:crypto";
import { DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { jsonRpcHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import express from "express";
import { Refunds } from "./a2a_refunds.mjs";
import { serve, versions } from "./talk.mjs";

const ENDS = {
  TASK_STATE_COMPLETED: "finished",
  TASK_STATE_CANCELED: "cancelled",
  TASK_STATE_INPUT_REQUIRED: "asks",
};
const MODES = ["text/plain", "application/json"];
const url = await listen();
const asked = new Map(); // task to the message it waits with

async function listen() {
  const handler = new DefaultRequestHandler(card(), new InMemoryTaskStore(), new Refunds());
  const noAuthentication = UserBuilder.noAuthentication;
  const app = express();
  app.use(jsonRpcHandler({ requestHandler: handler, userBuilder: noAuthentication }));
  const server = await new Promise((resolve) => {
    const listening = app.listen(0, "127.0.0.1", () => resolve(listening));
  });
  return `http://127.0.0.1:${server.address().port}/`;
}

function card() {
  const interfaces = [{ url: "http://127.0.0.1", protocolBinding: "JSONRPC", tenant: "" }];
  return {
    name: "refunds",
    description: "Refunds orders.",
    version: "1",
    supportedInterfaces: interfaces.map((one) => ({ ...one, protocolVersion: "1.0" })),
    capabilities: { streaming: true, extensions: [] },
    defaultInputModes: MODES,
    defaultOutputModes: MODES,
    ...{ skills: [], securitySchemes: {}, securityRequirements: [], signatures: [] },
  };
}

async function post(body, headers = { "A2A-Version": "1.0" }) {
  const sent = new Headers(headers);
  sent.set("content-type", "application/json"); // a second one beside it would be refused
  const response = await fetch(url, { method: "POST", headers: sent, body: JSON.stringify(body) });
  return response.text();
}

function call(method, params) {
  return post({ jsonrpc: "2.0", id: randomUUID(), method, params });
}

/** A new task; its events as they are streamed, verbatim. */
async function ask(words) {
  const message = { messageId: randomUUID(), role: "ROLE_USER", parts: [{ text: words }] };
  const stream = await call("SendStreamingMessage", { message });
  const events = [...stream.matchAll(/^data: ?(.*)$/gm)].map((line) => line[1]);
  const statuses = events.map(JSON.parse).map(({ result }) => result?.statusUpdate);
  const last = statuses.findLast((update) => update !== undefined);
  if (last?.status.message === undefined) throw new Error(`it asks nothing: ${stream}`);
  asked.set(last.taskId, last.status.message.messageId);
  return { records: recordsOf(last.taskId, events) };
}

/** The command as it stands, then the task until it rests. */
async function resume({ body, headers }) {
  const response = await post(body, headers);
  const { error, result } = JSON.parse(response);
  const taskId = body.params.id ?? body.params.message.taskId;
  if (error !== undefined) {
    const records = recordsOf(taskId, [response]);
    return { records, end: "refused", result: null, problem: JSON.stringify(error) };
  }
  const bodies = [response];
  let task = result.task ?? result;
  while (isAtWork(task)) {
    bodies.push(await call("GetTask", { id: taskId }));
    task = JSON.parse(bodies.at(-1)).result;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const final = await call("GetTask", { id: taskId });
  asked.set(taskId, task.status.message?.messageId);
  const end = ENDS[task.status.state] ?? "refused";
  const records = recordsOf(taskId, [...bodies, final]);
  return { records, end, result: JSON.parse(final).result, problem: task.status.state };
}

/** Whether it may yet do something by itself; the question it was asked before counts as that. */
function isAtWork({ id, status }) {
  const isOpen = ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"].includes(status.state);
  const isOld = status.message !== undefined && status.message.messageId === asked.get(id);
  return isOpen || (isOld && status.state !== "TASK_STATE_CANCELED");
}

function recordsOf(key, values) {
  return values.map((value) => ({ key, value, headers: {} }));
}

await serve({
  hello: async () => ({ versions: await versions("@a2a-js/sdk", "express") }),
  ask: (request) => ask(request.case),
  resume: (request) => resume(request.native),
});
