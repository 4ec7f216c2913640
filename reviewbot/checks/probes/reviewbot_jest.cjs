// A reporter and a sequencer for Jest: test files run first that use what changes, and what came of
// each is written at once, as in the report of --json.
const { appendFileSync, statSync } = require("node:fs");
const { distancesOf, isOver, writeLeft } = require("./reviewbot_order.cjs");

module.exports = class {
  sort(tests) {
    const distance = distancesOf(tests.map(({ path }) => path));
    const rank = new Map(tests.map((test) => [test, [distance(test.path), -statSync(test.path).size]]));
    return [...tests].sort((a, b) => compare(rank.get(a), rank.get(b)));
  }

  cacheResults() {}

  // Only where it bails out, it ends early and still says which lines ran: that is with --bail, which
  // takes no number, and where one test failed. So nobody counts them until the time is over.
  onRunStart(all) {
    all.numFailedTests = NaN;
  }

  onTestResult(_, { testFilePath, failureMessage, testResults }, all) {
    const status = failureMessage ? "failed" : "passed";
    const found = { name: testFilePath, status, message: failureMessage ?? "" };
    const line = JSON.stringify({ ...found, assertionResults: testResults });
    appendFileSync("/tmp/results.jsonl", `${line}\n`);
    const left = all.numTotalTestSuites - all.testResults.length;
    writeLeft(left);
    if (left && isOver()) all.numFailedTests = Infinity;
  }
};

function compare(a, b) {
  return a[0] === b[0] ? a[1] - b[1] : a[0] - b[0];
}
