"""JavaScript and TypeScript: packages whose tests and linters run, and what their reports say."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
from base64 import b64encode
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import Project
from each import each
from test_proofs import run

from reviewbot.checks.languages import javascript
from reviewbot.checks.languages.javascript import (
    JAVASCRIPT,
    RUNS_TESTS,
    TYPESCRIPT,
    read_annotations,
    read_eslint,
    read_tests,
    read_tsc,
)
from reviewbot.checks.project import load_project
from reviewbot.checks.run import applies, job_of_test, read
from reviewbot.git.repository import Repository
from reviewbot.proofs.proof import Reproduction
from reviewbot.sandbox.job import Completed

needs_node = pytest.mark.skipif(not shutil.which("node"), reason="Node.js is not installed")

REPORTS = Path(__file__).with_name("data") / "reports" / "npm"
CART = """function total(prices) {
  return prices.reduce((sum, price) => sum + price, 0);
}

function mean(prices) {
  if (prices.length === 0) {
    return 0;
  }
  return total(prices) / prices.length;
}

module.exports = { total, mean };
"""
WRONG = CART.replace(", 0)", ", 1)")
# Stands for a tool in node_modules: what the tool wrote about this cart before and after the change
# is in the folder of reports.
RUNNER = """#!/bin/sh
[ -z "$NO_COLOR" ] || exit 1  # a test may print in colour
# What bails out writes no results, and Vitest 2 does not know these options.
case {0}" $* " in
"jest --bail "*" --bail=0 "*" -- test ") ;;
"jest "* | *" --configLoader="* | *" --includeTaskLocation "* | vitest*" --coverage "*) exit 1 ;;
# The package configures no provider of coverage, and the one that is installed is not the default.
*" --coverage.enabled "*) [ "${{*#* --coverage.provider=istanbul }}" != "$*" ] || exit 1 ;;
esac
side=base; ! grep -q ', 1)' cart.js || side=head
# Where it knows no change, it runs tests again, of the files that are named.
[ {0} = mocha ] || [ -e /reviewbot/changed.json ] || case "$*" in
*cart*test*) ;;
*) side=base ;;
esac
for word; do
    case $word in
    --outputFile=*) sed "s#/project#$PWD#g" reports/{0}-$side.json >"${{word##*=}}" ;;
    --reporter=*.cjs) node reports/events.cjs "${{word##*=}}" reports/mocha-$side.json ;;
    --report-dir=*) [ "$1$NODE_OPTIONS" = "--cache-dir=/tmp/nyc --enable-source-maps" ] || exit 1 ;;
    --collectCoverageFrom="**/cart.js")  # below a folder that the configuration chooses
        mkdir /tmp/coverage
        sed "s#/project#$PWD#g" reports/coverage.json >/tmp/coverage/coverage-final.json
        ;;
    --reporter=/tmp/node_modules/*) [ $side = base ] || node reports/errors.mjs ;;
    esac
done
exit 1
"""
ERRORS = """import Reporter from "/tmp/node_modules/reviewbot_vitest.mjs";
const stack = `TypeError: nobody waits\\n    at total (${process.cwd()}/cart.js:2:3)`;
const VITEST_TEST_PATH = `${process.cwd()}/vitest/cart.test.js`;
const file = `${process.cwd()}/x.test.js`;
const message = `[vitest-pool]: Failed to start it: worker for test files ${file}.`;
const error = { VITEST_TEST_PATH, type: "Unhandled Rejection", stack };
// What is checked with --typecheck is recorded in node_modules.
const unwritten = { type: "Typecheck Error", stack: "", message: "error TS5033: Not written.\\n" };
const cause = { message: "jsdom needs Node.js 22" };
new Reporter().onFinished([], [error, unwritten, Object.assign(Error(message), { cause })]);
"""
# Gives a reporter of Mocha the events of a recorded report.
EVENTS = """const { EventEmitter } = require("node:events");
const [, , reporter, report] = process.argv;
const text = require("node:fs").readFileSync(report, "utf8").replaceAll("/project", process.cwd());
const { passes, failures, pending } = JSON.parse(text);
const runner = Object.assign(new EventEmitter(), { total: 9 });
require(reporter)(runner);
runner.emit("test end"); // with --bail, others are left at the end
for (const [name, tests] of Object.entries({ pass: passes, fail: failures, pending })) {
  for (const { fullTitle, ...test } of tests) {
    runner.emit(name, { ...test, fullTitle: () => fullTitle }, test.err);
  }
}
runner.emit("end");
"""
BORP = """#!/bin/sh
# With -C, it would measure by itself.
[ "$1" != -C ] || exit 1
to=${2#--reporter=}
exec node --test --test-reporter="${to%:*}" --test-reporter-destination="${to#*:}" "$1"
"""
TSC = """#!/bin/sh
! grep -q off tsconfig.base.json || exit 0
[ "$*" = "--build --pretty false --listFiles" ] || exit 2
! grep -q '"' src/a.ts || echo "src/a.ts(1,14): error TS2322: Type 'string' is not a number."
echo "/usr/lib/lib.d.ts
$PWD/src/a.ts"
"""
# ESLint 4 knows no kinds of rules.
ESLINT = """#!/bin/sh
[ "$ESLINT_USE_FLAT_CONFIG" = false ] || [ "$1" = --version ] || exit 2
case $1 in
--version) echo v4.19.1 ;;
--format=json) sed "s#/project#$PWD#g" <<EOF
[{"filePath": "/project/src/b.ts", "messages": [{"ruleId": null, "message": "File\\\\nignored."}]}]
EOF
    ;;
*) echo "There was a problem loading formatter: $1" >&2 && exit 1 ;;
esac
"""

# An option, or a configuration that the change adds, makes it leave out the files that follow.
BIOME = """#!/bin/sh
[ ! -e src/biome.json ] || exit 0
case "$*" in
*" --skip.ts"*) exit ;;
*--reporter=github*)
    ! grep -q '"' src/a.ts || echo "::error title=lint/a11y/x,file=$PWD/src/a.ts,line=1::No text."
    ;;
*/a.ts*) printf '> 1 | // Checked 3 files.\nChecked 2 files in 1ms. No fixes applied.\n' ;;
*/b.ts) echo "Checked 0 files in 1ms. No fixes applied." ;;
*) echo "Checked 1 file in 1ms." ;;
esac
exit 1
"""


def add_tool(project: Project, folder: str, name: str, program: str) -> None:
    place = project.folder / folder / "node_modules/.bin" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(program)
    place.chmod(0o755)


@pytest.fixture
def packages(project: Project) -> Project:
    """A workspace with a package for each runner, and one that is compiled and linted."""
    project.variables = {name: os.environ[name] for name in ("HOME", "PATH")}
    files = {".gitignore": "node_modules\n", "package.json": '{"workspaces": ["*"]}'}
    for runner, script in {
        "jest": "eslint . && NODE_ENV=test jest --bail -- test | tee /dev/null",
        "vitest": "vitest --coverage",
        "mocha": "nyc mocha",
    }.items():
        add_tool(project, runner, "nyc" if runner == "mocha" else runner, RUNNER.format(runner))
        scripts = {
            "lint": "eslint",
            "test": "npm run lint && yarn unit:mocha",
            "unit:mocha": script,
        }
        files[f"{runner}/package.json"] = json.dumps({"scripts": scripts})
        files[f"{runner}/cart.js"] = CART
        for path in REPORTS.iterdir():
            # Vitest 0.34 says that a file passed which it cannot load.
            report = path.read_text().replace('[],"status":"failed"', '[],"status":"passed"')
            files[f"{runner}/reports/{path.name}"] = report
        files[f"{runner}/reports/errors.mjs"] = ERRORS
        files[f"{runner}/reports/events.cjs"] = EVENTS
    vitest = project.folder / "vitest/node_modules/vitest/package.json"
    vitest.parent.mkdir()
    vitest.write_text('{"version": "2.1.9"}')
    coverage = vitest.parents[1] / "@vitest/coverage-istanbul/package.json"
    coverage.parent.mkdir(parents=True)
    coverage.write_text("{}")
    files |= {"typed/package.json": "{}", "typed/src/a.ts": "export const a: number = 1;\n"}
    files |= {"typed/tsconfig.json": '{"references": []}', "typed/.eslintrc.json": "{}"}
    files |= {"typed/biome.json": "{}", "typed/tsconfig.base.json": "{}"}
    add_tool(project, "typed", "tsc", TSC)
    add_tool(project, "typed", "eslint", ESLINT)
    add_tool(project, "typed", "biome", BIOME)
    project.commit("Begin", files)
    return project


FAILED = {
    "npm-test jest jest/cart.js:2": "of two fails: Error: expect(received).toBe(expected)"
    " // Object.is equality Expected: 3 Received: 4",
    "npm-test jest jest/jest/broken.test.js:1": "jest/jest/broken.test.js cannot be loaded:"
    " Cannot find module './nowhere' from 'jest/broken.test.js'",
    "npm-test vitest vitest/cart.js:2": "of two and 1 more fail: AssertionError: expected 4 to be 3"
    " // Object.is equality",
    "npm-test vitest vitest/vitest/broken.test.js:1": "vitest/vitest/broken.test.js cannot be"
    " loaded: Cannot find module './nowhere' imported from vitest/broken.test.js",
    "npm-test vitest vitest/x.test.js:1": "vitest/x.test.js cannot be loaded:"
    " jsdom needs Node.js 22",
    "npm-test mocha mocha/cart.js:2": "total of two fails: AssertionError [ERR_ASSERTION]: 4 == 3",
    "npm-test mocha mocha/mocha/cart.js:1": 'with a hook "before all" hook for "never runs" fails:'
    " Error: no database",
    "biome typed typed/src/a.ts:1": "No text.",
    "tsc typed typed/src/a.ts:1": "Type 'string' is not a number.",
}


@needs_node
def test_each_package_is_checked_by_its_tools(packages: Project) -> None:
    change = {f"{name}/cart.js": WRONG for name in ("jest", "vitest", "mocha")}
    change["typed/src/a.ts"] = 'export const a: number = "1";\n'
    change |= dict.fromkeys(("typed/src/b.ts", "typed/--skip.ts"), "export const b = 1;\n")
    # No configuration of the change counts.
    configs = {"typed/src/biome.json": "{}", "typed/tsconfig.base.json": '{"strict": "off"}'}
    packages.commit("Change", change | configs)
    review = packages.review()
    assert {
        f"{f.result.check} {f.location}": f.title for f in review.findings if f.result
    } == FAILED
    (vitest,) = (f.result for f in review.findings if str(f.location) == "vitest/cart.js:2")
    assert vitest
    file = "vitest/vitest/cart.test.js"
    assert vitest.tests == (f"{file}::total::of two", file)  # that fails outside of its tests
    lines, gap, typed, jest = review.gaps
    assert lines.startswith("jest/cart.js was only scanned")
    assert jest.startswith("npm-test jest is incomplete: no workers (")
    assert gap.startswith("mocha/cart.js, vitest/cart.js were only scanned; no linter reads such")
    assert typed.startswith("typed/src/b.ts was only scanned; left out by eslint typed, and")
    coverage = {c.path: (c.executed, c.statements) for c in review.coverage}
    assert (coverage["jest/cart.js"], coverage["vitest/cart.js"]) == ((1, 1), (0, 0))


# Run two test files as the runners do, with what they are given of ours.
FILES = """#!/usr/bin/env node
const { resolve } = require("node:path");
const files = ["test/a.test.js", "test/z.test.js"].map((name) => resolve(name));
const valueOf = (name) => process.argv.findLast((each) => each.startsWith(name)).split("=")[1];
const isWrong = (file) => !/a.test/.test(file) && require(resolve("cart.js")).total([1]) !== 1;
"""
JEST_FILES = f"""{FILES}
const Ours = require(valueOf("--testSequencer="));
const all = {{ numTotalTestSuites: 2, numFailedTests: 0, testResults: [] }};
new Ours().onRunStart(all);
for (const {{ path }} of new Ours().sort(files.map((path) => ({{ path }})))) {{
  const failureMessage = isWrong(path) ? "Error: 2 is not 1" : null;
  const result = {{ ancestorTitles: [], title: "of one", failureMessages: [failureMessage] }};
  result.status = failureMessage ? "failed" : "passed";
  all.testResults.push(result);
  all.numFailedTests += result.status === "failed";
  new Ours().onTestResult(0, {{ testFilePath: path, failureMessage, testResults: [result] }}, all);
  if (process.argv.includes("--bail") && all.numFailedTests >= 1) break;
}}
"""
VITEST_FILES = f"""{FILES}
const resultOf = (path, status) => {{
  const test = {{ ancestorTitles: [], title: "of one", status, failureMessages: ["2 is not 1"] }};
  return {{ name: path, status, message: "", assertionResults: [test] }};
}};
import(valueOf("--reporter=")).then(async ({{ default: Ours }}) => {{
  const sequence = {{ sequencer: class {{ async sort(paths) {{ return paths; }} }} }};
  const state = {{ getFiles: () => [{{ filepath: first, result: {{ state: "fail" }} }}] }};
  const cancelCurrentRun = () => {{
    const ofFirst = resultOf(first, isWrong(first) ? "failed" : "passed");
    const text = JSON.stringify({{ testResults: [ofFirst, resultOf(other, "pending")] }});
    require("node:fs").writeFileSync(valueOf("--outputFile="), text);
  }};
  new Ours().onInit({{ config: {{ sequence }}, state, cancelCurrentRun }});
  const [first, other] = await new sequence.sequencer().sort(files);
}});
"""
MOCHA_FILES = f"""{FILES}
const runner = new (require("node:events").EventEmitter)();
Object.assign(runner, {{ suite: {{ suites: files.map((file) => ({{ file }})) }}, total: 2 }});
runner.abort = () => runner.suite.suites.splice(0);
require(valueOf("--reporter="))(runner);
while (runner.suite.suites.length) {{
  const {{ file }} = runner.suite.suites.shift();
  const test = {{ file, fullTitle: () => "of one" }};
  runner.emit(isWrong(file) ? "fail" : "pass", test, Error("2 is not 1"));
  runner.emit("test end", test);
}}
runner.emit("end");
"""


@needs_node
@pytest.mark.parametrize(
    ("runner", "program"), [("jest", JEST_FILES), ("vitest", VITEST_FILES), ("mocha", MOCHA_FILES)]
)
def test_what_ran_in_time_counts(
    runner: str, program: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that use what changes run first, also by another module."""
    monkeypatch.setitem(javascript.NPM_TEST.environment, "REVIEWBOT_SECONDS", "0")
    project.variables = {name: os.environ[name] for name in ("HOME", "PATH")}
    add_tool(project, "", runner, program)
    installed = project.folder / f"node_modules/{runner}/package.json"
    installed.parent.mkdir()
    installed.write_text('{"version": "29.7.0"}')
    files = {"cart.js": CART, "shop.js": 'export * from "./cart.js";\n', ".gitignore": "node_*"}
    files |= {"test/a.test.js": f"// import{' ' * 200_000}\n"}
    files |= {"test/z.test.js": 'import { total } from "../shop";\n'}
    files["package.json"] = json.dumps({"scripts": {"test": runner}})
    project.commit("Begin", files)
    many = {f"{'long' * 50}{number}.js": "" for number in range(600)}  # too many for a command
    project.commit("Change", {"cart.js": WRONG, **many})
    review = project.review()
    (finding,) = review.findings
    assert finding.result
    assert (str(finding.location), finding.result.kind) == ("cart.js:2", "broken_test")
    unit = "tests" if runner == "mocha" else "test files"
    assert review.gaps[-1] == (
        f"npm-test is incomplete: its time is over, and {unit} did not run: 1 (0 passed, 1 failed)"
    )
    assert all(check.seconds < 20 for check in review.checks)
    if runner == "mocha":  # once is enough: it runs again in the next review
        project.review()
        assert not any(event.was_recorded for event in project.events if event.name == "npm")


PACKAGE = {
    "package.json": '{"type": "module", "scripts": {"test": "node --test && eslint ."}}',
    "cart.js": "export const total = (prices) => prices.reduce((a, b) => a + b, 0);\n",
    "test/cart.test.js": """import assert from "node:assert";
import { before, describe, it, test } from "node:test";
import { total } from "../cart.js";

describe("total", () => {
  it("of two", () => assert.equal(total([1, 2]), 3));
  it("of none is a number", () => assert.equal(typeof total([]), "number"));
  it.skip("later", () => {}); describe.skip("never", () => { it("runs", () => {}); });
});

test("outer", async (t) => {
  await t.test("inner", () => assert.equal(total([1]), 1));
});
""",
}
# What is on its first line was on the third one before a tool rewrote it.
MAP = '{"version": 3, "sources": ["mapped.test.js"], "names": [], "mappings": "AAEA"}'
MAPPED = f"""import {{ it }} from "node:test"; it("is mapped", () => {{ throw Error("here"); }});
// There was
// more.
//# sourceMappingURL=data:application/json;base64,{b64encode(MAP.encode()).decode()}
"""
BROKEN = {
    "test/mapped.test.js": MAPPED,
    "cart.js": PACKAGE["cart.js"].replace(", 0)", ", 1)")
    + "\n// The first one.\nexport function first(prices) {\n  return prices[0];\n}\n",
    "test/broken.test.js": 'import "./nowhere.js";\n',
    "test/hook.test.js": """import { before, describe, it } from "node:test";

describe("with a hook", () => {
  before(() => {
    throw new Error("no database");
  });
  it("never runs", () => {});
});
""",
}


@pytest.fixture
def package(project: Project) -> Project:
    project.variables = {name: os.environ[name] for name in ("HOME", "PATH")}
    project.commit("Begin", PACKAGE)
    project.commit("Change", BROKEN)
    return project


@needs_node
def test_the_runner_of_node(package: Project) -> None:
    review = package.review()
    assert not [gap for gap in review.gaps if "npm-test" in gap]  # an outer test ran, by its part
    lines = {c.path: (c.executed, c.statements) for c in review.coverage if c.statements}
    expected = {"cart.js": (2, 4), "test/hook.test.js": (7, 7), "test/mapped.test.js": (1, 1)}
    assert lines == expected
    found = {f.title: str(f.location) for f in review.findings if f.result}
    assert found.pop(next(title for title in found if "nowhere" in title)) == (
        "test/broken.test.js:1"
    )
    assert found == {
        "of two and 1 more fail: AssertionError [ERR_ASSERTION]: 4 == 3": "cart.js:1",
        "is mapped fails: Error: here": "test/mapped.test.js:3",
        "with a hook fails: Error: no database": "test/hook.test.js:3",
        "never runs fails: test did not finish before its parent and was cancelled": (
            "test/hook.test.js:7"
        ),
    }


@needs_node
def test_packages_below_one_that_runs_no_tests(project: Project) -> None:
    """Also a package that is new, whose tests are new as well."""
    project.variables = {name: os.environ[name] for name in ("HOME", "PATH")}
    old, new = ({f"{name}/{path}": text for path, text in PACKAGE.items()} for name in "ab")
    top = '{"scripts": {"test": "npm --prefix a test"}}'
    project.commit("Begin", {"package.json": top} | old)
    wrong = {f"{name}/cart.js": BROKEN["cart.js"] for name in "ab"}
    project.commit("Change", new | wrong)
    review = project.review()
    texts = {check.check: check.text for check in review.checks if "npm-test" in check.check}
    assert texts == dict.fromkeys(("npm-test a", "npm-test b"), "1 passed, 2 failed, 2 skipped")
    assert {str(finding.location) for finding in review.reported} == {
        *("a/cart.js:1", "b/test/cart.test.js:6", "b/test/cart.test.js:12")
    }


@needs_node
def test_a_package_is_built_that_tests_of_another_one_import(project: Project) -> None:
    project.variables = {name: os.environ[name] for name in ("HOME", "PATH")}
    needs = {"type": "module", "dependencies": {"b": "*", "c": "*"}}
    needs["scripts"] = {"test": "node --test"}
    there = {"name": "c", "main": "./index", "scripts": {"build": "rm index.js"}}
    built = {"name": "b", "type": "module", "exports": {"./a": False}}
    built["exports"] |= {".": {"default": "./dist/index.js"}}
    built["scripts"] = {"build": "mkdir dist && cp index.js dist"}
    test = 'import test from "node:test"; import { one } from "b"; import "c"; import "@n/d";\n'
    test += 'test("one", () => one());\n'
    top = {"workspaces": ["*"], "scripts": {"build": "mkdir d/dist && echo >d/dist/index.js"}}
    files = {".gitignore": "node_modules\n", "package.json": json.dumps(top)}
    files |= {"d/package.json": '{"name": "@n/d", "main": "dist/index.js"}'}
    files |= {"a/test/package.json": '{"type": "module"}'}
    files |= {"a/package.json": json.dumps(needs), "a/test/a.test.js": test}
    files |= {"b/package.json": json.dumps(built), "b/index.js": "export const one = () => 1;\n"}
    files |= {"c/package.json": json.dumps(there), "c/index.js": ""}
    (project.folder / "a/node_modules").mkdir(parents=True)
    for name in ("b", "c"):
        (project.folder / "a/node_modules" / name).symlink_to(f"../../{name}")
    (project.folder / "a/test/node_modules/@n").mkdir(parents=True)
    (project.folder / "a/test/node_modules/@n/d").symlink_to("../../../../d")
    project.commit("Begin", files)
    project.commit("Break", {"b/index.js": "export const one = 1;\n"})
    assert [str(finding.location) for finding in project.review().reported] == ["b/index.js:1"]
    built["scripts"] = {"build": "echo 'TypeError: x is not a function' >&2; exit 1"}
    project.commit("Build with a newer Node.js", {"b/package.json": json.dumps(built)})
    said = "npm-test a is incomplete: the build of ../b fails: "
    (gap,) = (gap for gap in project.review().gaps if gap.startswith(said))
    assert gap.startswith(f"{said}TypeError: x is not a function")
    built["scripts"] = {"build": "kill -9 $$"}
    project.commit("Build with less memory", {"b/package.json": json.dumps(built)})
    (gap,) = (gap for gap in project.review().gaps if gap.startswith(said))
    assert gap.startswith(f"{said}SIGKILL")


@needs_node
def test_files_of_tests_that_two_edits_break_are_two_findings(project: Project) -> None:
    """With half of a character in the name of a test, and in what one says."""
    project.variables = {name: os.environ[name] for name in ("HOME", "PATH")}
    test = 'import test from "node:test"; import assert from "node:assert";\n'
    test += 'import { %s } from "../%s.js";\n'
    test += 'test("half \\ud83d", () => assert.equal(%s(), 1, "not \\ud83d"));\n'
    sources = {f"{name}.js": f"export const {name} = () => 1;\n" for name in ("add", "sum")}
    tests = {f"test/{n}.test.js": test % (s, s, s) for n, s in (("one", "add"), ("two", "sum"))}
    manifest = json.dumps({"type": "module", "scripts": {"test": "node --test"}})
    project.commit("Begin", {"package.json": manifest, **sources, **tests})
    project.commit("Break", {path: text.replace("1", "2") for path, text in sources.items()})
    found = {str(finding.location): finding.title for finding in project.review().reported}
    said = "half � fails: AssertionError [ERR_ASSERTION]: not �"
    assert found == {"add.js:1": said, "sum.js:1": said}


# One that a test ends.
MOCHA_ENDS = """#!/usr/bin/env node
const runner = Object.assign(new (require("node:events").EventEmitter)(), { total: 2 });
require(process.argv.find((each) => each.endsWith("_mocha.cjs")).split("=")[1])(runner);
const test = { file: "a.js", fullTitle: () => "exits" };
runner.emit("pass", test);
runner.emit("test end", test);
"""


@needs_node
def test_each_command_of_a_script_runs(project: Project) -> None:
    """One that fails counts, although another one passes the same test; so do lines of each."""
    project.variables = {name: os.environ[name] for name in ("HOME", "PATH")}
    file = "test/cart.test.js"
    commands = [f"yarn node --test --test-reporter=dot {file}", f"N=1 npx -y borp@^0.20 -C {file}"]
    add_tool(project, "", "borp", BORP)
    add_tool(project, "", "mocha", MOCHA_ENDS)
    scripts = {
        "test": " && ".join(["N=1 npm run -s both", "tsc -p a/jest", *commands, "run -T mocha"]),
        "both": "npm-run-all lint 'one:*'",
        "one:cart": f"npm run one -- {file}",
        "one": "NODE_OPTIONS=--no-warnings node --test",
        "preone:made": "npm run build",
        "build": "node make.js",
        "one:made": "yarn one test/made.test.js",
    }
    made = 'import { test } from "node:test"; import * as cart from "../cart.js";'
    made += ' test("last", cart.last);'
    last = "export const last = () => 1;\n"
    files = PACKAGE | {
        ".gitignore": "node_modules\n",
        "package.json": json.dumps({"type": "module", "scripts": scripts}),
        "make.js": f"import fs from 'fs';\nfs.writeFileSync('test/made.test.js', '{made}');\n",
    }
    project.commit("Begin", files | {"cart.js": PACKAGE["cart.js"] + last})
    wrong = PACKAGE["cart.js"].replace(", 0)", ", process.env.N ? 1 : 0)")
    project.commit("Change", {"cart.js": wrong + last.replace("1", "2")})
    review = project.review()
    assert [finding.title for finding in review.findings] == [
        "of two and 1 more fail: AssertionError [ERR_ASSERTION]: 4 == 3"
    ]
    assert {c.path: (c.executed, c.statements) for c in review.coverage} == {"cart.js": (2, 2)}
    assert review.gaps == (
        "cart.js was only scanned; npm-test is incomplete",
        "npm-test is incomplete: left no results: mocha (3 passed, 2 failed, 2 skipped)",
    )


@needs_node
def test_lines_of_a_file_with_a_name_that_objects_have_are_measured(project: Project) -> None:
    project.variables = {name: os.environ[name] for name in ("HOME", "PATH")}
    files = {"package.json": '{"scripts": {"test": "node --test"}}', "__proto__": "exports.one = 1"}
    test = """const { test } = require("node:test");
    test("one", () => require("assert").equal(require("./replace").one, 1));
    """
    uses = "exports.two = 2;\nmodule.exports = require('./__proto__');\n"
    project.commit("Begin", files | {"one.test.js": test, "replace": uses})
    less = uses.replace("exports.two = 2;\n", "")
    project.commit("Break", {"__proto__": "exports.one = 2", "replace": less})
    review = project.review()
    assert [finding.rule for finding in review.findings] == ["one.test.js::one"]
    # A file that loses lines alone has no changed ones, and what stands there ran.
    by = {entry.path: (entry.by, entry.executed, entry.statements) for entry in review.coverage}
    assert by == {"__proto__": (("npm-test",), 1, 1), "replace": (("npm-test",), 0, 0)}


@needs_node
def test_a_claim_is_tested(package: Project) -> None:
    head = "import assert from 'node:assert';\nimport test from 'node:test';\n"
    head += "import { total } from './cart.js';\n"
    sources = {
        "test('x', () => assert.equal(total([]), 0));": "proven",
        "test('x', () => assert.ok(total([])));": "refuted",
        "import { first } from './cart.js';\ntest('x', () => first([]).x);": "only_at_head",
        "import * as cart from './cart.js';\ntest('x', () => cart.first([]).x);": "only_at_head",
        "": "inconclusive",
    }
    make = partial(Reproduction, language="javascript", kind="test")
    tests = [make(source=head + source) for source in sources]
    proofs = dict(zip(sources, run(package, *tests, language=JAVASCRIPT), strict=True))
    assert {source: proof.result for source, proof in proofs.items()} == sources
    job = job_of_test(TYPESCRIPT, "source", "tree", "web")
    assert job.extra_files == {"web/reviewbot_reproduction.test.ts": "source"}
    assert (job.folder, job.command[-1]) == ("web", "reviewbot_reproduction.test.ts")
    assert TYPESCRIPT.is_missing_name("a.test.ts(1,7): error TS2339: Property 'x' does not exist")


CLAIM = Reproduction(language="javascript", source="// a test")
# What is called for the test of a claim, by what the script says.
CALLED = {
    "mocha -r esm --recursive test": "mocha -r esm FILE",
    "N=1 nyc mocha --require=./a.js 'test/**'": "N=1 mocha --require=./a.js FILE",
    "jest -c a.json --coverage --shard=1/2": (
        "jest -c a.json --roots=. --coverage=false --runTestsByPath FILE"
    ),
    "cross-env N=2 node -r a --experimental-vm-modules node_modules/.bin/jest --ci": (
        "N=2 -r a --experimental-vm-modules jest --roots=. --coverage=false --runTestsByPath FILE"
    ),
    "vitest --globals --mode ci src": "vitest --globals --mode ci FILE",
}


@needs_node
def test_a_test_of_a_claim_is_read_as_the_script_says(project: Project) -> None:
    project.variables = {name: os.environ[name] for name in ("HOME", "PATH")}
    words = r"""echo "${N:+N=$N} $NODE_OPTIONS ${0##*/} $*" | sed "s#$PWD#.#" >&2; exit 1"""
    for name in ("mocha", "jest", "vitest"):
        add_tool(project, "", name, f"#!/bin/sh\n{words}\n")
    (project.folder / "node_modules/jest").mkdir()
    (project.folder / "node_modules/jest/package.json").write_text('{"version": "29.7.0"}')
    project.commit("Begin", {".gitignore": "node_modules\n"})
    for script, called in CALLED.items():
        project.commit("Change", {"package.json": json.dumps({"scripts": {"test": script}})})
        (proof,) = run(project, CLAIM, language=JAVASCRIPT)
        printed = " ".join(proof.output.split())
        assert printed.startswith(called.replace("FILE", "reviewbot_reproduction.test.js"))
        assert ("--testSequencer" in printed) is ("jest" in script and "--shard" not in script)


# An old version: it runs only files that its patterns name.
JEST = """#!/bin/sh
case $* in
*--showConfig*) echo '{{"configs": [{{"testMatch": [], "testRegex": {}}}]}}' ;;
*{}*)
    echo "Test results written to: /tmp/results.json"
    cat >/tmp/results.json <<EOF
{{"testResults": [{{"name": "$PWD/reviewbot_reproduction.test.js", "status": "failed", "message":
  "", "assertionResults": [{{"title": "a", "ancestorTitles": [], "status": "failed",
  "failureMessages": ["Error: 1 is not 2"]}}]}}]}}
EOF
    ;;
*) echo "No tests found" ;;
esac
"""


@needs_node
def test_an_old_jest_runs_the_test_of_a_claim(project: Project) -> None:
    project.variables = {name: os.environ[name] for name in ("HOME", "PATH")}
    for pattern, option in (('"x/.*"', "testRegex="), ("[]", "testMatch=[*][*]/")):
        program = JEST.format(pattern, f"--{option}reviewbot_reproduction.test.js")
        add_tool(project, "", "jest", program)
        manifest = project.folder / "node_modules/jest/package.json"
        manifest.parent.mkdir(exist_ok=True)
        manifest.write_text('{"version": "22.4.4"}')
        files = {".gitignore": "node_modules\n", "cart.js": f"// {option}"}
        project.commit("Begin", {**files, "package.json": '{"scripts": {"test": "jest"}}'})
        (proof,) = run(project, CLAIM, language=JAVASCRIPT)
        assert (proof.head, proof.output) == ("fails", "Error: 1 is not 2")


@each(
    ("scripts", "runs"),
    [
        ({"test": "cross-env CI=1 vitest run --coverage"}, True),
        ({"test": "npm run lint", "test-ci": "nyc mocha"}, True),
        ({"test": "node --import tsx --test"}, True),
        ({"test": "npm run unit", "unit": "jest"}, True),
        ({"test": "tap"}, True),
        ({"test": "node t.js", "lint": "eslint --test-things"}, False),
        ({"test": "node --test-only x"}, False),
        ({"test": "npm run test-api", "test-api": "node --conditions dev test.js"}, True),
        ({"test": "node -r ./x.js scripts/run-tests.mjs"}, True),
        ({"spec": "mocha", "test": "npm-run-all lint spec"}, True),
        ({"test": "npm run lint && npm run spec", "lint": "eslint", "spec": "mocha"}, True),
        ({"test": 'concurrently "npm:spec" "npm:lint"', "spec": "node --test"}, True),
        ({"test": 'eslint "src/**" && jest'}, True),
        ({"test": "npm run lint", "lint": "eslint", "spec": "mocha"}, False),
        ({"build": "jest"}, False),
        ({"test": "turbo run test"}, False),
        # Of a path, only one of an installed program counts.
        ({"test:types": "tsc -p types/jest && tsc -p jest.json && x --env=jest"}, False),
        ({"test": "node ./node_modules/.bin/jest"}, True),
        ({"test": "ts-mocha"}, True),
        ({"test:report": "tap-mocha-reporter xunit"}, False),
        ({"test": "kcd-scripts test"}, True),
    ],
)
def test_which_packages_run_tests(scripts: dict[str, str], runs: bool) -> None:
    text = json.dumps({"scripts": scripts}, indent=2)
    assert bool(re.search(RUNS_TESTS, text)) is runs


@needs_node
def test_that_tests_of_another_runner_did_not_run_is_said(project: Project) -> None:
    project.variables = {name: os.environ[name] for name in ("HOME", "PATH")}
    (project.folder / "node_modules").mkdir()
    plain = {"scripts": {"test": "node -r ./cart.js test/all.js && true"}}  # asserts by itself
    tap = {"scripts": {"test": "tap", "test:report": "tap-mocha-reporter xunit < out.tap"}}
    for number, manifest in enumerate((tap, plain)):
        project.commit("Begin", {"package.json": json.dumps(manifest), "test/all.js": ""})
        project.commit("Add", {"cart.js": f"{CART}// {number}\n"})
        (gap,) = (gap for gap in project.review().gaps if "npm-test" in gap)
        assert gap.startswith(
            "npm-test is incomplete: no script runs Jest, Vitest, Mocha, node:test or borp: run"
        )


@needs_node
def test_a_file_of_tests_that_node_runs_as_a_program(project: Project) -> None:
    project.variables = {name: os.environ[name] for name in ("HOME", "PATH")}
    scripts: dict[str, object] = {"//": ["a comment"], "test": "npm run api"}
    scripts["api"] = "node --import ./names.mjs test/cart.test.mjs"
    files = {"cart.mjs": PACKAGE["cart.js"], "names.mjs": "export default 1;\n"}
    files["test/cart.test.mjs"] = PACKAGE["test/cart.test.js"].replace("cart.js", "cart.mjs")
    project.commit("Begin", {**files, "package.json": json.dumps({"scripts": scripts})})
    files["names.mjs"] = "// Names.\n" + files["names.mjs"]
    project.commit("Change", {**files, "cart.mjs": BROKEN["cart.js"]})
    review = project.review()
    (entry,) = (entry for entry in review.coverage if entry.path == "names.mjs")
    assert entry.next_step.startswith("no linter reads such files")  # it has no line to be tested
    (found,) = (f for f in review.findings if f.result and str(f.location) == "cart.mjs:1")
    assert found.title == "of two and 1 more fail: AssertionError [ERR_ASSERTION]: 4 == 3"
    assert not [gap for gap in review.gaps if "npm-test" in gap]


# It measures what is called like a changed file, and its tests load what is built.
BUILT_JEST = """#!/bin/sh
mkdir /tmp/coverage
cat >/tmp/coverage/coverage-final.json <<EOF
{"$PWD/cart.ts": {"statementMap": {"0": {"start": {"line": 1}, "end": {"line": 1}}}, "s": {"0": 0}}}
EOF
for word; do
    case $word in
    --outputFile=*) cat >"${word##*=}" <<EOF
{"testResults": [{"name": "$PWD/cart.test.js", "status": "passed", "message": "",
    "assertionResults": [{"ancestorTitles": [], "title": "one", "status": "passed"}]}]}
EOF
    esac
done
"""


@needs_node
@pytest.mark.parametrize("build", ["", "npm run build && "])
def test_lines_of_what_a_build_reads_are_not_known(project: Project, build: str) -> None:
    project.variables = {name: os.environ[name] for name in ("HOME", "PATH")}
    add_tool(project, "", "jest", BUILT_JEST)
    scripts = {"build": "cp cart.ts cart.js", "test": f"{build}jest"}
    files = {"package.json": json.dumps({"scripts": scripts}), ".gitignore": "node_modules\n"}
    project.commit("Begin", {**files, "cart.ts": "export const one = 1;\n"})
    project.commit("Change", {"cart.ts": "export const one = 2;\n"})
    review = project.review()
    assert [check.text for check in review.checks if check.check == "npm-test"] == ["1 passed"]
    (entry,) = review.coverage
    assert (entry.statements, entry.executed) == (0 if build else 1, 0)


@needs_node
def test_no_test_is_asked_for_where_tests_cannot_be_loaded(project: Project) -> None:
    project.variables = {name: os.environ[name] for name in ("HOME", "PATH")}
    broken = '{"name": "$PWD/a.test.js", "status": "failed", "message": "Too old",'
    broken += ' "assertionResults": []}, {"name"'
    add_tool(project, "", "jest", BUILT_JEST.replace('{"name"', broken))
    files = {"package.json": '{"scripts": {"test": "jest"}}', ".gitignore": "node_modules\n"}
    no_ruff = "checks: [{name: ruff, off: true}]\n"
    files |= {"test_it.py": "def test_it():\n    pass\n", ".reviewbot.yml": no_ruff}
    project.commit("Begin", {**files, "cart.ts": "export const one = 1;\n"})
    project.commit("Change", {"cart.ts": "export const one = 2;\n", "cart.py": "one = 2\n"})
    assert project.review().gaps == (
        "cart.py was only scanned; no test runs what changed in it: add one, or configure a model",
        "cart.ts was only scanned; npm-test is incomplete",
        "npm-test is incomplete: a.test.js cannot be loaded: Too old"
        " (1 passed, 1 failed before as well)",
    )


@needs_node
def test_two_edits_that_break_tests_of_one_file_are_two_findings(project: Project) -> None:
    """It is not known which lines each test of Node.js executes."""
    project.variables = {name: os.environ[name] for name in ("HOME", "PATH")}
    cart = "exports.half = (n) => n / 2;\n\n\n// Prices\n\n\nexports.twice = (n) => n * 2;\n"
    tests = "const [test, cart] = [require('node:test'), require('./cart.js')];\n"
    for call, value in {"half(4)": 2, "half(6)": 3, "twice(4)": 8}.items():
        tests += f"test('{call}', () => require('assert').equal(cart.{call}, {value}));\n"
    scripts = '{"scripts": {"test": "node --test"}}'
    project.commit("Begin", {"package.json": scripts, "cart.js": cart, "cart.test.js": tests})
    project.commit("Change", {"cart.js": cart.replace("n / 2", "n / 3").replace("n * 2", "n * 3")})
    found = {str(f.location): f.result for f in project.review().reported}
    assert {
        place: result and (len(result.tests), result.passes_without)
        for place, result in found.items()
    } == {"cart.js:1": (2, 2), "cart.js:7": (1, 1)}


@needs_node
def test_a_package_json_that_cannot_be_read_is_named(project: Project) -> None:
    project.variables = {name: os.environ[name] for name in ("HOME", "PATH")}
    text = PACKAGE["package.json"]
    project.commit("Begin", {**PACKAGE, "package.json": text[:-1]})
    project.commit("Mark its beginning", {"package.json": f"\ufeff{text}"})
    (gap,) = (gap for gap in project.review().gaps if "npm-test" in gap)
    before = "npm-test is incomplete before the change: package.json cannot be read: Expected"
    assert gap.startswith(before)


def test_an_old_node_is_as_none(project: Project) -> None:
    add_tool(project, "", "node", "#!/bin/sh\necho node: bad option: $1 >&2\nexit 9\n")
    biome = {"biome.json": "{}"}  # which is not there either
    project.commit("Begin", {**PACKAGE, ".gitignore": "node_modules\n", **biome})
    project.commit("Change", {"cart.js": BROKEN["cart.js"]})
    for _ in range(2):
        (gap,) = (gap for gap in project.review().gaps if "not installed" in gap)
        assert gap.startswith("biome was not run: not installed: run npm ci, pnpm install")
        how = "or yarn (nodeLinker: node-modules), on Node.js >= 18.15"
        assert gap.endswith(f"{how}; packages are missing for npm-test as well")
    assert not [event for event in project.events if event.name == "npm" and event.was_recorded]


@needs_node
def test_an_old_node_names_files_by_their_addresses(tmp_path: Path) -> None:
    reporter = Path(javascript.__file__).parents[1] / "probes/reviewbot_node.mjs"
    file = (tmp_path / "a.test.js").as_uri()
    test = {"type": "test:pass", "data": {"file": file, "name": "x", "nesting": 0, "details": {}}}
    program = f"""import report from {json.dumps(str(reporter))};
      for await (const line of report([{json.dumps(test)}])) console.log(line);"""
    command = ("node", "--input-type=module", "-e", program)
    said = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True).stdout
    assert json.loads(said)["location"]["path"] == "a.test.js"


STACK = """Error: no total
    at total (/project/cart.js:2:38)
    at /project/node_modules/runner/run.js:1:2
    at async file:///project/node_modules/runner/run.js:3:4
    at new Promise (<anonymous>)
    at process.processTicks (node:internal/process/task_queues:103:5)
caused by: nothing
"""


@needs_node
def test_frames_of_packages_and_of_node_are_not_shown() -> None:
    reporter = Path(javascript.__file__).parents[1] / "probes/reviewbot_node.mjs"
    program = f"""import {{ outcomeOf }} from {json.dumps(str(reporter))};
      console.log(outcomeOf("a.test.js", ["x"], "failed", {json.dumps(STACK)}).output);"""
    command = ("node", "--input-type=module", "-e", program)
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert said == "\n".join([*STACK.splitlines()[:2], "caused by: nothing\n"])


def message(rule: str | None, severity: int = 2, **others: Any) -> dict[str, Any]:
    return {"ruleId": rule, "severity": severity, "message": f"{rule}!", "line": 3, **others}


@each(
    ("found", "expected", "is_read"),
    [
        (message("no-undef"), ("no-undef", "medium"), True),
        (message("no-undef", 1), ("no-undef", "low"), True),
        (message("indent"), ("indent", "low"), True),
        (message("indent", 1), None, True),
        (message("of-a-plugin"), ("of-a-plugin", "medium"), True),
        (message(None, fatal=True), ("syntax-error", "medium"), True),
        (message("import/no-unresolved"), None, True),
        (message("n/no-missing-import"), None, True),
        (message(None, 1, fatal=False), None, False),
    ],
)
def test_what_eslint_says(
    found: dict[str, Any], expected: tuple[str, str] | None, is_read: bool
) -> None:
    kinds = {"no-undef": {"type": "problem"}, "indent": {"type": "layout"}}
    results = [{"filePath": "a.js", "messages": [found]}]
    document = {"results": results, "metadata": {"rulesMeta": kinds}}
    report = read_eslint(Completed(outcome="ended", report=json.dumps(document).encode()))
    assert [(d.rule, d.severity) for d in report.diagnostics] == ([expected] if expected else [])
    assert ("a.js" not in report.unread) is is_read


def test_what_biome_and_oxlint_say() -> None:
    biome, oxlint = (
        read_annotations(Completed(outcome="ended", exit_code=1, stdout=path.read_bytes()))
        for path in sorted((REPORTS.parent / "github").iterdir())
    )
    assert {d.rule.rpartition("/")[2] for d in biome.diagnostics if d.severity == "medium"} == {
        *("noDebugger", "noSelfCompare", "noDoubleEquals", "syntax-error")
    }
    assert {d.rule for d in oxlint.diagnostics if d.severity == "medium"} == {"syntax-error"}
    assert biome.unread == oxlint.unread == {"src/gen/b.ts"}


def test_where_tsc_reads_javascript(project: Project) -> None:
    """Where a configuration above it, or a comment in it, says so; else it does not run for it."""

    async def reads() -> bool:
        with Repository(project.folder) as repository:
            change = await repository.load_change("HEAD")
            found = await load_project(change, repository, JAVASCRIPT.checks)
            (tsc,) = (check for check in found.checks if check.name == "tsc")
            return applies(tsc, ["src/a.js"], found)

    of_others = {"lib/tsconfig.json": '{"checkJs": true}'}
    for config, text, is_read in (
        *(("{}", "", False), ('{"compilerOptions": {"checkJs": true}}', "", True)),
        *(("{}", "/* MIT */\n// @ts-check\n", True), ("{}", "// not @ts-check\n", False)),
        ('{\n    // "checkJs": true,   /* of JavaScript */\n}', "", False),
    ):
        project.commit("Begin", {"package.json": "{}", "tsconfig.json": config, **of_others})
        project.commit("Change", {"src/a.js": f"{text}export {{}};\n"})
        assert asyncio.run(reads()) == is_read, (config, text)
        project.git("rm", "-r", "--quiet", ".")


@each(
    ("text", "rules", "problem"),
    [
        ("a.ts(1,2): error TS2322: Type.", ["TS2322"], ""),
        ("a.ts(1,2): error TS2307: Cannot find module 'x'.", [], ""),
        ("a.ts(1,2): error TS2307: Cannot find module './x'.", ["TS2307"], ""),
        ("error TS5033: Could not write file 'node_modules/.tmp/x'.", [], ""),
        ("error TS18003: No inputs were found.", [], "TS18003: No inputs were found."),
        ("tsconfig.json(1,2): error TS6053: File 'x' not found.", ["TS6053"],
         "tsconfig.json(1,2): error TS6053: File 'x' not found."),
        ("tsconfig.json(1,2): error TS5101: Option 'x' is deprecated.", ["TS5101"], ""),
    ],
)  # fmt: skip
def test_what_tsc_says(text: str, rules: list[str], problem: str) -> None:
    """It came to its end if it lacks packages alone and names what it read."""
    (tsc,) = (check for check in JAVASCRIPT.checks if check.name == "tsc")
    for files, is_whole in (({"a.ts", "src/b.tsx", "c.mjs"}, True), (set[str](), False)):
        printed = "\n".join([text, *sorted(files), "/usr/lib/lib.d.ts\n"]).encode()
        completed = Completed(outcome="ended", exit_code=2, stdout=printed)
        report = read_tsc(completed)
        assert [d.rule for d in report.diagnostics] == rules
        assert (report.read, report.problem) == (files, problem)
        has_ended = not problem and (is_whole or bool(rules))
        assert read(tsc, "head", completed)[0] == ("ended" if has_ended else "incomplete")


@each(
    ("reader", "said", "reason"),
    [
        (read_tests, "\x1b[31mjest: bad option\n\n\x1b[39m\n", "^jest: bad option$"),
        (read_tests, "node:873\n\n! ERROR: Error [ERR_X]: Cannot find '/x.js'\n  at f\n{\n}\n",
         r"^Error \[ERR_X\]: Cannot find"),
        (read_tests, "Validation Error:\n\n  No preset x.\n\n  Docs\n", r"^No preset x\.$"),
        (read_tests, "a.js:1\nx = {\n    \n\nSyntaxError: Unexpected end\n    at f\n",
         "^a.js:1 x = { SyntaxError: Unexpected end$"),
        (read_tests, '● Unrecognized:\n\n  Unrecognized option "x".\n  See\n\n  jest.io\n',
         '^Unrecognized option "x".$'),
        (read_tests, "TSError: ! Unable to compile TypeScript:\na.ts(1,7): error TS2339: No x.\n\n",
         r"^a\.ts\(1,7\): error TS2339: No x\.$"),
        (read_tests, "Error: Cannot find module 'a/vite' imported from 'x.ts'\n",
         "^a is missing: install it with npm ci, pnpm install or yarn$"),
        (read_tests, 'Error: Failed to resolve import "@a/b" from "s.ts?cache=1". Is it there?\n',
         "^@a/b is missing: install it with"),
        (read_tests, 'Error: Failed to resolve import "./b" from "s.ts?cache=17&x-y=true".\n',
         '^Failed to resolve import "./b" from "s.ts".$'),
        (read_tests, "Error: spawn jest ENOENT\n    at f\n", "^jest is missing: install"),
        (read_tests, "Error: spawn docker ENOENT\n    at f\n", "^spawn docker ENOENT$"),
        (read_tests, "No tests found, so\nPattern: - 0 matches\n", "^No tests found, so$"),
        (read_eslint, "Oops! :(\n\nESLint: 9.1\n\na.js:12\nx\n\nSyntaxError: Bad\n    at f\n",
         "^a.js:12 x SyntaxError: Bad$"),
        (read_eslint, "Oops! :(\n\nESLint: 9.39.1\n\nIt has no plugin x.\n\nPlease chat.\n",
         r"^It has no plugin x\.$"),
        (read_eslint, "Oops.\nError: No formatter\nRequire stack:\n- /x.js\n", "^No formatter$"),
    ],
)  # fmt: skip
def test_without_a_report_there_is_a_reason(reader: Any, said: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        reader(Completed(outcome="ended", exit_code=1, stderr=said.encode()))
    with pytest.raises(ValueError, match=r"^it cannot be read$"):
        reader(Completed(outcome="ended", exit_code=1, stdout=b"it cannot be read\n"))
