"""What the judges of goals have in common: the files before and after, what the tests say, whether functions do what they did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from reviewbot.domain.evidence import Ledger
from reviewbot.domain.repair import Refusal
from reviewbot.drive import NO_TIME
from reviewbot.evidence import unchanged
from reviewbot.evidence.unchanged import Kept
from reviewbot.pipeline.trying import Candidate
from reviewbot.ports import Task, Trialled

SUITE = "pytest"


@dataclass(frozen=True, slots=True)
class Sides:
    """The files that a candidate touches, before it and with it; ``None`` where there is none."""

    old: Mapping[str, bytes | None]
    new: Mapping[str, bytes | None]


def sides(candidate: Candidate) -> Sides:
    """What it makes of which files."""
    before = {edit.path: edit.content for edit in candidate.trial.before}
    after = before | {edit.path: edit.content for edit in candidate.trial.edits}
    court = candidate.court
    objects, blobs = court.run.world.objects, court.material.blobs
    assert objects is not None
    heads = {path: objects.blob(blobs[path]) if path in blobs else None for path in after}
    old = heads | before
    return Sides({path: old[path] for path in after if old[path] != after[path]}, {p: c for p, c in after.items() if old[p] != c})


def refused(rule: str, paths: Iterable[str], reason: str) -> tuple[Refusal, ...]:
    """A refusal for each of these paths."""
    return tuple(Refusal(rule, path, reason) for path in paths)


def kept(candidate: Candidate) -> Kept:
    """Whether the functions that it alters do what they did."""
    with candidate.court.opened(candidate.before, candidate.tree) as (read, run):
        return run.bench.conduct(unchanged.conduct(read.view, run.options.checks))


def shown(made: Trialled, tasks: Iterable[Task], words: str, *, doubt: str = "") -> Trialled:
    """The tasks are done, as these words show. With a ``doubt`` nothing shows it, and it is told beside."""
    names = tuple(task.id for task in tasks)
    if doubt:
        return replace(made, red=(), unknown=names, beside=(words, doubt, *made.beside))
    return replace(made, red=(), unknown=(), shown=tuple((name, words) for name in names))


def undone(made: Trialled, reason: str, output: str = "") -> Trialled:
    """The tasks are not done by it, with the reason."""
    return replace(made, red=(), unknown=(), reason=reason, output=output)


def out_of_time(candidate: Candidate, made: Trialled) -> Trialled | None:
    """Nothing can be said any more; ``None`` where there is time."""
    return None if candidate.court.run.deadline.left() else replace(made, reason=NO_TIME)


def silent(now: Ledger) -> str:
    """Why the tests say nothing of a candidate, empty where they do."""
    suite = next((run for run in now.checks if run.name == SUITE), None)
    if now.tests.passed and (suite is None or (suite.ran and not suite.cut_short)):
        return ""
    if suite is not None and suite.reason:
        return f"the tests say nothing of it: {suite.reason}"
    return "no test says anything of it"
