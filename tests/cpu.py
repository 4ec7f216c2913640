"""The CPU time of each test, with all processes it starts; a test that takes much of it must say so by a marker."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rings import RING, Ring, heading

MOST_SECONDS = 5.0
"""Of CPU for a test without the marker ``ci``."""
SLOWEST = 15


class Meter:
    """CPU seconds of this process and its descendants so far.

    Children of a sandbox are not waited for by us, so ``os.times`` misses them. Where this process may make a control group (as
    root), it moves into one of its own and reads what the kernel counts for that; elsewhere ``os.times`` is what there is.
    """

    def __init__(self) -> None:
        self._group: Path | None = None
        with contextlib.suppress(OSError):
            parent = _own_group()
            group = parent / f"pytest-{os.getpid()}"
            group.mkdir()
            self._group = group
            (group / "cgroup.procs").write_text(str(os.getpid()))

    def seconds(self) -> float:
        if self._group is not None:
            return int((self._group / "cpu.stat").read_text().split()[1]) / 1e6
        return sum(os.times()[:4])

    def close(self) -> None:
        """Move back; processes that outlive the tests keep the group."""
        if self._group is not None:
            with contextlib.suppress(OSError):
                (self._group.parent / "cgroup.procs").write_text(str(os.getpid()))
                self._group.rmdir()


def _own_group() -> Path:
    mounts = (line.split() for line in Path("/proc/self/mounts").read_text().splitlines())
    mounted = next((Path(mount[1]) for mount in mounts if mount[2] == "cgroup2"), None)
    path = next((line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::")), None)
    if mounted is None or path is None:
        raise FileNotFoundError("no control groups of version 2")
    return mounted / path.lstrip("/")


class Budget:
    """A pytest plugin: measure the call of each test, fail those over :data:`MOST_SECONDS` without a marker, list the slowest."""

    def __init__(self, *, measures: bool) -> None:
        self._meter = Meter() if measures else None
        self._reports: list[tuple[float, float, str]] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        assert self._meter is not None
        before = self._meter.seconds()
        try:
            return (yield)
        finally:
            seconds = self._meter.seconds() - before
            item.user_properties.append(("cpu_seconds", round(seconds, 3)))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[pytest.TestReport]:
        report = yield
        seconds = dict(item.user_properties).get("cpu_seconds", 0.0)
        if (
            call.when == "call"
            and report.passed
            and isinstance(seconds, float)
            and seconds > MOST_SECONDS
            and not _may_take_long(item)
        ):
            report.outcome = "failed"
            report.longrepr = (
                f"{item.nodeid} took {seconds:.1f} s of CPU, more than {MOST_SECONDS:g}: make it faster, or mark it with"
                " pytest.mark.ci, which leaves it out of the default ring"
            )
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            seconds = dict(report.user_properties).get("cpu_seconds", 0.0)
            self._reports.append((float(seconds), report.duration, report.nodeid))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._reports:
            return
        slowest = sorted(self._reports, reverse=True)[:SLOWEST]
        total = sum(seconds for seconds, _, _ in self._reports)
        terminalreporter.section(f"{heading()}: slowest of {len(self._reports):,} tests, {total:,.0f} s of CPU")
        terminalreporter.write_line("  CPU s  wall s  test")
        for seconds, wall, name in slowest:
            terminalreporter.write_line(f"{seconds:7.2f} {wall:7.2f}  {name}")

    def pytest_unconfigure(self) -> None:
        if self._meter is not None:
            self._meter.close()


def _may_take_long(item: pytest.Item) -> bool:
    """Outside of the default ring a property tries more examples."""
    is_property = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    return RING is Ring.NIGHTLY or (is_property and RING is Ring.CI) or item.get_closest_marker("ci") is not None
