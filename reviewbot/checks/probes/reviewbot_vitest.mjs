// A reporter for Vitest: what fails outside of tests, as [{path, outcome, said}] in JSON. Test files
// run first that use what changes. In time, it has what is known written, and the run ended.
import { writeFileSync } from "node:fs";
import order from "/reviewbot/reviewbot_order.cjs";

// With --typecheck, tsc keeps what it knows in node_modules, where nothing can be written.
const UNWRITTEN = /^(?:error TS5033: .*(?:\n|$))+\s*$/;

let count = 0; // of files that are to run, as far as it is known

export default class {
  onInit(vitest) {
    const { sequence } = vitest.config;
    sequence.sequencer = class extends sequence.sequencer {
      async sort(files) {
        const sorted = await super.sort(files);
        count += sorted.length;
        const distance = order.distancesOf(sorted.map(pathOf));
        return sorted.sort((a, b) => distance(pathOf(a)) - distance(pathOf(b)) || 0);
      }
    };
    this.timer = setTimeout(() => end(vitest), Math.min(order.endsAt - order.now(), 2 ** 31 - 1));
  }

  onTestRunEnd(_, errors = []) {
    clearTimeout(this.timer);
    const own = errors.filter(({ message }) => !UNWRITTEN.test(message));
    const found = own.map((error) => { // what an Error says is not listed among its fields
      const file = error.message?.match(/ worker for test files (\S+?)\.?$/)?.[1];
      const { stack, message = "" } = (file && error.cause) || error; // why it did not start
      const what = file ? "" : `${error.type ?? "Unhandled error"}: `;
      const outcome = file ? "error" : "failed"; // no test of it ran
      return { path: error.VITEST_TEST_PATH ?? file, outcome, said: what + (stack || message) };
    });
    writeFileSync("/tmp/errors.json", JSON.stringify(found));
  }

  onFinished(files, errors) { // before Vitest 3
    this.onTestRunEnd(files, errors);
  }
}

/** The path of a file that is to run: Vitest 4 says so, older ones have a list, the first a text. */
function pathOf(file) {
  return file.moduleId ?? (typeof file === "string" ? file : file[1]?.moduleId ?? file[1]);
}

async function end(vitest) {
  const files = vitest.state.getFiles();
  const hasEnded = ({ result, mode }) => /pass|fail|skip|todo/.test(result?.state ?? mode);
  const ended = files.filter(hasEnded).map(({ filepath }) => filepath);
  const left = count - ended.length;
  order.writeLeft(left > 0 ? left : "some", ended); // files whose types are checked come last
  writeFileSync("/tmp/results.jsonl", files.map((file) => `${JSON.stringify(describe(file))}\n`).join(""));
  await vitest.cancelCurrentRun?.("keyboard-input");
}

/** What came of a test file so far, as in the report in JSON. */
function describe(file) {
  const testsIn = ({ tasks = [] }, titles) => tasks.flatMap((each) =>
    each.type === "suite" ? testsIn(each, [...titles, each.name]) : testOf(each, titles));
  const testOf = ({ name, mode, result, location }, titles) => ({
    ancestorTitles: titles,
    title: name,
    status: { pass: "passed", fail: "failed" }[result?.state] ?? mode,
    failureMessages: result?.errors?.map((error) => error.stack || error.message),
    location,
  });
  const { state, errors } = file.result ?? {};
  const assertionResults = testsIn(file, [""]);
  return { name: file.filepath, status: state, message: errors?.[0]?.message ?? "", assertionResults };
}
