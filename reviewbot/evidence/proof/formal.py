"""What the searches for a counter-example have in common: a search, and calls that repeat what it found in fresh processes."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from reviewbot.domain.evidence import Side
from reviewbot.evidence.parsers import formal
from reviewbot.evidence.parsers.formal import Called, Judged, Replayed, Result, Searched, Unable
from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.evidence.proof.method import Unfit
from reviewbot.evidence.view import is_inside
from reviewbot.ports import Ended, Job, Outcome

REPORT = "report.jsonl"
SEARCH_SECONDS = 20.0
"""Of one search, each condition of a contract by itself: what a person would wait for [design]."""
REPLAY_SECONDS = 20.0
PYTHONS = ("{own_python}", "{python}")
_CANNOT_IMPORT = "import"
_SPEC = "spec.json"
Overlay = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What a search said, and the Python that could load the code."""

    results: tuple[Result, ...]
    python: str


Searching = Generator[tuple[Job, ...], tuple[Outcome, ...], Found]


def search(probe: str, spec: Mapping[str, Any]) -> Searching:
    """A search at head, the base's tree beside it: by reviewbot's own Python, which has the solvers, or by the project's where
    the code needs what is installed there. Raises Unfit."""
    for python in PYTHONS:
        words = {**spec, "seconds": SEARCH_SECONDS}
        job = _job(f"proof:{probe}", f"reviewbot_{probe}", words, python=python, seconds=3 * SEARCH_SECONDS + 60)
        (outcome,) = yield (job,)
        found = Found(results(outcome), python)
        if not all(isinstance(result, Unable) and result.code == _CANNOT_IMPORT for result in found.results):
            break
    return found


def replay(name: str, spec: Mapping[str, Any], side: Side, *, python: str, overlay: Overlay = ()) -> Job:
    """One call in a fresh process at one side."""
    job = _job(f"proof:{name}", "reviewbot_replay", spec, python=python, seconds=REPLAY_SECONDS)
    return replace(job, tree=side, overlay=overlay)


def results(outcome: Outcome) -> tuple[Result, ...]:
    """What a search says. Raises Unfit where it does not say anything."""
    if outcome.ended is not Ended.EXITED:
        raise Unfit(outcome.reason)
    try:
        report = formal.read(outcome.file(REPORT) or b"")
    except Unreadable as exc:
        raise Unfit(f"its report cannot be read: {exc}") from exc
    if not report.results:
        raise Unfit(f"the search said nothing: {outcome.stderr[-300:].decode('utf-8', 'replace').strip()}")
    return report.results


def replayed(outcome: Outcome) -> Called | Judged | None:
    """What came of one call; ``None`` where that is not known."""
    try:
        found = formal.read(outcome.file(REPORT) or b"").results if outcome.ended is Ended.EXITED else ()
    except Unreadable:
        return None
    return found[0].outcome if found and isinstance(found[0], Replayed) else None


def told(result: Searched | Unable) -> str:
    """A search without a counter-example, in words."""
    if isinstance(result, Unable):
        return f"it cannot be searched: {result.reason}"
    whole = "all paths were followed" if result.exhausted else f"searched by {', '.join(result.by)} within {result.bound}"
    cut = ", until time was up" if result.cut else ""
    return f"no counter-example was found: {whole}{cut}"


def place(subject: str) -> tuple[str, str]:
    """``path:function`` taken apart. Raises Unfit."""
    path, _, name = subject.rpartition(":")
    if not (is_inside(path) and path.endswith(".py") and all(part.isidentifier() for part in name.split("."))):
        raise Unfit(f"{subject!r} names no Python function as path.py:name")
    return path, name


def _job(name: str, probe: str, spec: Mapping[str, Any], *, python: str, seconds: float) -> Job:
    argv = (python, "-s", "-B", f"{{probes}}/{probe}.py", f"{{scratch}}/{_SPEC}", f"{{scratch}}/{REPORT}")
    return Job(
        name,
        (*argv, "tree={tree}", "head={tree}", "base={beside}"),
        seconds,
        executes=True,
        tree=Side.HEAD,
        beside=Side.BASE,
        files=((_SPEC, json.dumps(spec).encode("ascii")),),
        collect=(REPORT,),
        environment=(("PYTHONHASHSEED", "0"),),
    )
