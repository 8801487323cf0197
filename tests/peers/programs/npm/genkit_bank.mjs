// A bank's agent on Genkit for JavaScript: a scripted model, and tools that pause for people.

import { toolApproval } from "@genkit-ai/middleware";
import { genkit, InMemorySessionStore, z } from "genkit/beta";

const TRANSFER = { to: "payee-1 ✓", amount: 1e21, fee: 0.1 };

/**
 * `server`: the tool itself asks and is restarted, snapshots are in a store here.
 * `client`: an interrupt that takes a response; the caller keeps the state.
 * `approval`: ToolApproval holds a tool that would ask nothing.
 */
export function bankOf(kind) {
  const ai = genkit({});
  const gated = { server: transferThatAsks, client: askUser, approval: plainTransfer }[kind](ai);
  const limit = checkLimit(ai);
  return ai.defineAgent({
    name: "bank",
    model: scriptedModel(ai, gated.__action.name),
    tools: [gated, limit],
    store: kind === "client" ? undefined : new InMemorySessionStore(),
    use: kind === "approval" ? [toolApproval({ approved: [limit.__action.name] })] : undefined,
  });
}

const transferConfig = {
  name: "transferMoney",
  description: "Transfers money to a payee.",
  inputSchema: z.object({ to: z.string(), amount: z.number(), fee: z.number() }),
};

function transferThatAsks(ai) {
  return ai.defineTool(transferConfig, async (input, { interrupt, resumed }) => {
    if (!resumed) interrupt({ reason: `Transfer money to ${input.to}?` });
    if (!resumed.approved) return { status: "declined" };
    return { status: "sent", note: resumed.note };
  });
}

function plainTransfer(ai) {
  return ai.defineTool(transferConfig, async (input) => ({ status: "sent", paid: input.to }));
}

function askUser(ai) {
  return ai.defineInterrupt({
    name: "askUser",
    description: "Asks the person a question.",
    inputSchema: z.object({ question: z.string() }),
    outputSchema: z.object({ answer: z.string() }),
    requestMetadata: ({ question }) => ({ question }),
  });
}

/** Runs beside a question and gives a falsy output, which JavaScript takes for none. */
function checkLimit(ai) {
  const config = { name: "checkLimit", description: "What is left.", outputSchema: z.number() };
  return ai.defineTool({ ...config, inputSchema: z.object({}) }, async () => 0);
}

// --- The script -----------------------------------------------------------------------------------

/** Asks as often as the person's message says, then repeats what the tools gave. */
function scriptedModel(ai, tool) {
  return ai.defineModel({ name: "scripted/bank", supports: { tools: true } }, async (request) => {
    const content = nextContent(request.messages, tool);
    return { message: { role: "model", content }, finishReason: "stop" };
  });
}

function nextContent(messages, tool) {
  const last = messages.findLastIndex((message) => message.role === "user");
  const wanted = messages[last].content.map((part) => part.text).join("");
  const answered = messages.slice(last).filter((message) => message.role === "tool");
  const calls = { one: [1], two: [2], again: [1, 1] }[wanted][answered.length];
  if (calls === undefined) return [{ text: `The tools said ${JSON.stringify(outputsOf(answered))}` }];
  const requests = Array.from({ length: calls }, (_, at) => call(tool, `${answered.length}-${at}`));
  return calls > 1 ? [requests[0], call("checkLimit", "limit"), ...requests.slice(1)] : requests;
}

function call(name, ref) {
  const inputs = { transferMoney: TRANSFER, askUser: { question: "Which account?" }, checkLimit: {} };
  return { toolRequest: { name, ref: `call-${ref}`, input: inputs[name] } };
}

function outputsOf(toolMessages) {
  const parts = toolMessages.flatMap((message) => message.content);
  return parts.map((part) => part.toolResponse.output);
}
