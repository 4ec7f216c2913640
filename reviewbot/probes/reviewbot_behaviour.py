"""Searches for arguments on which a function does not do the same in two trees.

Usage: ``python -s -B reviewbot_behaviour.py SPEC REPORT head=FOLDER base=FOLDER``. SPEC is JSON: ``{"path", "function",
"base_path": "", "base_function": "", "seconds": 20, "examples": 300, "paths": 300, "call_seconds": 2}``: a path in the tree, a
dotted name, what they were at base if that was something else, and bounds. REPORT gets lines of JSON, of which the last is
``finish`` and the first one of

``counterexample`` ``arguments`` (source texts), ``by`` (boundaries, hypothesis, crosshair), ``base``, ``head``: what came of the
                   call on each side, twice, in fresh processes, as in ``reviewbot_replay``
``none``           ``by`` (a list), ``bound`` in words, ``exhausted``: all paths were followed, ``cut``: time ended the search
``unable``         ``code``, ``reason``

Exit code 0 with a report, 2 for a SPEC that is none. Python 3.10 and later, on Linux; imports nothing of reviewbot.
"""

from __future__ import annotations

import sys
from typing import Any

from reviewbot_calls import CALL_SECONDS, Outcome, Worker, counts, differ, replay, same
from reviewbot_report import Report, Unable, run
from reviewbot_search import Unstable, bounds, look

REPEATS = 7
"""Chance may decide alike twice; that it does so nine times is one in five hundred for a coin."""
PATIENCE = 2
"""How much longer a call may take when it is replayed: a slow one shall not count as one that hangs."""
Parameter = dict[str, Any]


def check(spec: dict[str, Any], report: Report) -> None:
    """Search, and report. Raises Unable."""
    path, name = spec["path"], spec["function"]
    head = {"kind": "function", "tree": spec["head"], "path": path, "function": name}
    older = {"path": spec.get("base_path") or path, "function": spec.get("base_function") or name}
    base = {"kind": "function", "tree": spec["base"], **older}
    patience = float(spec.get("call_seconds", CALL_SECONDS))
    with Worker(base, seconds=patience) as before, Worker(head, seconds=patience) as after:
        look(_Pair(before, after), bounds(spec), report)


class _Pair:
    """The claim that both sides do the same."""

    def __init__(self, base: Worker, head: Worker) -> None:
        self._base, self._head = base, head
        old, new = load(base, "base"), load(head, "head")
        self.parameters, self.left_out = makeable(agreed(old["parameters"], new["parameters"]))
        self.constants = {
            kind: list(dict.fromkeys([*texts, *new["constants"][kind]])) for kind, texts in old["constants"].items()
        }

    def speaks_against(self, arguments: list[str]) -> tuple[bool, Outcome]:
        self._base.send(arguments)
        self._head.send(arguments)
        base, head = self._base.receive(), self._head.receive()
        return differ(base, head), base if counts(head) and "hangs" not in head else head

    def proof(self, arguments: list[str]) -> dict[str, Any] | None:
        base, head = (twice(worker, arguments) for worker in (self._base, self._head))
        return {"base": base, "head": head} if differ(base, head) else None

    def symbolic(self) -> dict[str, Any]:
        return {"targets": [self._base.target, self._head.target]}


def load(worker: Worker, side: str) -> dict[str, Any]:
    try:
        told: dict[str, Any] = worker.load()
    except Unable as exc:
        raise Unable(exc.code, f"at {side}: {exc.reason}") from exc
    return told


def twice(worker: Worker, arguments: list[str]) -> Outcome:
    """What comes of a call, in two fresh processes, and again and again in a third. Raises Unstable."""
    outcomes = [replay(worker.target, arguments, worker.seconds * PATIENCE) for _ in range(2)]
    if same(outcomes) and not {"hangs", "exits"} & outcomes[0].keys():
        with Worker(worker.target, seconds=worker.seconds * PATIENCE) as third:
            outcomes += [third.ask(arguments) for _ in range(REPEATS)]
    if not same(outcomes):
        raise Unstable
    return outcomes[0]


def agreed(old: list[Parameter], new: list[Parameter]) -> list[Parameter]:
    """The parameters to make arguments for: those callers of the base know. The head may have more that are optional.

    The base's annotation counts, the head's where it has none. Raises Unable.
    """
    later = {parameter["name"]: parameter for parameter in new}
    known = [parameter["name"] for parameter in old]
    order = [parameter["name"] for parameter in new if parameter["name"] in known]
    added = [parameter for parameter in new if parameter["name"] not in known]
    kinds = all(parameter["kind"] == later.get(parameter["name"], {}).get("kind") for parameter in old)
    if order != known or not kinds or not all(parameter["optional"] for parameter in added):
        raise Unable("parameters", f"the parameters differ: base {_names(old)}, head {_names(new)}")
    return [
        dict(parameter, shape=parameter["shape"] or later[parameter["name"]]["shape"], why=later[parameter["name"]]["why"])
        for parameter in old
    ]


def makeable(parameters: list[Parameter]) -> tuple[list[Parameter], list[str]]:
    """Those for which arguments can be made, and the names of others, which have a default. Raises Unable."""
    found, left_out = [], []
    for parameter in parameters:
        if parameter["shape"] and not (parameter["optional"] and parameter["kind"] == "only positional"):
            found.append(parameter)
        elif parameter["optional"]:
            left_out.append(parameter["name"])
        else:
            raise Unable("annotations", f"parameter {parameter['name']}: {parameter['why']}")
    return found, left_out


def _names(parameters: list[Parameter]) -> str:
    return f"({', '.join(parameter['name'] for parameter in parameters)})"


if __name__ == "__main__":
    sys.exit(run(check, ("head", "base", "path", "function"), sys.argv[1:]))
