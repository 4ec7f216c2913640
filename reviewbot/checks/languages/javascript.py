"""JavaScript and TypeScript: linters, the TypeScript compiler, and the tests of `npm test`."""

import re
from typing import Any

from msgspec.structs import replace

from reviewbot.checks.check import Check, Language, probe
from reviewbot.checks.compare_tests import MISSING_MODULE, NODE_INSTALL
from reviewbot.checks.evidence import Diagnostic, Report
from reviewbot.checks.readers import diagnostic, gnu_lines, json_of, optional, read_github, required
from reviewbot.sandbox.job import Completed

RUN = ("sh", "/reviewbot/reviewbot_npm.sh")
PROBES = ("npm.sh", "npm.mjs", "node.mjs", "order.cjs", "jest.cjs", "mocha.cjs", "vitest.mjs")
# A script that runs tests, itself or by one before or after it, with a runner, known here or not.
TEXT = r'"\s*:\s*"(?:[^"\\]|\\.){,2000}?'
TESTS = rf'"(?:test|unit)[\w:.-]*{TEXT}'
NAMED = (
    r"\b(?:jest|vitest|mocha|ava|borp|jasmine|karma|lab|qunit|tape?|uvu"
    r"|(?:[\w-]+-scripts|bun|craco|deno|react-app-rewired|tsdx) test)\b"
)
RUNNER = (
    r'(?:\bnode (?:-[^\s"]+ (?:[^\s"-][^\s"]* )?){,9}(?!-)[\w./-]*\btests?\b| --test[ "]'
    rf'|(?<![/=.]){NAMED}(?![/.-])|node_modules/[^\s"]*{NAMED})'
)
RUNS_TESTS = (
    rf'{TESTS}{RUNNER}|"([\w:.-]+){TEXT}{RUNNER}[\s\S]{{,9999}}{TESTS}[ :]\1[ "\\]'
    rf'|{TESTS}[ :]([\w:.-]+)[ "\\][\s\S]{{,9999}}"\2{TEXT}{RUNNER}'
)
# What these say depends on which packages are installed here.
UNRESOLVED = re.compile(r"(?:import|n|node)/no-(?:unresolved|missing-(?:import|require))")
# Rules of Biome that report no defects, and what it and oxlint call errors of syntax.
OF_STYLE, OF_SYNTAX = re.compile("lint/(?!correctness|security|suspicious)"), ("parse", "oxlint")
ENVIRONMENT = ("TS2307", "TS2688", "TS7016", "TS2792", "TS5033")
OURS = re.compile(r"Cannot find module '\.")
NO_PROGRAM = re.compile(rf"spawn (?P<module>{NAMED}|c8|nyc) ENOENT")  # as cross-env says it
CRASH = re.compile(rb"(?m)^(?:ESLint: \S+\s+|Error: )(\S+:\d+\n(?:.*\n){,4}?\w*Error: .+|.+)")
# Above its stack; with the place and the line above an error of syntax. ts-node says it below.
ERROR = re.compile(
    rb"(?m)(?:^(?!node:)\S+:\d+\n(?:.*\n){,4}?)?\b(?!TSE)\w{,60}Error\b.{,300}?:\s*.*"
    rb"|^No test.* found.*|Unrecognized option .*|(?<=TypeScript:\n).*"
)
TIME_OF_IMPORT = re.compile(r"\?cache=\d+[\w&=-]*")  # which Vite adds to names of files
LISTED = re.compile(r"^(?!/)[^\n:(]+\.[cm]?[jt]sx?$", re.MULTILINE)
# Of no file; or of a configuration that cannot be read, or extends one that is missing.
PROBLEM = re.compile(r"(?m)^(?:error )?((?:\S*tsconfig\S+: error TS(?:1...|5083|6053)|TS\d+): .*)")
# A test that fails with one of these at base tests something that the change adds.
MISSING_NAME = re.compile(
    r"is not a (?:function|constructor)|does not provide an export|Cannot find (?:module|package)"
    r"|: error TS2\d{3}: "
)


def read_eslint(completed: Completed) -> Report:
    """Read json-with-metadata. Raises ValueError with what ESLint says of its configuration."""
    if not completed.report and (crash := CRASH.search(completed.stderr)):
        raise ValueError(" ".join(crash[1].decode(errors="replace").split()))
    document = json_of(completed)
    kinds: dict[str, dict[str, Any]] = optional(document, "metadata.rulesMeta", {})
    found, unread = [], set()
    for result in required(document, "results", list):
        path = required(result, "filePath", str)
        for item in required(result, "messages", list):
            rule, message = optional(item, "ruleId", ""), required(item, "message", str)
            is_problem = kinds.get(rule, {}).get("type", "problem") == "problem"
            is_error = optional(item, "severity", 2) == 2
            if not rule and not optional(item, "fatal", False):  # "File ignored because …"
                unread.add(path)
            elif (is_problem or is_error) and not UNRESOLVED.fullmatch(rule):
                level = "error" if is_problem and is_error else "warning"
                line = optional(item, "line", 1)
                found.append(diagnostic(rule or "syntax-error", message, level, path, line))
    return Report(diagnostics=tuple(found), unread=frozenset(unread))


def read_annotations(completed: Completed) -> Report:
    """Read what Biome and oxlint print for GitHub. Raises ValueError."""

    def named(found: Diagnostic) -> Diagnostic:
        if found.rule in OF_SYNTAX:
            return replace(found, rule="syntax-error")
        return replace(found, severity="low") if OF_STYLE.match(found.rule) else found

    report = read_github(completed)
    return replace(report, diagnostics=tuple(map(named, report.diagnostics)))


def read_tsc(completed: Completed) -> Report:
    """Read errors, and the names of files that `--listFiles` prints."""
    text = completed.stdout.decode(errors="replace")
    problems = [said for said in PROBLEM.findall(text) if said[:6] not in ENVIRONMENT]
    own = (d for d in gnu_lines(text) if d.rule not in ENVIRONMENT or OURS.match(d.message))
    read = frozenset(LISTED.findall(text))
    return Report(diagnostics=tuple(own), read=read, problem=next(iter(problems), ""))


def read_tests(completed: Completed) -> Report:
    """Read what probes/reviewbot_npm.mjs reports. Raises ValueError with why there is none."""
    if not completed.report and (error := ERROR.search(completed.stderr)):
        said = " ".join(TIME_OF_IMPORT.sub("", error[0].decode(errors="replace")).split())
        missing = MISSING_MODULE.search(said) or NO_PROGRAM.search(said)
        said = f"{missing['module']} is missing{NODE_INSTALL}" if missing else said
        raise ValueError(said.removeprefix("Error: "))
    report: Report = json_of(completed, Report)
    return report


BIOME = Check(
    name="biome",
    kind="lint",
    globs=("*.js", "*.jsx", "*.mjs", "*.cjs", "*.ts", "*.tsx", "*.mts", "*.cts"),
    configured_by=("biome.json", "biome.jsonc"),
    command=(
        *("sh", "/reviewbot/reviewbot_annotate.sh"),
        *("biome lint --max-diagnostics=none --no-errors-on-unmatched", "--reporter=github"),
        "{files}",
    ),
    tool_files=probe("reviewbot_annotate.sh"),
    read=read_annotations,
    by_project="node",
    seconds=180,
    lookup=("biome", "--version"),
    install_hint="run npm ci, pnpm install or yarn (nodeLinker: node-modules), on Node.js >= 18.15",
)
OXLINT = replace(
    BIOME,
    name="oxlint",
    configured_by=(".oxlintrc.json", ".oxlintrc.jsonc", "oxlint.config.ts"),
    command=("sh", "/reviewbot/reviewbot_annotate.sh", "oxlint", "--format=github", "{files}"),
    lookup=("oxlint", "--version"),
)
ESLINT = replace(
    BIOME,
    name="eslint",
    configured_by=(
        *(f"eslint.config.{end}" for end in ("js", "mjs", "cjs", "ts", "mts", "cts")),
        *(f".eslintrc{end}" for end in (".js", ".cjs", ".yaml", ".yml", ".json", "")),
        'package.json "eslintConfig"',
    ),
    command=("sh", "/reviewbot/reviewbot_eslint.sh", "{files}"),
    tool_files=probe("reviewbot_eslint.sh"),
    read=read_eslint,
    report="eslint.json",
    distant_rules=("no-undef", "no-unused-vars", "@typescript-eslint/no-unused-vars"),
    lookup=("eslint", "--version"),
)
TSC = replace(
    BIOME,
    name="tsc",
    configured_by=("tsconfig.json",),
    command=("sh", "/reviewbot/reviewbot_tsc.sh"),
    tool_files=probe("reviewbot_tsc.sh"),
    read=read_tsc,
    exit_codes=(0, 1, 2),
    checks_types=True,
    lookup=("tsc", "--version"),
)
NPM_TEST = replace(
    BIOME,
    name="npm-test",
    kind="test",
    globs=("*",),  # any file may be read by a test
    configured_by=(f"package.json {RUNS_TESTS}",),
    command=(*RUN, "{ids}"),
    read=read_tests,
    report="npm.json",
    seconds=300,
    tool_files={name: text for each in PROBES for name, text in probe(f"reviewbot_{each}").items()},
    lookup=(*RUN, "--lookup"),
)
JAVASCRIPT = Language(
    name="javascript",
    checks=(ESLINT, BIOME, OXLINT, TSC, NPM_TEST),
    project_files=("package.json",),
    suite=NPM_TEST,
    test_path="reviewbot_reproduction.test.js",
    test_command=(*RUN, "reviewbot_reproduction.test.js"),
    is_missing_name=lambda message: MISSING_NAME.search(message) is not None,
)
TYPESCRIPT = replace(
    JAVASCRIPT,
    name="typescript",
    checks=(),
    test_path="reviewbot_reproduction.test.ts",
    test_command=(*RUN, "reviewbot_reproduction.test.ts"),
)
