// A reporter for Mocha: a line for each test, at once. A hook that fails is a test, too. Tests of
// files that use what changes run first.
const { appendFileSync, writeFileSync } = require("node:fs");
const { distancesOf, isOver, writeLeft } = require("./reviewbot_order.cjs");

const RESULTS = "/tmp/results.json";

module.exports = function report(runner) {
  writeFileSync(RESULTS, "");
  const { suites = [] } = runner.suite ?? {};
  const distance = distancesOf(suites.flatMap(({ file }) => file ?? []));
  suites.sort((a, b) => distance(a.file) - distance(b.file) || 0);
  let ended = 0;
  const add = (outcome) => (test, error) => {
    const file = test.file ?? test.parent?.file;
    const said = error?.stack ?? error?.message;
    const line = JSON.stringify({ file, title: test.fullTitle(), outcome, said });
    appendFileSync(RESULTS, `${line}\n`);
  };
  runner.on("pass", add("passed"));
  runner.on("fail", add("failed"));
  runner.on("pending", add("skipped"));
  runner.on("test end", () => {
    ended += 1;
    writeLeft(runner.total - ended);
    if (isOver()) runner.abort();
  });
  runner.on("end", () => isOver() || writeLeft(0)); // with --bail, some are left as well
};
