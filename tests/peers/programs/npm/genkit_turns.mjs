// A Genkit agent that is served over HTTP, seen by the one who puts its turns on a topic and by
// the one who executes resume commands.

const RESULT = '{"result":';

/** One served agent: where it is, who keeps its state, and whether its turns are streamed. */
export class Turns {
  constructor(url, management) {
    this.url = url;
    this.management = management;
  }

  /** Runs a turn: its result as text, the chunks that came before it, or what went wrong. */
  async run(body, headers = {}) {
    const isStreamed = this.management === "client";
    const accept = isStreamed ? "text/event-stream" : "application/json";
    const response = await post(this.url, body, { ...headers, accept });
    const text = await response.text();
    if (!response.ok) return { chunks: [], problem: `HTTP ${response.status}: ${text}` };
    const events = isStreamed ? eventsOf(text) : [text];
    const end = events.at(-1);
    if (!end.startsWith(RESULT)) return { chunks: events.slice(0, -1), problem: end };
    return { chunks: events.slice(0, -1), output: end.slice(RESULT.length, -1) };
  }

  /** What a producer publishes of a turn: chunks, output, and its snapshot unless it failed. */
  async records({ chunks, output }) {
    if (output === undefined) return [];
    const { sessionId, snapshotId, error } = JSON.parse(output);
    const values = [...chunks, this.#wrapped("output", output)];
    if (snapshotId !== undefined && error === undefined) {
      values.push(this.#wrapped("snapshot", await this.#snapshot({ snapshotId })));
    }
    return values.map((value) => ({ key: sessionId, value, headers: {} }));
  }

  /** Why a command must not be sent: its session went on since. The docs' `check_leaf`. */
  async refusal({ notes, body }) {
    if (!notes.includes("check_leaf")) return undefined;
    const { sessionId, snapshotId } = body.init;
    const leaf = JSON.parse(await this.#snapshot({ sessionId }));
    if (leaf.snapshotId === snapshotId && leaf.finishReason === "interrupted") return undefined;
    if (leaf.parentId === snapshotId && leaf.status === "failed") return undefined;
    return `the session's leaf is ${leaf.snapshotId}, ${leaf.finishReason}`;
  }

  async #snapshot(lookup) {
    const response = await post(`${this.url}/getSnapshot`, { data: lookup });
    const text = await response.text();
    if (!response.ok) throw new Error(`getSnapshot: HTTP ${response.status}: ${text}`);
    return text.slice(RESULT.length, -1);
  }

  /** Built as text, so that what is inside stays as it came. */
  #wrapped(place, text) {
    const about = { protocol: "genkit", agent: "bank", runtime: "js" };
    const head = JSON.stringify({ ...about, stateManagement: this.management });
    return `${head.slice(0, -1)},"${place}":${text}}`;
  }
}

/** The run's reply to `resume`. */
export async function replyOf(turns, turn) {
  const records = await turns.records(turn);
  const { finishReason, message, error } = JSON.parse(turn.output ?? "{}");
  const problem = turn.problem ?? error?.message;
  if (problem !== undefined) return { records, end: "refused", result: null, problem };
  return { records, end: finishReason === "interrupted" ? "asks" : "finished", result: message };
}

function post(url, body, headers = {}) {
  const sent = new Headers(headers);
  sent.set("content-type", "application/json");
  return fetch(url, { method: "POST", headers: sent, body: JSON.stringify(body) });
}

function eventsOf(text) {
  return text.split("\n\n").filter(Boolean).map((event) => event.replace(/^data: /, ""));
}
