// How a peer program on Node talks to the run: one JSON object a line in, one JSON line out.
// The run copies this file and the programs next to the installed packages, where they resolve.

import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";

const answer = process.stdout.write.bind(process.stdout);
// Libraries print what they like; the answers' stream is ours alone.
process.stdout.write = process.stderr.write.bind(process.stderr);

/** Versions of installed packages, as `hello` gives them; the first one is the peer itself. */
export async function versions(...packages) {
  const found = {};
  for (const name of packages) {
    const file = new URL(`./node_modules/${name}/package.json`, import.meta.url);
    found[name] = JSON.parse(await readFile(file, "utf8")).version;
  }
  return found;
}

/**
 * Answers requests in their order until the end of stdin, then ends the process.
 *
 * `operations` has an async function for each `op`. One that throws is answered with `error`, and
 * the process goes on.
 */
export async function serve(operations) {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() !== "") answer(`${JSON.stringify(await replyTo(line, operations))}\n`);
  }
  process.exit(0);
}

async function replyTo(line, operations) {
  try {
    const request = JSON.parse(line);
    const operation = operations[request.op];
    if (operation === undefined) throw new Error(`no operation ${request.op}`);
    return await operation(request);
  } catch (error) {
    console.error(error);
    return { error: `${error.name}: ${error.message}` };
  }
}
