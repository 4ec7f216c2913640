"""Searches for arguments that speak against a claim: at boundaries, among examples, and by following the code's paths.

The cheapest search comes first, and every candidate is called again in processes of its own before it is told. Numbers of inputs,
examples and paths bound the searches, so that two runs agree; the time is only a last bound, and is told where it ended a search.
"""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from reviewbot_calls import HERE, Child, Outcome
from reviewbot_guess import boundaries, examples
from reviewbot_report import Report, Unable

SYMBOLIC = os.path.join(HERE, "reviewbot_symbolic.py")
MOST_HANGS = 3
MOST_EXITS = 10
MOST_UNSTABLE = 3
PATIENCE = 2
"""CrossHair counts seconds of the processor. Of wall time it gets this many times more, so that a busy machine finds the same."""
START_SECONDS = 5.0
"""For a child to start and load the code."""


class Subject(Protocol):
    """A claim. ``left_out`` are parameters for which no arguments can be made, but which have a default."""

    parameters: list[dict[str, Any]]
    left_out: list[str]
    constants: dict[str, list[str]]

    def speaks_against(self, arguments: list[str]) -> tuple[bool, Outcome]:
        """Whether these arguments do, and what came of the call."""
        ...

    def proof(self, arguments: list[str]) -> dict[str, Any] | None:
        """What to tell of them if they do in fresh processes. Raises Unstable."""
        ...

    def symbolic(self) -> dict[str, Any]:
        """What the symbolic search is told."""
        ...


class Unstable(Exception):
    """The same call does not come to the same twice."""


class Over(BaseException):
    """The search has to end: not an error, so that hypothesis does not take it for one."""


@dataclass(slots=True)
class Bounds:
    """How far to search: seconds in all, examples of each kind of guess, paths."""

    seconds: float
    examples: int
    paths: int
    began: float = field(default_factory=time.monotonic)

    def left(self) -> float:
        return self.began + self.seconds - time.monotonic()


def bounds(spec: dict[str, Any]) -> Bounds:
    """Those of a SPEC."""
    return Bounds(float(spec.get("seconds", 20)), int(spec.get("examples", 300)), int(spec.get("paths", 300)))


class Tally:
    """What was tried so far. An input is tried once."""

    def __init__(self, subject: Subject, bounds: Bounds) -> None:
        self.bounds = bounds
        self.said: list[str] = [f"with the default for {name}" for name in subject.left_out]
        self.by: list[str] = []
        self.inputs = self.skipped = self.unstable = self.reached = 0
        self.exhausted = False
        self.cut: list[str] = []
        self.reason = ""
        self._subject = subject
        self._exits = 0
        self.hung: set[tuple[str, ...]] = set()
        self._known: dict[tuple[str, ...], bool] = {}

    def judge(self, arguments: list[str]) -> bool:
        """Whether they speak against the claim. Raises Over when a bound is reached."""
        key = tuple(arguments)
        if key in self._known:
            return self._known[key]
        if self.bounds.left() <= 0:
            raise Over("the time was up")
        self.inputs += 1
        against, outcome = self._subject.speaks_against(arguments)
        reason = _skipped(outcome)
        self.skipped += bool(reason)
        self.reason = self.reason or reason
        self._known[key] = against
        self._count_ends(key, outcome, against)
        return against

    def _count_ends(self, key: tuple[str, ...], outcome: Outcome, against: bool) -> None:
        """Each call that does not come back costs seconds, or a new process. Raises Over when there were too many."""
        if "hangs" in outcome:
            self.hung.add(key)
        self._exits += "exits" in outcome
        if not against and len(self.hung) >= MOST_HANGS:
            raise Over("it does not end for several inputs")
        if not against and self._exits >= MOST_EXITS:
            raise Over("it ends the process for many inputs")

    def told(self) -> dict[str, Any]:
        """The search in words: counts only where they are the same in every run."""
        return {"by": self.by, "bound": "; ".join([*self.said, *self.cut]), "exhausted": self.exhausted, "cut": bool(self.cut)}

    @property
    def says_nothing(self) -> bool:
        return self.inputs == self.skipped and not self.reached


def _skipped(outcome: Outcome) -> str:
    """Why an input says nothing; empty where it does."""
    if outcome.get("skipped"):
        return "the condition does not speak of it"
    if "holds" in outcome and outcome["holds"] is None:
        return f"{outcome.get('raises')} in line {outcome.get('line')} of the specification: {outcome.get('message')}"
    return str(outcome.get("unbuildable", ""))


def look(subject: Subject, bounds: Bounds, report: Report, **fields: Any) -> None:
    """Search, and report one line. ``fields`` go into it. Raises Unable."""
    tally = Tally(subject, bounds)
    for name, arguments in _candidates(subject, tally):
        try:
            proof = subject.proof(arguments)
        except Unstable:
            raise Unable("nondeterministic", "called twice with the same arguments it does not come to the same") from None
        if proof:
            report.say("counterexample", arguments=arguments, by=name, **proof, **fields)
            return
        tally.unstable += name != "crosshair" and tuple(arguments) not in tally.hung
        if tally.unstable >= MOST_UNSTABLE:
            break
    if tally.unstable:
        raise Unable("nondeterministic", "what it comes to depends on the calls before")
    if tally.says_nothing:
        raise Unable("vacuous", f"none of {tally.inputs} inputs says anything: {tally.reason or 'there was no time'}")
    report.say("none", **tally.told(), **fields)


def _candidates(subject: Subject, tally: Tally) -> Iterator[tuple[str, list[str]]]:
    """Arguments that speak against the claim, with the search that found them."""
    try:
        yield from _guessed(subject, tally)
    except Over as exc:
        tally.cut.append(str(exc))
    if tally.bounds.left() > 0 and tally.bounds.paths and subject.parameters:
        yield from _symbolic(subject, tally)


def _guessed(subject: Subject, tally: Tally) -> Iterator[tuple[str, list[str]]]:
    most = tally.bounds.examples
    tally.by.append("boundaries")
    for arguments in boundaries(subject.parameters, subject.constants, most):
        if tally.judge(arguments):
            yield "boundaries", arguments
    if subject.parameters and most and importlib.util.find_spec("hypothesis"):
        tally.by.append("hypothesis")
        found = examples(subject.parameters, subject.constants, most, judge=tally.judge)
        if found:
            yield "hypothesis", found
    useless = f", of which {tally.skipped} say nothing" if tally.skipped else ""
    tally.said.append(f"{tally.inputs} inputs{useless}")


def _symbolic(subject: Subject, tally: Tally) -> Iterator[tuple[str, list[str]]]:
    """By CrossHair, where it is installed and can follow this code."""
    if not importlib.util.find_spec("crosshair"):
        return
    child = Child(SYMBOLIC)
    try:
        seconds = tally.bounds.left()
        child.say(dict(subject.symbolic(), parameters=subject.parameters, seconds=seconds, paths=tally.bounds.paths))
        while True:
            told = child.hear(max(tally.bounds.left(), 0) + PATIENCE * tally.bounds.seconds + START_SECONDS)
            if "arguments" not in told:
                break
            yield "crosshair", list(told["arguments"])
        _note(told, tally)
    finally:
        child.end()


def _note(told: dict[str, Any], tally: Tally) -> None:
    """How the symbolic search ended."""
    if "unable" in told:
        tally.said.append(f"CrossHair cannot follow it ({told['unable']})")
        return
    tally.by.append("crosshair")
    tally.reached = int(told.get("reached", 0))
    tally.exhausted = bool(told.get("exhausted"))
    if told.get("cut") or "explored" not in told:
        tally.said.append("some paths")
        tally.cut.append("the code under test ended the search" if "exits" in told else "the time was up")
        return
    tally.said.append(f"{told['explored']} paths" + (", which are all" if tally.exhausted else ""))
