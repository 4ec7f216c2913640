"""From the outcomes of a plan to the ledger: every check heard, base and head compared, items numbered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from reviewbot.domain.evidence import CheckRun, Evidence, EvidenceKind, EvidenceStatus, Ledger, Result, TestRun
from reviewbot.evidence import benchmarks, coverage, lint, migrations, places, presets, public, shown, suite, suites, tools
from reviewbot.evidence.coverage import Measurement
from reviewbot.evidence.match import Heard, Mark, compare
from reviewbot.evidence.suites import Suite
from reviewbot.evidence.view import CheckOptions, Plan, View
from reviewbot.ports import Outcome

_ORDER = {EvidenceStatus.NEW: 0, EvidenceStatus.EXISTING: 1, EvidenceStatus.FIXED: 2}


def collect(view: View, plan: Plan, outcomes: Sequence[Outcome], *, read: Heard, options: CheckOptions) -> Ledger:
    """The ledger. ``outcomes`` are those of ``plan.jobs``, in its order; ``read`` is what the analysers said."""
    by_name = {job.name: outcome for job, outcome in zip(plan.jobs, outcomes, strict=True)}
    heard = tuple(_heard(view, by_name, read=read, options=options))
    base_texts = {file.path: places.lines(view.contents_of(file).base) for file in view.files}
    told = [(one, (*one.marks, *compare(view.change, one.sides, base_texts))) for one in heard]
    marks = [mark for _, said in told for mark in said]
    items, notes = _numbered(marks, options.max_items)
    return Ledger(
        items=items,
        checks=tuple(_runs(told, plan, options)),
        tests=sum((one.tests for one in heard if one.tests), TestRun()),
        sandbox=view.sandbox,
        notes=(
            *view.sandbox_notes,
            *_new_only(plan.notes, view.sandbox_notes),
            *(note for one in heard for note in one.notes),
            *notes,
        ),
    )


def _heard(view: View, outcomes: Mapping[str, Outcome], *, read: Heard, options: CheckOptions) -> Iterator[Heard]:
    """What every check said."""
    yield suite.hear(view, outcomes, is_trial=options.is_trial)
    for check in presets.chosen(view, options):
        if isinstance(check, Suite):
            yield suites.hear(check, view, outcomes)
        elif isinstance(check, Measurement):
            yield coverage.hear(check, view, outcomes)
        else:
            yield tools.hear(check, view, outcomes)
    yield migrations.hear(view, outcomes)
    yield benchmarks.hear(view, outcomes, options)
    yield lint.hear(view, outcomes)
    yield public.hear(view, outcomes)
    yield read


def _runs(told: list[tuple[Heard, tuple[Mark, ...]]], plan: Plan, options: CheckOptions) -> Iterator[CheckRun]:
    """Every check, run or not. One that has something new to say has failed; that no test runs a line is no failure of tests."""
    yield from plan.skipped
    for one, said in told:
        has_news = any(mark.status is EvidenceStatus.NEW and mark.result.kind is not EvidenceKind.COVERAGE for mark in said)
        for run in one.runs:
            yield replace(run, failed=run.ran and has_news, required=run.required or run.name in options.required)


def _new_only(notes: tuple[str, ...], said: tuple[str, ...]) -> tuple[str, ...]:
    """A plan's note that nothing ran, unless the sandbox already said so with its reason."""
    return () if any(note.startswith("nothing of the change was executed") for note in said) else notes


def _numbered(marks: list[Mark], most: int) -> tuple[tuple[Evidence, ...], tuple[str, ...]]:
    """Items in an order that the marks alone decide; what is not new is bounded, worst first."""
    kept: list[Mark] = []
    notes: list[str] = []
    for status, group in groupby(sorted(marks, key=_rank), key=lambda mark: mark.status):
        same = list(group)
        bound = most if status is not EvidenceStatus.NEW else 10 * most
        kept += same[:bound]
        if len(same) > bound:
            notes.append(f"{len(same) - bound} further {status} results are left out of the record")
    items = (
        Evidence(f"E{number}", mark.status, mark.revision, _as_shown(mark.result), suppressed=mark.suppressed)
        for number, mark in enumerate(kept, start=1)
    )
    return tuple(items), tuple(notes)


def _as_shown(result: Result) -> Result:
    """The anchor told base and head apart in its own letters; from here on it is as it may be seen."""
    return replace(result, anchor=shown.excerpt(result.anchor))


def _rank(mark: Mark) -> tuple[object, ...]:
    result = mark.result
    place = (result.path, result.line, result.end_line)
    return (_ORDER[mark.status], -result.severity, *place, result.tool, result.rule or "", result.message, result.subject)
