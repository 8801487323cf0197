// node validate.mjs FILE: prints what the AsyncAPI parser finds; 1 if an error is among it.
import { readFileSync } from "node:fs";
import { Parser } from "@asyncapi/parser";

const ERROR = 0;
const found = await new Parser().validate(readFileSync(process.argv[2], "utf8"));
for (const each of found) console.log(each.severity, each.code, each.message, each.path.join("."));
process.exitCode = found.some((each) => each.severity === ERROR) ? 1 : 0;
