"""Runs pytest, and is the plugin that reports what happens line by line.

A run that is cut off keeps what it did. Each line of the report is a JSON object with a `type`:

    test        id, file, line, outcome (passed, failed, error, skipped), message, output, frames
    coverage    statements and executed: {path: [changed line]}; tests: {id: executed}
    finish      the session came to its end

Paths are relative to the folder in which it starts. Runs on Python 3.8 and later.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Generator
from typing import Any

import pytest

REPORT = "/out/pytest.jsonl"
# {path: [changed line]}: tests of these files run first, and their lines are measured.
CHANGED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "changed.json")
TREE = os.path.realpath(os.getcwd())
MAX_MESSAGE, MAX_OUTPUT, MAX_FRAMES = 500, 4_000, 40
FRAME = re.compile(r"^(\S[^:\n]*):(\d+): ", re.MULTILINE)
USAGE_ERROR = 4
# To tell which of more tests executed a line would take longer than the tests.
MAX_TOLD_APART = 5_000
OPENED: list[int] = []


def main(arguments: list[str]) -> int:
    """Run pytest with the project's options, or without them if they do not work here.

    Options of the project may need plugins that are not installed, or start workers that report
    nothing.
    """
    command = [sys.executable, "-m", "pytest", "-p", "reviewbot_pytest", "-p", "no:cacheprovider"]
    command += ["-q", "--continue-on-collection-errors"]
    code = 0
    for options in (
        ["-p", "no:xdist", "-p", "no:cov", "-p", "no:randomly", "-p", "no:rerunfailures"],
        ["-o", "addopts="],
    ):
        code = subprocess.call(command + options + arguments)
        if code != USAGE_ERROR or os.path.getsize(REPORT):
            break
    return code


def pytest_configure(config: Any) -> None:
    changed: dict[str, list[int]] = {}
    if os.path.exists(CHANGED):
        with open(CHANGED, encoding="utf-8") as file:
            changed = json.load(file)
    config.pluginmanager.register(Reporter(changed), "reviewbot-reporter")


def write(kind: str, **fields: Any) -> None:
    line = json.dumps(dict(fields, type=kind)).replace("\\u0000", "\\ufffd") + "\n"
    if not OPENED:
        OPENED.append(os.open(REPORT, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC))
    os.write(OPENED[0], line.encode("ascii"))


class Measure:
    """Which changed lines run, test by test."""

    def __init__(self, lines: dict[str, list[int]]) -> None:
        self.lines = {p: frozenset(lines[p]) for p in lines if p.endswith(".py") and lines[p]}
        self.coverage: Any = self.start() if self.lines else None

    def start(self) -> Any:
        coverage = find_coverage()
        if coverage is None:
            return None
        # coverage takes file names for patterns.
        files = [os.path.join(TREE, re.sub(r"[*\[\]]", "?", path)) for path in self.lines]
        tracer = coverage.Coverage(data_file=None, config_file=False, include=files)
        tracer._warn_no_data = tracer._warn_unimported_source = False
        tracer.start()
        return tracer

    def enter(self, name: str) -> None:
        if self.coverage:
            self.coverage.switch_context(name)

    def executed(self) -> dict[str, dict[str, list[int]]]:
        """Changed lines by path and test; "" stands for imports."""
        found: dict[str, dict[str, list[int]]] = {}
        data = self.coverage.get_data()
        for path, statements in self.statements().items():
            contexts = data.contexts_by_lineno(os.path.join(TREE, path))
            for line in sorted(set(statements) & set(contexts)):
                for name in contexts[line]:
                    found.setdefault(name, {}).setdefault(path, []).append(line)
        return found

    def statements(self) -> dict[str, list[int]]:
        """Changed lines that can be executed, by path."""
        found = {}
        for path, changed in self.lines.items():
            try:
                _, statements, _, _, _ = self.coverage.analysis2(os.path.join(TREE, path))
            except Exception:  # the file cannot be parsed, or is not there
                continue
            lines = sorted(changed & set(statements))
            if lines:
                found[path] = lines
        return found


def find_coverage() -> Any:
    """The project's own coverage, or the one that comes with reviewbot. Only the package itself is
    taken from there: the project must not see other packages of reviewbot."""
    os.environ.setdefault("COVERAGE_CORE", "ctrace")
    try:
        import coverage

        return coverage
    except ImportError:
        pass
    import importlib.util

    folder = os.path.join(os.environ.get("REVIEWBOT_PACKAGES", ""), "coverage")
    spec: Any = importlib.util.spec_from_file_location(
        "coverage", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    try:
        module = importlib.util.module_from_spec(spec)
        sys.modules["coverage"] = module
        spec.loader.exec_module(module)
    except (ImportError, OSError, SyntaxError):
        sys.modules.pop("coverage", None)
        return None
    return module


class Reporter:
    """What pytest calls."""

    def __init__(self, changed: dict[str, list[int]]) -> None:
        self.changed = set(changed)
        self.measure = Measure(changed)
        self.outcomes: dict[str, dict[str, Any] | None] = {}
        self.ids: dict[str, str] = {}
        self.is_told_apart = True
        self.trace: Any = None

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Tests of the change come first: time may run out."""
        rank: dict[Any, int] = {}
        for item in items:
            module = getattr(item, "module", None)
            if module not in rank:
                rank[module] = 0 if module and self.is_affected(module) else 1
        items.sort(key=lambda item: rank[getattr(item, "module", None)])
        self.is_told_apart = len(items) <= MAX_TOLD_APART

    def is_affected(self, module: Any) -> bool:
        """Whether a test module is changed, or has a name from a changed module."""
        files = {relative(getattr(module, "__file__", None) or "")}
        for value in list(vars(module).values()):
            owner = value if hasattr(value, "__file__") else None
            if owner is None:
                owner = sys.modules.get(str(getattr(value, "__module__", "")))
            files.add(relative(getattr(owner, "__file__", None) or ""))
        return bool(files & self.changed)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        if self.is_told_apart:
            self.measure.enter(nodeid)
        self.outcomes[nodeid] = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, call: Any) -> None:
        self.trace = call.excinfo.tb if call.excinfo else None

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.failed or (report.when == "setup" and report.skipped):
            self.outcomes[report.nodeid] = self.describe(report)
        if report.when == "teardown":
            if self.is_told_apart:
                self.measure.enter("")
            outcome = self.outcomes.pop(report.nodeid, None)
            if outcome:
                self.ids[report.nodeid] = outcome["id"]
                write("test", **outcome)

    def describe(self, report: Any) -> dict[str, Any]:
        path = relative(report.fspath)
        crashed = getattr(report.longrepr, "reprcrash", None)
        outcome = report.outcome
        if report.failed and report.when != "call":
            outcome = "error"
        return {
            "id": path + "::" + report.nodeid.partition("::")[2],
            "file": path,
            "line": (report.location[1] or 0) + 1,
            "outcome": outcome,
            "message": first_line(crashed.message if crashed else report.longreprtext)
            if report.failed
            else "",
            "output": report.longreprtext[-MAX_OUTPUT:] if report.failed else "",
            "frames": frames_of(self.trace) if report.failed else [],
        }

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            text = report.longreprtext
            lines = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
            places = [(relative(path), int(line)) for path, line in FRAME.findall(text)]
            write(
                "test",
                id=relative(report.fspath),
                file=relative(report.fspath),
                line=1,
                outcome="error",
                message=first_line(lines[-1] if lines else text.strip().rpartition("\n")[2]),
                output=text[-MAX_OUTPUT:],
                frames=[place for place in places if not place[0].startswith("..")][-MAX_FRAMES:],
            )

    def pytest_sessionfinish(self) -> None:
        if self.measure.coverage:
            self.measure.coverage.stop()
            by_test = self.measure.executed()
            executed: dict[str, set[int]] = {}
            for lines in by_test.values():
                for path in lines:
                    executed.setdefault(path, set()).update(lines[path])
            write(
                "coverage",
                statements=self.measure.statements(),
                executed={path: sorted(lines) for path, lines in executed.items()},
                tests={self.ids[name]: by_test[name] for name in by_test if name in self.ids},
            )
        write("finish")


@pytest.hookimpl(hookwrapper=True)
def pytest_load_initial_conftests() -> Generator[None, Any, None]:
    """Report a conftest.py that cannot be loaded: pytest ends before a session begins."""
    result = yield
    error = result.excinfo[1] if result.excinfo else None
    if error is not None and getattr(error, "path", None):
        cause = getattr(error, "cause", None) or error.excinfo[1]  # the latter before pytest 8
        text = "".join(traceback.format_exception(type(cause), cause, cause.__traceback__))
        path = relative(error.path)
        write(
            "test",
            id=path,
            file=path,
            line=1,
            outcome="error",
            message=first_line(text.strip().rpartition("\n")[2]),
            output=text[-MAX_OUTPUT:],
            frames=frames_of(cause.__traceback__),
        )


def frames_of(trace: Any) -> list[list[Any]]:
    found: list[list[Any]] = []
    for entry in traceback.extract_tb(trace):
        path = relative(entry.filename)
        if not path.startswith(".."):
            found.append([path, entry.lineno or 1])
    return found[-MAX_FRAMES:]


def first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:MAX_MESSAGE]


def relative(path: object) -> str:
    """A path below the tree; anything else begins with `..`."""
    return os.path.relpath(os.path.realpath(os.path.join(TREE, str(path))), TREE)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
