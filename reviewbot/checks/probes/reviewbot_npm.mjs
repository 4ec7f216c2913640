// Run the tests of a package, or one for a claim (`FILE`), and write what came of them to
// /out/npm.json: a Report of checks/evidence.py. With names of tests (`ID…`), Jest and Vitest run
// those of their files alone. Ends with 127 if the runner is not installed; with `--lookup`, it only
// looks for it.
// Of the first script called `test…` or `unit…` that has a runner which is known, the commands run
// that have one, and those before them that build. So do those of the scripts that it runs. If tests
// cannot be loaded, packages of the workspace are built that lack what they export, by themselves or by
// one above, and all run again.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import {
  cpSync, existsSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { outcomeOf } from "./reviewbot_node.mjs";

const began = Date.now();
const RESULTS = "/tmp/results.json";
const PARTS = "/tmp/results.jsonl"; // those of each test file, where a run ends early
const LEFT = "/tmp/left.json"; // see reviewbot_order.cjs
const CHANGED = "/reviewbot/changed.json";
const ERRORS = "/tmp/errors.json";
const COVERAGE = "/tmp/coverage";
const V8_COVERAGE = "/tmp/v8-coverage";
// It would write into node_modules.
const NYC = `nyc --cache-dir=/tmp/nyc --reporter=json --report-dir=${COVERAGE}`;
const REPORTER = "/reviewbot/reviewbot_node.mjs";
// Before Vitest 4, it loads what is not in the project from such a folder alone.
const VITEST_REPORTER = "/tmp/node_modules/reviewbot_vitest.mjs";
// Of the time that there is, this much is left to say what ran, and for what does not end by itself.
// It ends with 75 if a later run may say more.
const [TO_END, TO_READ, TRY_AGAIN] = [0.1, 0.03, 75];
const time = Number(process.env.REVIEWBOT_SECONDS) * 1000;
const endsAt = began + time - Math.max(TO_END * time, 2000);
const JEST = "/reviewbot/reviewbot_jest.cjs";
const MAX_LINES = 200; // of the last test of a file
const MAX_NAMES = 300; // in a command, which must not have more than 128 KB
const BUILDS = /\b(?:build|compile|generate|tsc|babel|rollup)\b/;
// Node.js takes its own options before the names of files alone. Lines are those of the sources.
const NODE_TEST = " --enable-source-maps --test"
  + ` --test-reporter=${REPORTER} --test-reporter-destination=${RESULTS}`;
// Where no options stand any more, or at the end.
const NO_OPTIONS =
  /(?<=\b(?:jest|test|vitest|mocha|borp)\b.*?)( (?:--|(?:\||\d?>\S*)(?=[^"']*$)) .*)?$/;
// A file of tests that is run as a program: the runner of Node.js may be told so.
const NODE_FILE =
  /(?<=\bnode)(?= (?:-\S+ (?:[^\s-]\S* )?)*(?!-)[\w./-]*\btests?\b[\w./-]*\.[cm]?[jt]s *(?:&|$))/g;
const NODE_REPORTERS = / --test-reporter(?:-destination)?[= ]\S+/g;
// What is before a command that runs other scripts, and their names.
const RUNS_SCRIPTS = /^((?:[^\s"']\S* )*?)(?:npm-run-all2?|run-[sp]|concurrently) (.+)$/;
// The same of one script, and what is added to it.
const RUNS_SCRIPT = new RegExp(
  /^((?:[^\s"']\S* )*?)(?:npm|pnpm|yarn|bun)(?: run(?:-script)?| -s| --silent)*/.source
  + / ([\w:.-]+)(?:(?: --|(?<!\bnpm .*)) (.+))?$/.source,
);
// What a package manager finds in node_modules/.bin, which is on PATH: its program may not be here.
// A version that is named, as in `npx jest@29`, is not downloaded: what is installed runs.
const STARTS_PROGRAM = new RegExp(
  /^((?:\w+=\S* |cross-env )*)(?:npx|npm exec(?: --)?|pnpm(?: exec)?|yarn(?: run| exec)?|run)/.source
  + /(?: -T| --top-level| --no-install| -y| --yes| -s| --silent)* (\w[\w.-]*)(?:@\S+)?/.source,
);
const VITEST = parseFloat(manifestOf("vitest")?.version); // a number such as 3.1: what it can do
const PROVIDERS = ["v8", "istanbul"].filter((name) => manifestOf(`@vitest/coverage-${name}`));
const JEST_VERSION = parseFloat(manifestOf("jest")?.version);
const OF_NODE = "-r|--require|--import|--loader|--experimental-loader|--conditions";
const EXPERIMENTS = "--experimental-[\\w-]+";
// By what their command has in it. RUNS_TESTS of languages/javascript.py knows the same. `needs`
// are options of a script that say how tests are read: a file that runs alone gets them as well.
const RUNNERS = {
  jest: {
    command: program("jest|[\\w-]+-scripts test"),
    options: [
      ...["--json", `--outputFile=${RESULTS}`, "--testLocationInResults", "--ci", "--forceExit"],
      JEST_VERSION >= 25 ? "--bail" : "--bail=0", // see reviewbot_jest.cjs; older ones do not count
      ...["--reporters=default", `--reporters=${JEST}`],
      ...(hasSequencer() ? [] : [`--testSequencer=${JEST}`]),
    ],
    coverage: [
      ...["--coverage", "--coverageReporters=json", `--coverageDirectory=${COVERAGE}`],
      ...ofChanged("--collectCoverageFrom"),
    ],
    file: [`--roots=${process.cwd()}`, "--coverage=false", "--runTestsByPath"],
    needs: optionsIn("-c|--config|--preset|--env|--testEnvironment"),
    read: ofSuites,
  },
  vitest: {
    command: program("vitest"),
    options: [
      ...["--run", "--reporter=json", `--outputFile=${RESULTS}`, `--reporter=${VITEST_REPORTER}`],
      ...(VITEST < 3 ? [] : ["--includeTaskLocation"]),
      // It would write into node_modules; with Vite 5, it writes beside the configuration.
      ...(VITEST < 3.1 || existsSync("node_modules/.vite-temp") ? [] : ["--configLoader=runner"]),
    ],
    // What configures another one may be the top of a workspace alone.
    coverage: PROVIDERS.length
      ? ["--coverage.enabled", "--coverage.reportOnFailure", "--coverage.reporter=json",
        ...(PROVIDERS[1] ? [] : [`--coverage.provider=${PROVIDERS[0]}`]),
        `--coverage.reportsDirectory=${COVERAGE}`, ...ofChanged("--coverage.include")]
      : [],
    without: / --coverage(?= |$)/g, // the first versions take it alone, without options of its own
    needs: optionsIn("--environment|--mode", "--globals"),
    read: ofSuites,
  },
  mocha: {
    command: program("mocha"),
    options: ["--reporter=/reviewbot/reviewbot_mocha.cjs", "--exit"],
    unit: "tests",
    isMeasuredByNode: true,
    needs: optionsIn(`${OF_NODE}|-u|--ui|--opts|--config|--package|--extension`, EXPERIMENTS),
    read: ofMocha,
  },
  node: {
    command: / --test(?= |$)/,
    without: NODE_REPORTERS,
    file: ["--test"],
    isMeasuredByNode: true,
    needs: optionsIn(OF_NODE, EXPERIMENTS),
    read: ofNode,
  },
  borp: {
    command: program("borp"),
    options: [`--reporter=${REPORTER}:${RESULTS}`],
    isMeasuredByNode: true,
    without: / (?:--coverage|--check-coverage|-C)(?= |$)/g, // it would measure instead of us
    needs: optionsIn("-P|--post-compile", "-T|--no-typescript|--expose-gc"),
    read: ofNode,
  },
};

const building = new Set(); // commands of scripts that build
const given = process.argv.slice(2);
const [file] = given.filter((each) => /^(?:--lookup|reviewbot_reproduction\..*)$/.test(each));
const again = file ? [] : [...new Set(given.map((id) => id.split("::")[0]))];
if (!file && !existsSync("package.json")) { // the package is new
  writeFileSync("/out/npm.json", "{}");
  process.exit();
}
const { scripts = {} } = readManifest(".");
const findScript = () => Object.keys(scripts)
  .sort((a, b) => (b === "test") - (a === "test"))
  .find((each) => /^(?:test|unit)/.test(each) && stepsOf(each).some(runnerOf));
const known = findScript();
if (!known) {
  for (const name in scripts) scripts[name] = `${scripts[name]}`.replace(NODE_FILE, " --test");
}
const script = known ?? findScript();
if ((!file || file === "--lookup") && !script) endWithoutRunner();
const steps = stepsOf(script);
const command = steps.find(runnerOf) ?? "node --test";
if (file === "--lookup") {
  const starter = command.split(" ").find((word) => !word.includes("="));
  const named = command.match(RUNNERS[runnerOf(command)].command)[0].trim().split(" ")[0];
  const programs = [starter, named].filter((each) => /^\w[\w.-]*$/.test(each));
  const isMissing = (each) => spawnSync(`command -v ${each}`, { shell: true }).status;
  process.exit(programs.some(isMissing) ? 127 : 0);
}
cpSync("/reviewbot/reviewbot_vitest.mjs", VITEST_REPORTER);
const outcomes = new Map(); // by id. Of a test that runs more than once, one that fails counts
const measured = Object.create(null); // how often each line ran, by path
let problem = "";
let code = 0; // with which it ends where nothing came of the tests
let isLate = false;
let isBuilt = false;
let failedBuild = ""; // of a package that tests use
runAll();
const built = new Set(); // folders
while (!isLate && (code === 1 || unloaded().length) && buildUsed(".", unloaded().flatMap(lackedBy))) {
  outcomes.clear();
  [problem, code] = ["", 0];
  runAll();
}
if (code || isLate) process.exit(isLate ? TRY_AGAIN : code);
if (!file && !known && !outcomes.size) endWithoutRunner();

function runAll() {
  const last = steps.findLastIndex(runnerOf);
  for (const step of new Set(file ? [command] : steps.slice(0, last + 1))) {
    if (runnerOf(step)) runTests(step);
    else if (BUILDS.test(step) || building.has(step)) {
      run(step);
      isBuilt = true;
    }
    if (code || isLate) return;
  }
}

function endWithoutRunner() {
  writeFileSync("/out/npm.json", "");
  console.error("Error: no script runs Jest, Vitest, Mocha, node:test or borp: run the tests as a"
    + " check of your own, see docs/checks.md, and set off: true for npm-test");
  process.exit(1);
}

/** Run a command of tests, or those in `file`, and write what came of all so far. */
function runTests(command) {
  const name = runnerOf(command);
  const { options = [], coverage = [], without = "", file: alone = [], read } = RUNNERS[name];
  const unit = RUNNERS[name].unit ?? "test files";
  for (const each of [RESULTS, PARTS, LEFT, ERRORS, COVERAGE, V8_COVERAGE]) {
    rmSync(each, { recursive: true, force: true });
  }
  const ofFile = () => [
    ...startOf(command, name),
    ...[...alone, file, ...options],
    ...(name === "vitest" ? withConfig(command) : name === "jest" ? matching(command) : []),
  ];
  const alike = (path) => name === "jest" ? path.replace(/[\\^$*+?()|[\]{}]/g, "\\$&") : path;
  const files = /jest|vitest/.test(name) ? again.map(alike) : [];
  const named = files.map((path) => `'${path.replaceAll("'", "'\\''")}'`);
  const added = ["", ...options, ...(again.length ? named : coverage)].join(" ");
  const rest = command.replace(without, "");
  const line = file ? ofFile().join(" ") : rest.replace(NO_OPTIONS, (_, end = "") => added + end);
  const { status } = run(name === "node" ? line.replace(/ --test(?= |$)/, NODE_TEST) : line, name);
  const { left, ended } = existsSync(LEFT) ? JSON.parse(readFileSync(LEFT)) : {};
  isLate = Date.now() >= endsAt && left !== 0 && (Boolean(left) || status === null);
  if (isLate) {
    problem ||= left > 0 ? `its time is over, and ${unit} did not run: ${left}`
      : "its time is over, and not all tests ran";
  }
  if (left && !isLate) rmSync(RESULTS, { force: true }); // something ended it
  if (isLate && !existsSync(RESULTS) && existsSync(PARTS)) {
    writeFileSync(RESULTS, `{"testResults":[${wholeLines(readFileSync(PARTS, "utf8"))}]}`);
  }
  if (!existsSync(RESULTS)) {
    if (isLate) return write();
    if (again.length) return; // the tests are those of another command
    if (!outcomes.size) {
      code = status === 127 ? 127 : 1;
      return;
    }
    problem ||= `left no results: ${command}`.slice(0, 200);
    return write();
  }
  const results = readFileSync(RESULTS, "utf8");
  // A project may ignore them.
  const errors = status && existsSync(ERRORS) ? JSON.parse(readFileSync(ERRORS, "utf8")) : [];
  const ofFiles = errors.map((each) => outcomeOf(each.path ?? "", [], each.outcome, each.said));
  const ofJest = name === "jest" && JSON.parse(results).runExecError;
  const unplaced = ofFiles.find(({ id }) => !id) ?? ofJest;
  problem ||= (unplaced?.message ?? "").slice(0, 200);
  if (existsSync(`${COVERAGE}/coverage-final.json`)) measureByIstanbul();
  if (existsSync(V8_COVERAGE)) measureByNode();
  for (const test of [...read(results), ...ofFiles]) {
    if (!test.id || (file && !test.id.startsWith(file))) continue;
    if (test.outcome === "skipped" && ended?.includes(test.location.path) === false) continue;
    const known = outcomes.get(test.id)?.outcome ?? "skipped";
    if (known === "skipped" || /failed|error/.test(test.outcome)) outcomes.set(test.id, test);
  }
  write();
}

function write() {
  const tests = [...outcomes.values()];
  // What was measured takes the place of what tests tell.
  const lines = Object.entries({ ...linesOf(tests), ...measured });
  const by = (choose) => Object.fromEntries(lines.map(([path, counts]) => [path, choose(counts)]));
  const statements = by((counts) => [...counts.keys()]);
  const executed = by((counts) => [...counts.keys()].filter((line) => counts.get(line) > 0));
  // JSON has no half of a character, which a test may print, or what is cut off leaves.
  const whole = (_, value) =>
    typeof value === "string" ? value.replace(/\p{Surrogate}/gu, "\uFFFD") : value;
  const why = problem || (unloaded().length ? failedBuild.slice(0, 200) : "");
  const report = { tests, statements, executed, problem: why };
  writeFileSync("/out/npm.json", JSON.stringify(report, whole));
}

/** The package.json of an installed package. */
function manifestOf(name) {
  const folder = folderOf(name);
  return folder && readManifest(folder);
}

/** Where a package is installed that a module in `folder` imports. */
function folderOf(name, folder = process.cwd()) {
  const folders = createRequire(`${folder}/`).resolve.paths(name) ?? []; // none for one of Node.js
  const found = folders.find((each) => existsSync(`${each}/${name}/package.json`));
  return found && `${found}/${name}`;
}

/** Build packages of the workspace that one depends on, or at these links, and before them those that
 * they depend on, where what they export is not there. Returns whether there are any. */
function buildUsed(folder, links = [], known = new Set()) {
  let isBuilt = false;
  const { dependencies, devDependencies, peerDependencies } = readManifest(folder);
  const used = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies });
  for (const link of [...used.map((name) => folderOf(name, realpathSync(folder))), ...links]) {
    const own = link && realpathSync(link);
    if (!own || /\/node_modules\//.test(own) || known.has(own)) continue;
    known.add(own);
    isBuilt = buildUsed(own, [], known) || isBuilt;
    const { main, module, exports } = readManifest(own);
    const isThere = (path) => ["", ".js", ".json"].some((end) => existsSync(join(own, path + end)));
    const isMissing = (path) => !path.includes("*") && !isThere(path);
    const cwd = textsIn([main, module, exports]).some(isMissing) && builderOf(own);
    if (cwd && !built.has(cwd)) {
      built.add(cwd);
      const env = { ...process.env, CI: "true", PATH: `${cwd}/node_modules/.bin:${process.env.PATH}` };
      const options = { cwd, env, shell: true, encoding: "utf8", maxBuffer: 2 ** 26 };
      const { status, signal, output } = spawnSync(readManifest(cwd).scripts.build, options);
      const ended = signal ?? `exit code ${status}`;
      const said = output?.join("\n").match(/\w*Error\b.*/)?.[0] ?? ended;
      if (status !== 0) failedBuild ||= `the build of ${relative(process.cwd(), cwd) || "."} fails: ${said}`;
      isBuilt = true;
    }
  }
  return isBuilt;
}

function unloaded() {
  return [...outcomes.values()].filter((test) => test.outcome === "error");
}

/** The nearest folder, from that of a package upwards, whose scripts build. */
function builderOf(folder) {
  if (existsSync(`${folder}/package.json`) && readManifest(folder).scripts?.build) return folder;
  return folder !== dirname(folder) && builderOf(dirname(folder));
}

/** Where packages are that a test which cannot be loaded may lack, as its message quotes them. */
function lackedBy({ message, location }) {
  const quoted = message.matchAll(/["'](?:[^"'\s]*\/node_modules\/)?((?:@[\w.-]+\/)?\w[\w.-]*)/g);
  return [...quoted].map(([, name]) => folderOf(name, resolve(dirname(location.path))));
}

function textsIn(value) {
  return typeof value === "string" ? [value] : Object.values(value ?? {}).flatMap(textsIn);
}

/** As npm reads it: a byte order mark does not count. */
function readManifest(folder) {
  try {
    return JSON.parse(readFileSync(`${folder}/package.json`, "utf8").replace(/^\uFEFF/, ""));
  } catch (error) {
    console.error(`Error: package.json cannot be read: ${error.message.split("\n")[0]}`);
    process.exit(process.argv[2] === "--lookup" ? 0 : 1); // it may run, and then says so
  }
}

/** The commands of a script, with those of the scripts that it runs. */
function stepsOf(script, above = []) {
  if (above.includes(script)) return [];
  const inner = (name) => stepsOf(name, [...above, script]);
  const steps = (scripts[script] ?? "").split(/\s*(?:&&|\|\||;)\s*/).filter(Boolean);
  const own = steps.flatMap((step) => {
    const [, around, all = ""] = step.match(RUNS_SCRIPTS) ?? [];
    const [, before = around, one = "", added] = step.match(RUNS_SCRIPT) ?? [];
    const names = all ? all.match(/[\w:.*-]+/g).flatMap(scriptsCalled) : scriptsCalled(one);
    const inside = names.flatMap(inner);
    const found = inside.map((each, index) => {
      const [, variables, rest] = each.match(/^((?:\w+=\S* )*)(.*)$/s);
      const isLast = !all && index === inside.length - 1;
      const command = [variables + before + rest, isLast && added].filter(Boolean).join(" ");
      if (BUILDS.test(step) || building.has(each)) building.add(command);
      return command;
    });
    return names.length ? found : step.replace(STARTS_PROGRAM, "$1$2");
  });
  return scripts[`pre${script}`] ? [...inner(`pre${script}`), ...own] : own;
}

/** Those that a name such as `npm:test:*` stands for. */
function scriptsCalled(name) {
  const pattern = name.replace(/^(?:npm|pnpm|yarn|bun):/, "").replaceAll(".", "\\.");
  const whole = new RegExp(`^${pattern.replace(/\*+/g, (stars) => stars[1] ? ".*" : "[^:]*")}$`);
  return Object.keys(scripts).filter((each) => whole.test(each));
}

function runnerOf(command) {
  return Object.keys(RUNNERS).find((each) => RUNNERS[each].command.test(command));
}

/** A pattern of a program, alone or in node_modules: paths may be called like it. */
function program(names) {
  const named = `\\b(?:${names})\\b`;
  return new RegExp(`(?<![/=.])${named}(?![/.-])|node_modules/\\S*${named}`);
}

/** A pattern of options with a value and of those without one, in a command. */
function optionsIn(names, flags = "--") {
  const value = `(?:=|\\s+)(?:"[^"]*"|'[^']*'|\\S+)`;
  return new RegExp(`(?<=\\s)(?:(?:${names})${value}|(?:${flags})(?!\\S))`, "g");
}

/** The variables that a command sets, its runner, and its options that one file needs as well. */
function startOf(command, name) {
  const { command: pattern, needs } = RUNNERS[name];
  const start = command.search(pattern);
  const [before, after] = [command.slice(0, start), command.slice(start)];
  const set = ` ${before} `.match(/(?<=\s)\w+=(?:"[^"]*"|'[^']*'|\S+)/g) ?? [];
  const ofNode = before.match(optionsIn(OF_NODE, EXPERIMENTS)) ?? [];
  const given = ofNode.join(" ").replace(/["']/g, "");
  if (given) set.push(`NODE_OPTIONS="$NODE_OPTIONS ${given}"`);
  return [...set, name, ...(after.match(needs) ?? [])];
}

/** Options to measure what is called like a changed file alone: to measure all may take long. They
 * are globs, and relative to a folder that a configuration chooses. */
function ofChanged(option) {
  const changed = existsSync(CHANGED) ? Object.keys(JSON.parse(readFileSync(CHANGED))) : [];
  const sources = changed.filter((path) => /\.(?:[cm]?[jt]sx?|vue|svelte)$/.test(path));
  const names = new Set(sources.map((path) => basename(path).replace(/[^\w.-]/g, "?")));
  return names.size > MAX_NAMES ? [] : [...names].map((name) => `${option}='**/${name}'`);
}

/** Whether Jest has no place for ours, or the project has an order of its own. */
function hasSequencer() {
  const isConfig = (each) => /^(?:package\.json|jest\.config\.\w+)$/.test(each);
  const configs = readdirSync(".").filter(isConfig).map((each) => readFileSync(each, "utf8"));
  return !(JEST_VERSION >= 25) || configs.some((text) => /testSequencer|--shard/.test(text));
}

/** The option with which old versions of Jest also take a file that is not called like a test. */
function matching(command) {
  if (JEST_VERSION >= 25) return [];
  const line = [...startOf(command, "jest"), "--showConfig"].join(" ");
  const { stdout } = spawnSync(line, { shell: true, encoding: "utf8" });
  const hasPattern = /"testRegex": (?:"[^"]|\[\s*")/.test(stdout);
  return [hasPattern ? `--testRegex=${file}` : `--testMatch="**/${file}"`];
}

/** Options for a configuration that collects our file too, where the project says what it does. */
function withConfig(command) {
  const isConfig = (each) => /^vite(?:st)?\.config\.[cm]?[jt]s$/.test(each);
  const own = command.match(/\s(?:-c|--config)(?:=|\s+)([^\s"']+)/)?.[1]
    ?? readdirSync(".").filter(isConfig).sort().at(-1); // Vitest's own comes first
  if (!own) return [];
  writeFileSync("reviewbot.vitest.config.mjs", `
    import { mergeConfig } from "vitest/config";
    import own from "./${own}";
    const given = await (typeof own === "function" ? own({ command: "serve", mode: "test" }) : own);
    export default mergeConfig(given, { test: { dir: ".", include: ["${file}"] } });
  `);
  return ["--config=reviewbot.vitest.config.mjs"];
}

function run(line, name) {
  const env = { ...process.env, CI: "true", REVIEWBOT_ENDS_AT: endsAt };
  if (RUNNERS[name]?.isMeasuredByNode && !file) env.NODE_V8_COVERAGE = V8_COVERAGE;
  // Jest and Vitest print where their results are: what a test of a claim prints is shown.
  const stdio = ["inherit", file && /jest|vitest/.test(name) ? 2 : "inherit", "inherit"];
  const left = Math.round(began + time - Math.max(TO_READ * time, 1000) - Date.now());
  const limited = { timeout: time ? Math.max(left, 1) : undefined, killSignal: "SIGKILL" };
  // What it measures has other lines, which Node.js maps to those of the sources.
  if (/\bnyc /.test(line)) env.NODE_OPTIONS = `${env.NODE_OPTIONS ?? ""} --enable-source-maps`;
  return spawnSync(line.replace(/\bnyc /, `${NYC} `), { env, shell: true, stdio, ...limited });
}

/** What Jest and Vitest write. A file that cannot be loaded has no tests. */
function ofSuites(text) {
  return JSON.parse(text).testResults.flatMap(({ name: path, status, message, assertionResults }) => {
    const results = assertionResults.map((test) => outcomeOf(
      path,
      [...test.ancestorTitles, test.title],
      { passed: "passed", failed: "failed" }[test.status] ?? "skipped",
      test.failureMessages?.join("\n"),
      test.location?.line,
    ));
    const hasFailed = status === "failed" || (message && !results.length); // as old Vitest says it
    const isLoaded = !hasFailed || results.some((test) => test.outcome === "failed");
    const said = message.replace(/^\s*● Test suite failed to run\s*/, "");
    return isLoaded ? results : [...results, outcomeOf(path, [], "error", said)];
  });
}

/** What reviewbot_mocha.cjs writes. */
function ofMocha(text) {
  return wholeLines(text).map((line) => JSON.parse(line)).map(({ file, title, outcome, said }) =>
    outcomeOf(file, [title], outcome, said));
}

/** What a reporter of ours writes. */
function ofNode(text) {
  return wholeLines(text).map((line) => JSON.parse(line));
}

/** The lines of what a runner that is stopped may have written in part. */
function wholeLines(text) {
  return text.slice(0, text.lastIndexOf("\n") + 1).split("\n").filter(Boolean);
}

/** The lines of a test go to the next one. Where it begins, Mocha does not say: on line 1. */
function linesOf(tests) {
  const found = Object.create(null);
  for (const path of new Set(tests.map((test) => test.location.path))) {
    const own = tests.filter((test) => test.location.path === path && test.location.line > 1);
    const starts = [...new Set(own.map((test) => test.location.line))].sort((a, b) => a - b);
    const ran = new Map();
    for (const [number, start] of starts.entries()) {
      const end = starts[number + 1] ?? start + MAX_LINES;
      const here = own.filter((test) => test.location.line === start);
      for (let line = start; line < end; line++) {
        ran.set(line, here.some((test) => test.outcome !== "skipped"));
      }
    }
    found[path] = ran;
  }
  return found;
}

/** As the innermost statement on each line says; see coverage.json of Istanbul. */
function measureByIstanbul() {
  const files = JSON.parse(readFileSync(`${COVERAGE}/coverage-final.json`, "utf8"));
  for (const [path, { statementMap, s }] of Object.entries(files)) {
    // Tests may run what was built of a file that none loads.
    if (isBuilt && !Object.values(s).some(Boolean)) continue;
    const counts = new Map();
    const size = ({ start, end }) => [end.line - start.line, end.column - start.column];
    const outerFirst = Object.entries(statementMap).sort(([, a], [, b]) =>
      size(b)[0] - size(a)[0] || size(b)[1] - size(a)[1]);
    for (const [id, { start, end }] of outerFirst) {
      for (let line = start.line; line <= end.line; line++) counts.set(line, s[id]);
    }
    measure(relative(".", path), counts);
  }
}

/** What each process of node counted in files that it read as they are; see NODE_V8_COVERAGE. */
function measureByNode() {
  for (const name of readdirSync(V8_COVERAGE)) {
    for (const { url, functions } of JSON.parse(readFileSync(`${V8_COVERAGE}/${name}`)).result) {
      const isOfTree = url.startsWith("file:") && !/node_modules/.test(url);
      const path = isOfTree && relative(".", fileURLToPath(url));
      if (!path || path.startsWith("..")) continue;
      const source = readFileSync(path, "utf8");
      const ranges = functions.flatMap((each) => each.ranges);
      ranges.sort((a, b) => b.endOffset - b.startOffset - (a.endOffset - a.startOffset));
      if (ranges[0]?.endOffset !== source.length) continue; // something transformed it
      const counts = new Map();
      let offset = 0;
      for (const [index, text] of source.split("\n").entries()) {
        const start = offset + text.search(/\S/);
        const end = offset + text.trimEnd().length;
        offset += text.length + 1;
        if (start < offset - text.length - 1 || /^\s*(?:\/[/*]|\*)/.test(text)) continue;
        const own = ranges.findLast((each) => each.startOffset <= start && end <= each.endOffset);
        counts.set(index + 1, own?.count ?? 0);
      }
      measure(path, counts);
    }
  }
}

/** The most that any process of any command counts stands. */
function measure(path, counts) {
  const known = (measured[path] ??= new Map());
  for (const [line, count] of counts) known.set(line, Math.max(known.get(line) ?? 0, count));
}
