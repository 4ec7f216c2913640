"""Searches for arguments on which a condition does not hold: of a specification, or of a contract in the code itself.

Usage: ``python -s -B reviewbot_contract.py SPEC REPORT tree=FOLDER``. SPEC is JSON: ``{"spec": source text}`` or ``{"path",
"function", "contract": true}``, with ``"seconds": 20, "examples": 300, "paths": 300`` for each condition and
``"call_seconds": 2``.

A specification is a Python module that imports the code under test. It defines functions of these names:

``spec_NAME``   with annotated parameters, asserts what it claims, and returns before that for arguments it does not speak of
``prove_NAME``  takes nothing, returns a ``z3.BoolRef`` said to hold for all values of its constants
``replay_NAME`` calls the code with values for which ``prove_NAME`` is false, and asserts like ``spec_``. Where it holds, or is
                not there, z3's counter-example counts for nothing, because the formula may be wrong about the code

REPORT gets a line for each condition, with its name as ``condition`` (``""`` for a contract), and then ``finish``. ``none`` and
``unable`` are as in ``reviewbot_behaviour``; a ``counterexample`` has ``arguments``, ``by``, ``calls`` (the function of the
specification that they are for) and ``outcome``: what came of the call, twice, in fresh processes, as in ``reviewbot_replay``.

Exit code 0 with a report, 2 for a SPEC that is none. Python 3.10 and later, on Linux; imports nothing of reviewbot.
"""

from __future__ import annotations

import ast
import sys
from typing import Any

from reviewbot_behaviour import makeable, twice
from reviewbot_calls import CALL_SECONDS, Outcome, Target, Worker
from reviewbot_replay import target
from reviewbot_report import Report, Unable, run
from reviewbot_search import Bounds, Unstable, bounds, look

MOST_CONDITIONS = 20
SPEC, PROVE, REPLAY = "spec_", "prove_", "replay_"


def check(spec: dict[str, Any], report: Report) -> None:
    """Check each condition. Raises Unable."""
    for name in conditions(spec):
        try:
            one(spec, name, report)
        except Unable as exc:
            report.unable(exc, condition=name)


def conditions(spec: dict[str, Any]) -> list[str]:
    """The names of what is to be checked. Raises Unable."""
    if "spec" not in spec:
        if "path" not in spec or "function" not in spec:
            raise Unable("specification", "it names neither a specification nor a function with a contract")
        return [""]
    names = [name for name in defined(spec["spec"]) if name.startswith((SPEC, PROVE))]
    if not names:
        raise Unable("specification", f"the specification defines no function named {SPEC}* or {PROVE}*")
    return names[:MOST_CONDITIONS]


def defined(text: str) -> list[str]:
    """Functions of a module. Raises Unable for what is none."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError) as exc:
        raise Unable("specification", f"the specification is not Python: {exc}") from exc
    return [node.name for node in body if isinstance(node, ast.FunctionDef)]


def one(spec: dict[str, Any], name: str, report: Report) -> None:
    """Check one condition. Raises Unable."""
    goal = target(dict(spec, condition=name))
    if name.startswith(PROVE):
        prove(goal, bounds(spec), report)
        return
    with Worker(goal, seconds=float(spec.get("call_seconds", CALL_SECONDS))) as worker:
        look(_Condition(worker), bounds(spec), report, condition=name, calls=name)


class _Condition:
    """The claim that a condition holds."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        told = worker.load()
        self.constants = told["constants"]
        self.parameters, self.left_out = makeable(told["parameters"])

    def speaks_against(self, arguments: list[str]) -> tuple[bool, Outcome]:
        outcome = self._worker.ask(arguments)
        if "exits" in outcome or "hangs" in outcome:
            outcome = dict(outcome, unbuildable="the call does not come to an end of its own")
        return outcome.get("holds") is False, outcome

    def proof(self, arguments: list[str]) -> dict[str, Any] | None:
        return broken(self._worker, arguments)

    def symbolic(self) -> dict[str, Any]:
        return {"targets": [self._worker.target]}


def broken(worker: Worker, arguments: list[str]) -> dict[str, Any] | None:
    """What to tell of a condition that does not hold, twice. Raises Unstable."""
    outcome = twice(worker, arguments)
    return {"outcome": outcome} if outcome.get("holds") is False else None


def prove(goal: Target, most: Bounds, report: Report) -> None:
    """Let z3 decide, and run the code on what it finds. Raises Unable."""
    name = goal["condition"]
    with Worker(dict(goal, kind="proof"), seconds=most.seconds) as worker:
        worker.load()
        answer = worker.ask([])
    if answer.get("proven"):
        said = {"bound": "all values: z3 finds the formula valid", "exhausted": True, "cut": False}
        report.say("none", condition=name, calls="", by=["z3"], **said)
        return
    if "model" not in answer:
        raise Unable("formula", str(answer.get("unknown") or answer.get("message") or "z3 did not end"))
    again = REPLAY + name.removeprefix(PROVE)
    arguments = [f"{word}={value}" for word, value in answer["model"].items()]
    if again not in defined(goal["spec"]):
        raise Unable("formula", f"z3 finds it false for {', '.join(arguments)}, but no {again} runs the code with that")
    try:
        found = broken(Worker(dict(goal, condition=again)), arguments)
    except Unstable as exc:
        raise Unable("nondeterministic", f"{again} does not come to the same twice") from exc
    if not found:
        raise Unable("formula", f"z3 finds it false for {', '.join(arguments)}, but the code does not")
    report.say("counterexample", condition=name, calls=again, arguments=arguments, by="z3", **found)


if __name__ == "__main__":
    sys.exit(run(check, ("tree",), sys.argv[1:]))
