"""The plugin of pytest that reports what happens, line by line.

A run that is cut off keeps what it did. Each line of the report is a JSON object with one of

    test            as `TestOutcome`
    statements      {path: [changed line]}; so are executed; executed_by is {id: executed}
    problem         why the tests say nothing about the change
    has_finished    the session came to its end

Paths are relative to the folder in which it starts. Runs on Python 3.8 and later.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
import time
import traceback
from collections.abc import Generator, Iterable
from contextlib import suppress
from pathlib import PurePath
from types import ModuleType
from typing import Any

import pytest
from _pytest.config import ConftestImportFailure
from _pytest.reports import CollectReport  # pytest itself names it since 7.0 only

REPORT = "/out/pytest.jsonl"
# {path: [changed line]}: tests of these files run first, and their lines are measured.
CHANGED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "changed.json")
TREE = os.path.realpath(os.getcwd())
# A package there that is not installed is found as well, behind all that is.
sys.path.append(os.path.join(TREE, "src"))
# Parameters, which are a part of the id of a test, may be texts of megabytes.
RAISED = re.compile(r"^\w[\w.]*(?:$|: .*)", re.MULTILINE)
MAX_ID, MAX_MESSAGE, MAX_OUTPUT, MAX_FRAMES = 500, 500, 4_000, 40
PACKAGING = {"pyproject.toml", "setup.py"}
INSTALLED = re.compile(r".*/(?:site|dist)-packages/(.+)")
FRAME = re.compile(r"^(\S[^:\n]*):(\d+): ", re.MULTILINE)
UNREADABLE = re.compile(r'^E\s+File "([^"\n]+)", line (\d+)', re.MULTILINE)
# Why a test without a crash fails: an error of pytest, or what a doctest expected and got.
REASON = re.compile(r"^(?:E .+|UNEXPECTED.+|Expected(?:.|\n(?!\n|/))+)", re.MULTILINE)
ADDRESS = re.compile(r" at 0x[0-9a-f]+(?=>)")  # of an object: another one in each run
# Of its time, for importing test files, and for all but the report; its exit code if that is short.
COLLECTION, TESTS, TRY_AGAIN = 1 / 3, 0.9, 75
# To tell which of more tests executed a line would take longer than the tests.
MAX_TOLD_APART = 5_000
# Files that may name the settings with which tests of Django run, those for tests alone first.
CONFIG_FILES = ["pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini", "runtests.py", "manage.py"]
CONFIG_FILES += ["tests/runtests.py", "tests/manage.py", "Makefile", "noxfile.py"]
SETS_UP = re.compile(r"\bmanage\b|runtests|django test|pytest")  # commands that set up Django
SETTINGS = re.compile(
    r"""(?:DJANGO_SETTINGS_MODULE("|')?[] ]*[,:=] *(?(1)["'])["']?|test.* --settings[= ])([\w.]+)"""
)
# By default, a file called tests.py, or in such a way, has tests only if it has one of these words.
IS_ODD = re.compile(r"/test(?!_)[^/]*(?<!_test)\.py$")
IS_TEST = re.compile(r"\bassert|unittest|pytest|TestCase")
OPENED: list[int] = []


def write(**record: Any) -> None:
    line = json.dumps(record, ensure_ascii=False).replace("\\u0000", "\\ufffd") + "\n"
    if not OPENED:
        OPENED.append(os.open(REPORT, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC))
    os.write(OPENED[0], line.encode("utf-8", "replace"))


class Reporter:
    """What pytest calls. Where there is a coverage, it measures which changed lines run."""

    def __init__(self, changed: dict[str, list[int]], root: str) -> None:
        self.changed = set(changed)
        modules = (os.path.splitext(path.replace("/__init__.py", ""))[0] for path in changed)
        names = {re.escape(os.path.basename(module).strip("_")) for module in modules}
        self.in_code = re.compile(rf"\b_*(?:{'|'.join(names)})_*\b")
        telling = "|".join(names - {"", "py", "test", "tests"}) or "(?!)"
        self.in_name = re.compile(rf"(?<![^\W_])(?:{telling})(?![^\W_])")  # of a file of tests
        self.root = root
        self.odd: re.Pattern[str] | None = None  # names of files that may have no tests
        self.lines = {p: frozenset(changed[p]) for p in changed if p[-3:] == ".py" and changed[p]}
        self.coverage: Any = None
        self.is_told_apart = True
        if self.lines:
            self.start_coverage()
        self.outcomes: dict[str, dict[str, Any]] = {}
        self.ids: dict[str, str] = {}
        self.trace: Any = None
        self.now, self.began = time.monotonic, time.monotonic()  # tests may replace the clock
        self.seconds = float(os.environ.get("REVIEWBOT_SECONDS", "inf"))
        self.left_out = 0  # files
        self.left: set[str] = set()  # tests that have not run yet
        self.no_database: tuple[Any, Any] | None = None  # why Django has none

    def start_coverage(self) -> None:
        """Of the project, or ours if it works here, whose folder is seen for that alone."""
        coverage: Any = None
        sys.path.append(os.environ.get("REVIEWBOT_PACKAGES", ""))
        with suppress(ImportError, OSError, SyntaxError, SystemExit):
            coverage = importlib.import_module("coverage")
        sys.path.pop()
        if not hasattr(coverage, "Coverage"):
            return
        # coverage takes file names for patterns.
        files = [re.sub(r"[*\[\]]", "?", os.path.join(TREE, path)) for path in self.lines]
        self.coverage = coverage.Coverage(data_file=None, config_file=False, include=files)
        self.coverage._warn_no_data = self.coverage._warn_unimported_source = False
        is_fast = importlib.util.find_spec("coverage.tracer")  # built for this version of Python
        core = "ctrace" if is_fast else "sysmon" if sys.version_info >= (3, 12) else "pytrace"
        self.is_told_apart = core != "sysmon"  # which does not tell which test runs a line
        with suppress(Exception):  # an old version has one core
            self.coverage.set_option("run:core", core)
            coverage.collector.short_stack = str  # else it reads the source of all of pytest
        self.coverage.start()

    def enter(self, context: str) -> None:
        if self.coverage and self.is_told_apart:
            self.coverage.switch_context(context)

    def pytest_sessionstart(self) -> None:
        """Do what `manage.py test` does first, unless pytest-django or a conftest.py did."""
        module = importlib.import_module
        try:
            is_used = "DJANGO_SETTINGS_MODULE" in os.environ and "pytest_django" not in sys.modules
            if is_used and not module("django.apps").apps.ready:
                sys.argv = ["manage.py", "test"]  # settings may ask for this
                module("django").setup()
                utils = module("django.test.utils")
                utils.setup_test_environment(debug=False)
                utils.setup_databases(verbosity=0, interactive=False)
        except (Exception, SystemExit) as error:
            self.no_database = error, error.__traceback__

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> None:
        """Tests that use a database fail by what its setting up raised."""
        if self.no_database and getattr(getattr(item, "cls", None), "databases", None):
            error, trace = self.no_database
            item.config.option.tbstyle = "native"  # else pytest reads Django's files for each test
            raise error.with_traceback(trace)

    @pytest.hookimpl(tryfirst=True)
    def pytest_make_collect_report(self, collector: Any) -> Any:
        """Skip modules that only have the name of tests, and others if importing takes too long."""
        is_file = isinstance(collector, pytest.Module) and not isinstance(collector, pytest.Package)
        path = os.path.join(self.root, collector.nodeid)
        if is_file and self.odd and self.odd.search(path) and not IS_TEST.search(text_of(path)):
            return CollectReport(collector.nodeid, "passed", None, [])
        if self.now() - self.began < COLLECTION * self.seconds or not is_file:
            return None
        is_named = self.in_name.search(os.path.basename(path)) or self.in_code.search(text_of(path))
        if is_named or relative(path) in self.changed:
            return None
        self.left_out += 1
        return CollectReport(collector.nodeid, "passed", None, [])

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Tests of the change come first, those nearest to it before all: time may run out."""
        ranks = {}  # of modules that are changed, have the name of one, or a name from one
        above = {folder for path in self.changed for folder in PurePath(path).parents}
        for module in {getattr(item, "module", None) for item in items} - {None}:
            files = map(file_of, [module, *vars(module).values()])
            path = PurePath(relative(file_of(module)))
            is_named = self.in_name.search(path.name)
            if is_named or any(relative(file) in self.changed for file in files):
                ranks[module] = (not is_named, -len(above.intersection(path.parents)))
        # A TransactionTestCase of Django empties databases when it ends.
        late = {i for i in items if hasattr(getattr(i, "cls", None), "_fixture_setup")}
        late -= {i for i in late if hasattr(i.cls, "_enter_atomics")}
        items.sort(key=lambda i: (i in late, ranks.get(getattr(i, "module", None), (True, 1))))

    def pytest_collection_finish(self, session: Any) -> None:
        """What options such as -m deselect is gone by now."""
        self.left = {item.nodeid for item in session.items}
        self.is_told_apart &= len(self.left) <= MAX_TOLD_APART

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.enter(nodeid[:MAX_ID])

    def pytest_runtest_teardown(self, item: Any) -> None:
        """Stop in time: who is killed cannot say which lines ran."""
        self.left.discard(item.nodeid)  # plug-ins may run it again
        if self.left and self.now() - self.began > TESTS * self.seconds:
            item.session.shouldstop = "its time is over"

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, call: Any) -> Generator[None, Any, None]:
        yield  # pytest itself puts in here what a unittest.TestCase raised
        self.trace = call.excinfo.tb if call.excinfo else None

    def pytest_runtest_logreport(self, report: Any) -> None:
        # What passes at the end of a test does not take back that a part of it failed.
        has_failed = self.outcomes.get(report.nodeid, {}).get("outcome") in ("failed", "error")
        says = report.when == "call" or (report.when == "setup" and report.skipped)
        if report.failed or (says and not has_failed):
            self.outcomes[report.nodeid] = self.describe(report)
        if report.when == "teardown":
            self.enter("")
            if outcome := self.outcomes.pop(report.nodeid, None):
                self.ids[report.nodeid[:MAX_ID]] = outcome["id"]
                write(test=outcome)

    def describe(self, report: Any) -> dict[str, Any]:
        file = relative(os.path.join(self.root, report.fspath))
        id = (file + "::" + report.nodeid.partition("::")[2])[:MAX_ID]
        # A test that a class inherits stands in another file than the class.
        path, line, _ = report.location
        place = location(relative(os.path.join(self.root, path)), (line or 0) + 1)
        if not report.failed:
            # One that is expected to fail says nothing, even if it passes.
            outcome = "skipped" if hasattr(report, "wasxfail") else report.outcome
            return {"id": id, "location": place, "outcome": outcome}
        crashed = getattr(report.longrepr, "reprcrash", None)
        outcome = "failed" if report.when == "call" else "error"
        text = report.longreprtext
        # What pytest shows of the frame that failed, from 5 lines above the statement.
        above, mark, below = text.rpartition("\n>")
        shown = "\n".join(above.split("\n")[-5:]) + mark + below
        found = {"id": id, "location": place, "outcome": outcome, "frames": frames_of(self.trace)}
        reason = REASON.search(text)
        said = crashed.message if crashed else " ".join(reason[0].split()) if reason else text
        return failure(re.sub("^E ", "", said), shown, **found)

    def pytest_collectreport(self, report: Any) -> None:
        file = os.path.join(self.root, report.fspath)
        if report.skipped:
            write(test={"id": relative(file), "outcome": "skipped"})
        if report.failed:
            text = report.longreprtext
            lines = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
            message = lines[-1] if lines else last_line(text)
            frames = FRAME.findall(text) + UNREADABLE.findall(text)
            _, mark, name = report.nodeid.partition("::")  # of a class that cannot be collected
            if os.path.isdir(file):  # it stands for what pytest loads first
                file = os.path.join(file, "conftest.py")
            write_broken(file, message, text, frames_in_tree(frames), mark + name)

    def pytest_internalerror(self, excinfo: Any) -> None:
        found = RAISED.search(excinfo.exconly())  # not the place of a SyntaxError, nor more lines
        said = found[0] if found else excinfo.typename
        write(problem=f"pytest itself failed: {said[:MAX_MESSAGE]}")

    def pytest_sessionfinish(self, session: Any) -> None:
        if self.coverage:
            self.coverage.stop()
            self.write_lines()
        problem = installed_copy(self.changed)
        if self.left_out:
            problem = "importing all tests takes too long, so files that name nothing of the change"
            problem += f" were left out: {self.left_out}"
        if self.left and self.now() - self.began > TESTS * self.seconds:
            problem = f"{problem}; " if problem else ""
            problem += f"its time is over, and tests did not run: {len(self.left)}"
        if problem:
            write(problem=problem)
            session.exitstatus = TRY_AGAIN
        write(has_finished=True)

    def write_lines(self) -> None:
        """Report changed lines that can be executed and that were, by path, and by test."""
        data = self.coverage.get_data()
        statements: dict[str, list[int]] = {}
        executed: dict[str, list[int]] = {}
        tests: dict[str, dict[str, list[int]]] = {}
        for path, changed in self.lines.items():
            file = os.path.join(TREE, path)
            try:
                code = set(self.coverage.analysis2(file)[1])
                start_of = self.coverage._get_file_reporter(file).translate_lines
                starts = {line: min(start_of([line])) for line in changed}
            except Exception:  # the file cannot be parsed, or is not there
                continue
            # A statement of several lines runs with any of them; the first may have no code.
            lines = sorted(line for line in changed if starts[line] in code)
            known = data.contexts_by_lineno(file)  # "" stands for imports
            whole: dict[int, list[str]] = {}
            for line, names in known.items():
                whole.setdefault(min(start_of([line])), []).extend(names)
            contexts = {line: known.get(line) or whole.get(starts[line], []) for line in lines}
            ran = [line for line in lines if contexts[line]]
            statements[path], executed[path] = lines, ran
            for line in ran:
                for name in self.ids.keys() & contexts[line]:
                    tests.setdefault(self.ids[name], {}).setdefault(path, []).append(line)
        write(statements=statements, executed=executed, executed_by=tests)


def file_of(value: Any) -> str:
    """The file of a module, or of what a module defines. Objects may raise when looked at."""
    try:
        owner = value if isinstance(value, ModuleType) else sys.modules.get(value.__module__)
        file = getattr(owner, "__file__", None)
        return file if isinstance(file, str) else ""
    except Exception:
        return ""


@pytest.hookimpl(hookwrapper=True)
def pytest_load_initial_conftests(early_config: Any) -> Generator[None, Any, None]:
    """Measure from here on: a conftest.py imports modules. Report one that cannot be loaded.

    pytest ends before a session begins then.
    """
    use_settings_of_django(early_config)
    reporter = Reporter(json.loads(text_of(CHANGED) or "{}"), str(early_config.rootpath))
    if (files := early_config.getini("python_files")) == ["test_*.py", "*_test.py"]:  # the default
        files.append("test*.py" if sys.argv[0] == "-c" else "tests.py")  # lent: as unittest
        reporter.odd = IS_ODD
    early_config.pluginmanager.register(reporter, "reviewbot-reporter")
    result = yield
    if error := result.excinfo and result.excinfo[1]:
        # pytest, and plug-ins such as that of Django, wrap what the project raises.
        wrapped = [error.__context__] if error.__suppress_context__ and error.__context__ else []
        cause = max([*wrapped, error], key=lambda each: len(frames_of(each.__traceback__)))
        text = "".join(traceback.format_exception(type(cause), cause, cause.__traceback__))
        frames = frames_of(cause.__traceback__)
        is_conftest = isinstance(error, ConftestImportFailure)
        if is_conftest or frames or isinstance(cause, ImportError):  # of a plug-in as well
            path = error.path if is_conftest else "conftest.py"
            write_broken(path, last_line(text), text, frames)


def use_settings_of_django(config: Any) -> None:
    """Those that a file names, or `test` beside those of manage.py, unless tests have others."""
    texts = ((path, text_of(path)) for path in (str(getattr(config, "inipath", "")), *CONFIG_FILES))
    found = ((path, SETS_UP.search(path + text) and SETTINGS.search(text)) for path, text in texts)
    path, named = next((pair for pair in found if pair[1]), ("", None))
    own = text_of("conftest.py") + text_of("tests/conftest.py")
    if named and not re.search(r"DJANGO_SETTINGS_MODULE|settings\.configure\(", own):
        sys.path.insert(0, os.path.join(TREE, os.path.dirname(path)))  # as for a script there
        package = re.sub(r"(?<=settings)\.\w+$", "", named[2])
        has_own = path == "manage.py" and os.path.exists(f"{package.replace('.', '/')}/test.py")
        os.environ["DJANGO_SETTINGS_MODULE"] = f"{package}.test" if has_own else named[2]


def text_of(path: str) -> str:
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
    return ""


def write_broken(
    file: object, message: str, output: str, frames: list[dict[str, Any]], name: str = ""
) -> None:
    """Report a file that cannot be imported, or something in it."""
    path = relative(file)
    found = {"id": path + name, "location": location(path, 1), "outcome": "error", "frames": frames}
    write(test=failure(message, output, **found))


def failure(message: str, output: str, **fields: Any) -> dict[str, Any]:
    first_line = ADDRESS.sub("", message.strip().partition("\n")[0])
    return {**fields, "message": first_line[:MAX_MESSAGE], "output": output[-MAX_OUTPUT:]}


def installed_copy(changed: Iterable[str]) -> str:
    """What is said of a package of which an installed copy of a changed file was imported."""
    names = {os.path.basename(path) for path in changed}  # to resolve all files would take long
    files = map(file_of, list(sys.modules.values()))
    loaded = {os.path.realpath(file) for file in files if os.path.basename(file) in names}
    copies = {match[1] for match in map(INSTALLED.fullmatch, sorted(loaded)) if match}
    for path in sorted(changed):
        parts = path.split("/")
        for start in range(len(parts)):
            name, root = "/".join(parts[start:]), os.path.join(TREE, *parts[:start])
            # A module at the top is the package itself; the names of deeper files are common.
            is_root = start == 0 or parts[:start] == ["src"] or start < len(parts) - 1
            # A copy of another project inside of a package is no root of packages.
            is_root = is_root and not os.path.exists(f"{root}/__init__.py")
            if is_root and name in copies and os.path.realpath(f"{TREE}/{path}") not in loaded:
                above = ("/".join(parts[:end]) for end in range(start, 0, -1))
                folder = next((f for f in above if PACKAGING & {*os.listdir(f"{TREE}/{f}")}), ".")
                said = f"the tests import {parts[start].partition('.')[0]} from site-packages, not"
                return f"{said} from this tree: pip install -e {folder} in its environment"
    return ""


def frames_of(trace: Any) -> list[dict[str, Any]]:
    return frames_in_tree((at.filename, at.lineno or 1) for at in traceback.extract_tb(trace))


def frames_in_tree(places: Iterable[tuple[str, Any]]) -> list[dict[str, Any]]:
    found = [location(relative(file), int(line)) for file, line in places if file[:1] != "<"]
    own = (p for p in found if not p["path"].startswith("..") and not INSTALLED.match(p["path"]))
    return list(own)[-MAX_FRAMES:]


def location(path: str, line: int) -> dict[str, Any]:
    return {"path": path, "line": line, "end_line": line}


def last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


def relative(path: object) -> str:
    """A path below the tree; anything else begins with `..`."""
    return os.path.relpath(os.path.realpath(os.path.join(TREE, str(path))), TREE)
