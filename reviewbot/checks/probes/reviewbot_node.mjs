// A reporter for `node --test`: a line for each test, a TestOutcome of checks/evidence.py in JSON.
import { relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const COLOUR = /\x1b\[[\d;]*m/g;
// A line of a stack: `    at total (file:///project/cart.js:2:38)`.
const FRAME = /^\s+at (?:.*[( ])?((?:file:\/\/)?[^\s()]+?):(\d+):\d+\)?$/gm;
// Those of packages and of Node.js, which nobody needs to see.
const FOREIGN = /^\s+at (?:new Promise \(|(?:.*[( ])?(?:node:|\S*node_modules\/)).*\n?/gm;
// Where a message ends: a stack, of modules as well, or lines of code with their numbers.
const END = /^\s+at |^Require stack:|^\s*>? *\d+ \|/m;

/** The outcome of a test, or without names of a file. `said` is its error, mostly with a stack. */
export function outcomeOf(file, names, outcome, said = "", line = 1) {
  const path = relative(".", file);
  const text = said.replace(COLOUR, "").trim();
  const frames = [...text.matchAll(FRAME)]
    .filter(([, name]) => !/^node:|node_modules/.test(name))
    .map(([, name, at]) => place(pathOf(name), Number(at)));
  return {
    id: [path, ...names].join("::"),
    outcome,
    message: text.split(END)[0].split(/\s+/).join(" ").trim().slice(0, 500),
    output: text.replace(FOREIGN, "").slice(0, 4000).trimEnd(),
    location: place(file, line ?? 1),
    frames: frames.reverse(),
  };
}

function place(file, line) {
  return { path: relative(".", resolve(file)), line, end_line: line };
}

/** The path of a file that may be named by its address, as Node.js 18 does. */
function pathOf(name) {
  return name.startsWith("file:") ? fileURLToPath(name) : name;
}

export default async function* report(events) {
  const names = [];
  const printed = {};
  for await (const { type, data } of events) {
    if (data?.file) data.file = pathOf(data.file);
    if (type === "test:stderr") printed[data.file] = (printed[data.file] ?? "") + data.message;
    if (type === "test:start") names.splice(data.nesting, Infinity, data.name);
    const error = data?.details?.error;
    const isWhole = data?.details?.type === "suite" || error?.failureType === "subtestsFailed";
    const says = !isWhole || isHook(error) || data.skip !== undefined; // of a suite
    if ((type !== "test:pass" && type !== "test:fail") || !says) continue;
    const isFile = resolve(data.name) === data.file;
    const said = String(error?.cause?.stack ?? error?.cause ?? "");
    const outcome = data.skip !== undefined || data.todo !== undefined ? "skipped"
      : type === "test:pass" ? "passed" : isFile ? "error" : "failed";
    const test = isFile
      ? outcomeOf(data.file, [], outcome, reasonOf(printed[data.file]) || said)
      : outcomeOf(data.file, names.slice(0, data.nesting + 1), outcome, said, data.line);
    if (!isFile || outcome === "error") yield `${JSON.stringify(test)}\n`;
  }
}

function isHook(error) {
  return error?.failureType === "hookFailed";
}

/** What node prints of an error that ends it, from the line that names it. */
function reasonOf(printed = "") {
  return printed.slice(Math.max(printed.search(/^\w*Error\b.*:/m), 0));
}
