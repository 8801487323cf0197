// An agent on @a2a-js/sdk that asks before it pays. What it asks depends on a task's first message.
//
// A status has one message only, so two questions at once are items of that message, in the form
// that Strands gives them.

import { randomUUID } from "node:crypto";
import { Role, TaskState } from "@a2a-js/sdk";
import { AgentEvent } from "@a2a-js/sdk/server";

const WHERE = "Refund 50.0 EUR: to which account?";
const QUESTIONS = {
  one: [[text(WHERE)]],
  two: [[text(WHERE), data({ interrupts: ["int-1", "int-2"].map(item) })]],
  again: [[text(WHERE)], [text("Which reference shall it bear?")]],
};

export class Refunds {
  #waiting = new Map();

  async execute(context, bus) {
    const { taskId, contextId, userMessage } = context;
    bus.publish(AgentEvent.task(context.task ?? taskOf(context)));
    const refund = this.#waiting.get(taskId) ?? begun(userMessage);
    if (context.task !== undefined) refund.answers.push(...answersOf(userMessage));
    this.#waiting.set(taskId, refund);
    const next = refund.questions.shift();
    if (next === undefined) pay(refund, context, bus);
    else publish(bus, taskId, contextId, TaskState.TASK_STATE_INPUT_REQUIRED, next);
    bus.finished();
  }

  async cancelTask(taskId, bus) {
    const { contextId } = this.#waiting.get(taskId);
    this.#waiting.delete(taskId);
    publish(bus, taskId, contextId, TaskState.TASK_STATE_CANCELED);
    bus.finished();
  }
}

function begun(userMessage) {
  const questions = [...QUESTIONS[textOf(userMessage)]];
  return { questions, answers: [], contextId: userMessage.contextId };
}

function pay(refund, { taskId, contextId }, bus) {
  const parts = [text(`refunded to ${refund.answers.join(" and ")}`)];
  const artifact = { artifactId: randomUUID(), name: "receipt", description: "", parts };
  const rest = { metadata: undefined, append: false, lastChunk: true };
  const whole = { ...artifact, metadata: undefined, extensions: [] };
  bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact: whole, ...rest }));
  publish(bus, taskId, contextId, TaskState.TASK_STATE_COMPLETED);
}

function answersOf(userMessage) {
  const items = userMessage.parts.filter((part) => part.content.$case === "data");
  if (items.length === 0) return [textOf(userMessage)];
  return items.map((part) => part.content.value.interruptResponse.response);
}

function textOf(message) {
  const texts = message.parts.filter((part) => part.content.$case === "text");
  return texts.map((part) => part.content.value).join("");
}

// --- The protocol's own objects -------------------------------------------------------------------

function taskOf({ taskId, contextId, userMessage }) {
  const status = statusOf(TaskState.TASK_STATE_SUBMITTED);
  const rest = { artifacts: [], metadata: undefined };
  return { id: taskId, contextId, status, history: [userMessage], ...rest };
}

function publish(bus, taskId, contextId, state, parts) {
  const message = parts && {
    messageId: randomUUID(),
    ...{ taskId, contextId, parts, role: Role.ROLE_AGENT },
    ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
  };
  const status = statusOf(state, message);
  bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
}

function statusOf(state, message = undefined) {
  return { state, message, timestamp: new Date().toISOString() };
}

function text(value) {
  return part({ $case: "text", value });
}

function data(value) {
  return part({ $case: "data", value });
}

function part(content) {
  return { content, metadata: undefined, filename: "", mediaType: "" };
}

function item(interruptId) {
  return { interruptId, name: "account", reason: "Which?" };
}
