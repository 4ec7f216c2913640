// A reporter for Vitest: what fails outside of tests, as [{path, said}] in JSON.
import { writeFileSync } from "node:fs";

// With --typecheck, tsc keeps what it knows in node_modules, where nothing can be written.
const UNWRITTEN = /^(?:error TS5033: .*(?:\n|$))+\s*$/;

export default class {
  onTestRunEnd(_, errors = []) {
    const own = errors.filter(({ message }) => !UNWRITTEN.test(message));
    const found = own.map(({ type = "Unhandled error", ...error }) => {
      const file = error.message?.match(/ worker for test files (\S+?)\.?$/)?.[1];
      const { stack, message = "" } = (file && error.cause) || error; // why it did not start
      return { path: error.VITEST_TEST_PATH ?? file, said: `${type}: ${stack || message}` };
    });
    writeFileSync("/tmp/errors.json", JSON.stringify(found));
  }

  onFinished(files, errors) { // before Vitest 3
    this.onTestRunEnd(files, errors);
  }
}
