"""Calls one function of one tree once, with given arguments, in a fresh process, and writes down what came of it.

Usage: ``python -s -B reviewbot_replay.py SPEC REPORT tree=FOLDER``. SPEC is JSON: ``{"path", "function", "arguments":
[text…]}``, with ``"contract": true`` for a contract, or ``{"spec": source text, "condition": name, "arguments"}`` for a
specification; ``seconds`` bounds the call (5). REPORT gets two lines of JSON, of which the last is ``finish`` and the first is
``unable`` with ``code`` and ``reason``, or ``replayed`` with an ``outcome``. This has of a function one of

``returns`` what the value holds, as text
``raises``  the name of the exception's class, with a ``message``
``exits``   the code with which the process ended; negative: a signal
``hangs``   the seconds after which it was ended

and, where there are such, ``mutated`` (parameter: what it holds afterwards), ``printed``, and ``private``: ``names`` of private
attributes and a ``text`` that tells what they hold. Of a specification or contract it has ``exits``, ``hangs``, or ``holds``:
true, false, or null where the specification itself is in error; then ``skipped`` says that it does not speak of these arguments,
``asserted`` that an assertion of its own failed and not something below, ``raises``, ``message`` and ``line`` (1-based) what and
where.

Exit code 0 with a report, 2 for a SPEC that is none. Python 3.10 and later, on Linux; imports nothing of reviewbot.
"""

from __future__ import annotations

import sys
from typing import Any

from reviewbot_calls import counts, replay
from reviewbot_report import Report, Unable, run

SECONDS = 5.0


def check(spec: dict[str, Any], report: Report) -> None:
    """Make the call. Raises Unable."""
    outcome = replay(target(spec), list(spec["arguments"]), float(spec.get("seconds", SECONDS)))
    if "unbuildable" in outcome:
        raise Unable("values", outcome["unbuildable"])
    if not counts(outcome):
        raise Unable("spoilt", "the code under test wrote into the report")
    report.say("replayed", outcome=outcome)


def target(spec: dict[str, Any]) -> dict[str, Any]:
    """What is to be called."""
    if "spec" in spec:
        return {"kind": "spec", "tree": spec["tree"], "spec": spec["spec"], "condition": spec["condition"]}
    kind = "contract" if spec.get("contract") else "function"
    return {"kind": kind, "tree": spec["tree"], "path": spec["path"], "function": spec["function"]}


if __name__ == "__main__":
    sys.exit(run(check, ("tree", "arguments"), sys.argv[1:]))
