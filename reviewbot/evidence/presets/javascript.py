"""JavaScript and TypeScript: ESLint and the TypeScript compiler where the project configures them, and its test script."""

from __future__ import annotations

from collections.abc import Mapping

from reviewbot.evidence.parsers import eslint, tap, tsc
from reviewbot.evidence.parsers.remark import Grade, Unreadable
from reviewbot.evidence.parsers.trial import Trial
from reviewbot.evidence.suites import Suite, by_exit_code
from reviewbot.evidence.tools import BREAKS, DANGER, DEFECT, FILES, SMELL, STYLE, Belief, Tool
from reviewbot.evidence.view import View
from reviewbot.ports import Outcome
from reviewbot.screen import strict_json

_SOURCES = ("*.js", "*.mjs", "*.cjs", "*.jsx", "*.ts", "*.mts", "*.cts", "*.tsx")
_TYPED = ("*.ts", "*.mts", "*.cts", "*.tsx")
_ESLINT_NAMES = (*(f"eslint.config.{end}" for end in ("js", "mjs", "cjs", "ts", "mts", "cts")), ".eslintrc", ".eslintrc.*")
_DEFECTS = (
    *("no-undef", "no-unreachable", "no-dupe-keys", "no-dupe-args", "no-const-assign", "no-func-assign", "no-self-assign"),
    *(
        "no-unsafe-finally",
        "no-unsafe-negation",
        "no-fallthrough",
        "no-cond-assign",
        "use-isnan",
        "valid-typeof",
        "getter-return",
    ),
    *("no-setter-return", "no-async-promise-executor", "no-compare-neg-zero", "no-loss-of-precision", "require-yield"),
    *("array-callback-return", "no-unused-private-class-members", "@typescript-eslint/no-floating-promises"),
    *("@typescript-eslint/no-misused-promises", "@typescript-eslint/await-thenable", "react-hooks/rules-of-hooks"),
)
_BELIEFS: Mapping[str, Belief] = {
    **dict.fromkeys(_DEFECTS, DEFECT),
    **dict.fromkeys(("no-eval", "no-implied-eval", "no-new-func", "security/"), DANGER),
}
_NOT_INSTALLED = frozenset({"TS2307", "TS2688", "TS7016", "TS2792"})
"""A module or its types cannot be found: this says more of the machine than of the change."""
_PLACEHOLDER = "no test specified"
_TAP_WORDS: Mapping[str, tuple[str, ...]] = {
    "mocha": ("--", "--reporter", "tap"),
    "vitest": ("--", "--reporter=tap-flat"),
    "ava": ("--", "--tap"),
}
"""What makes a runner write TAP, where the test script is that runner alone."""


def _uses_eslint(view: View) -> bool:
    return any(name.startswith((".eslintrc", "eslint.config.")) for name in view.names) or view.says(
        "package.json", b'"eslintConfig"'
    )


def test_script(view: View) -> str:
    """The project's test script; empty where it has none."""
    try:
        document = strict_json.loads(view.settings.get("package.json", b"{}"))
    except strict_json.InvalidJson:
        return ""
    scripts = document.get("scripts") if isinstance(document, dict) else None
    script = scripts.get("test", "") if isinstance(scripts, dict) else ""
    return "" if not isinstance(script, str) or _PLACEHOLDER in script else script


def suite_for(view: View) -> Suite:
    """The test script, asked for TAP where its runner is known."""
    script = test_script(view)
    words = script.split()
    lone = bool(words) and not set(script) & set("&|;")
    more = _TAP_WORDS.get(words[0], ()) if lone else ()
    return Suite(
        "npm-test",
        ("{tool:npm}", "test", "--silent", *more),
        _read,
        _SOURCES,
        wanted=lambda view: bool(test_script(view)),
        again=lambda _: ("npm", "test"),
        environment=(("CI", "true"), ("NODE_OPTIONS", "--test-reporter=tap")),
    )


def _read(outcome: Outcome, name: str) -> tuple[Trial, ...]:
    """TAP where it is that, else the exit code."""
    try:
        found = tap.read(outcome.stdout)
    except Unreadable:
        found = ()
    return found or by_exit_code(outcome, name)


ESLINT = Tool(
    "eslint",
    ("{tool:eslint}", "--format", "json", FILES),
    eslint.read,
    _SOURCES,
    configuration=(*_ESLINT_NAMES, "package.json"),
    wanted=_uses_eslint,
    beliefs=_BELIEFS,
    grades={Grade.NOTE: STYLE, Grade.WARNING: STYLE, Grade.ERROR: SMELL},
)
TSC = Tool(
    "tsc",
    ("{tool:tsc}", "--noEmit", "--pretty", "false", "-p", "."),
    tsc.read,
    _TYPED,
    configuration=("tsconfig.json", "tsconfig.*.json"),
    wanted=lambda view: "tsconfig.json" in view.names,
    codes=(0, 1, 2),
    grades={Grade.NOTE: STYLE, Grade.WARNING: SMELL, Grade.ERROR: BREAKS},
    silent=lambda remark: remark.rule in _NOT_INSTALLED,
)
