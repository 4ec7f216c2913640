"""A pytest plugin that reports what happens, as it happens, so that a run which is cut off keeps what it did.

Each line of the report is a JSON object with a ``type`` and, from ``start`` on, its number ``n``, so that a missing line shows:

``start``    ``measured``: whether coverage is taken
``collected`` ``count`` of tests
``begin``    ``id`` of the test that begins, ``at`` so many milliseconds after the session
``test``     ``id file line outcome (passed failed skipped) phase message frames text seconds``: its end
``collect``  ``id file message frames text``: a file that could not be collected
``lines``    ``id lines``: ``{path: [line…]}`` executed by this test in the measured files; id ``""``: outside of any test
``finish``   the session ended by itself
``conftest`` like ``collect``, without a number: a ``conftest.py`` that could not be loaded, so that there is no session

Paths are relative to the working directory at the start. Python 3.8 and later; imports nothing of reviewbot.
"""

from __future__ import annotations

import json
import os
import re
import time
import traceback
from collections.abc import Generator
from typing import Any

import pytest

MESSAGE_LIMIT = 2000
TEXT_LIMIT = 6000
FRAME_LIMIT = 60
ANY = str.maketrans("*[]", "???")  # for coverage a file's name is a pattern, and some names are none
TREE = os.path.realpath(os.getcwd())
FRAME_LINE = re.compile(r"^(\S[^:\n]*):(\d+): in (.*)$", re.MULTILINE)


class Report:
    """The file, kept open: appended to and flushed line by line."""

    def __init__(self, path: str) -> None:
        self.handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        self.number = 0

    def say(self, kind: str, **fields: Any) -> None:
        line = json.dumps({"type": kind, "n": self.number, **fields}, ensure_ascii=False).replace("\\u0000", "\\ufffd")
        os.write(self.handle, line.encode("utf-8", "replace") + b"\n")
        self.number += 1


class Measure:
    """Which lines of some files run, test by test."""

    def __init__(self, paths: list[str]) -> None:
        self.paths = paths
        self.coverage: Any = None
        if paths:
            self.coverage = self.begin()

    def begin(self) -> Any:
        try:
            import coverage
        except ImportError:
            return None
        files = [os.path.join(TREE, path.translate(ANY)) for path in self.paths]
        tracer = coverage.Coverage(data_file=None, config_file=False, include=files)
        tracer._warn_no_data = tracer._warn_unimported_source = False
        tracer.start()
        return tracer

    def enter(self, name: str) -> None:
        if self.coverage:
            self.coverage.switch_context(name)

    def executed(self, name: str) -> dict[str, list[int]]:
        if not self.coverage:
            return {}
        data = self.coverage.get_data()
        data.set_query_context(name)
        found = {path: sorted(data.lines(os.path.join(TREE, path)) or []) for path in self.paths}
        return {path: lines for path, lines in found.items() if lines}

    def stop(self) -> None:
        if self.coverage:
            self.coverage.stop()


class Reporter:
    """What pytest calls."""

    def __init__(self, report: Report, measure: Measure) -> None:
        self.report = report
        self.measure = measure
        self.began = time.monotonic()

    def pytest_sessionstart(self) -> None:
        self.report.say("start", measured=self.measure.coverage is not None)
        for record in json.loads(os.environ.pop("REVIEWBOT_BROKEN", "[]")):
            self.report.say("collect", **record)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.report.say("collected", count=len(session.items))
        self.report.say("lines", id="", lines=self.measure.executed(""))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, None]:
        self.report.say("begin", id=item.nodeid, at=round(1000 * (time.monotonic() - self.began)))
        self.measure.enter(item.nodeid)
        yield
        self.measure.enter("")
        lines = self.measure.executed(item.nodeid)
        if lines:
            self.report.say("lines", id=item.nodeid, lines=lines)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Generator[None, Any, None]:
        outcome = yield
        report = outcome.get_result()
        if report.when == "call" or report.failed or (report.when == "setup" and report.skipped):
            self.report.say("test", **self.told(item, call, report))

    def told(self, item: pytest.Item, call: Any, report: Any) -> dict[str, Any]:
        path, line, _ = item.location
        return {
            "id": item.nodeid,
            "file": relative(getattr(item, "fspath", path)),
            "line": (line or 0) + 1,
            "outcome": report.outcome,
            "phase": report.when,
            "message": said(call.excinfo) if report.failed else "",
            "frames": frames(call.excinfo) if report.failed else [],
            "text": report.longreprtext[-TEXT_LIMIT:] if report.failed else "",
            "seconds": round(report.duration, 4),
        }

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            text = report.longreprtext
            self.report.say(
                "collect",
                id=report.nodeid,
                file=relative(str(getattr(report, "fspath", "") or report.nodeid)),
                message=last_words(text),
                frames=[[relative(path), int(line), name] for path, line, name in FRAME_LINE.findall(text)][-FRAME_LIMIT:],
                text=text[-TEXT_LIMIT:],
            )

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        self.measure.stop()
        self.report.say("lines", id="", lines=self.measure.executed(""))
        self.report.say("finish")


@pytest.hookimpl(hookwrapper=True)
def pytest_load_initial_conftests() -> Generator[None, Any, None]:
    """Keep the reason why no session begins."""
    outcome = yield
    error = outcome.excinfo[1] if outcome.excinfo else None
    path, report = getattr(error, "path", None), os.environ.get("REVIEWBOT_REPORT")
    if path and report:
        with open(report, "a", encoding="utf-8") as file:
            file.write(json.dumps(dict(unloaded(relative(path), error), type="conftest")) + "\n")


def unloaded(path: str, error: Any) -> dict[str, Any]:
    """A ``conftest.py`` that could not be loaded, with what went through the tree. Before pytest 8 the cause was in a triple."""
    cause = getattr(error, "cause", None) or error.excinfo[1]
    entries = [entry for entry in traceback.extract_tb(cause.__traceback__) if os.path.isabs(entry.filename)]
    places = [[relative(entry.filename), entry.lineno or 1, entry.name] for entry in entries]
    frames = [place for place in places if not str(place[0]).startswith("..")][-FRAME_LIMIT:]
    message = "".join(traceback.format_exception_only(type(cause), cause)).strip()
    text = "".join(f"{file}:{line}: in {name}\n" for file, line, name in frames) + message
    return {"id": path, "file": path, "message": message[:MESSAGE_LIMIT], "frames": frames, "text": text[-TEXT_LIMIT:]}


def said(info: Any) -> str:
    """The exception in one line or a few."""
    return str(info.exconly())[:MESSAGE_LIMIT] if info else ""


def frames(info: Any) -> list[list[Any]]:
    """Where it passed through, deepest last, in files of the tree."""
    found: list[list[Any]] = []
    for entry in info.traceback if info else ():
        path = relative(entry.path)
        if not path.startswith(".."):
            found.append([path, entry.lineno + 1, entry.name])
    return found[-FRAME_LIMIT:]


def last_words(text: str) -> str:
    """The line of a traceback that names the exception."""
    lines = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
    return (lines[-1] if lines else text.strip().rpartition("\n")[2])[:MESSAGE_LIMIT]


def relative(path: object) -> str:
    """A path below the tree; anything else begins with ``..``."""
    return os.path.relpath(os.path.realpath(os.path.join(TREE, str(path))), TREE)


def pytest_configure(config: pytest.Config) -> None:
    path = os.environ.pop("REVIEWBOT_REPORT", "")
    paths = json.loads(os.environ.pop("REVIEWBOT_MEASURE", "[]"))
    if path:
        config.pluginmanager.register(Reporter(Report(path), Measure(paths)), "reviewbot-reporter")
