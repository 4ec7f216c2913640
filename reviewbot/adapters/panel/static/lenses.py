"""The first pass: which new results each analyst takes up, and how they become claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from reviewbot.domain.evidence import Category, Evidence, EvidenceKind, Precision, Result, Severity
from reviewbot.ports import FirstPass, Passage

MOST_CLAIMS = 150
MOST_CITED = 100
MOST_QUOTED = 2_000
"""Results that are named of those told as one, and characters of a line: replies are bounded, whoever writes them."""
ALIKE = 3
"""From this many low results of one rule in one file on, they are told as one."""


@dataclass(frozen=True, slots=True)
class Lens:
    """What an analyst looks at: results of these categories, or of these kinds of check whatever their category."""

    categories: frozenset[Category]
    kinds: frozenset[EvidenceKind] = frozenset()

    def takes(self, result: Result) -> bool:
        """The result is this analyst's business."""
        return result.category in self.categories or result.kind in self.kinds


LENSES: Mapping[str, Lens] = {
    "critic": Lens(frozenset({Category.CORRECTNESS, Category.SECURITY}), frozenset({EvidenceKind.TEST})),
    "reviewer": Lens(
        frozenset({Category.MAINTAINABILITY, Category.TESTS, Category.DOCUMENTATION}),
        frozenset({EvidenceKind.TEST, EvidenceKind.API}),
    ),
    "optimizer": Lens(frozenset({Category.PERFORMANCE}), frozenset({EvidenceKind.COMPLEXITY})),
}

CONFIDENCE: Mapping[Precision, float] = {Precision.CERTAIN: 0.95, Precision.LIKELY: 0.80, Precision.HEURISTIC: 0.55}
"""How sure an analyst is of a rule's result before anyone argues. Judgement, not yet calibrated."""

FALSIFIERS: Mapping[EvidenceKind, str] = {
    EvidenceKind.TEST: "the test passes at head when it is run again alone",
    EvidenceKind.LINT: "the rule does not report this line when the tool is run at head",
    EvidenceKind.COVERAGE: "a test that executes these lines",
    EvidenceKind.API: "no caller outside this change uses what was removed",
    EvidenceKind.SECRET: "the value is a documented placeholder, or was revoked",
    EvidenceKind.UNICODE: "the character is part of a text in a language that needs it",
    EvidenceKind.MARKER: "the line is part of a text about merge conflicts or debugging",
    EvidenceKind.COMPLEXITY: "the branches are independent of each other and each is tested",
    EvidenceKind.PERFORMANCE: "the loop's input is bounded by a small constant",
}


def claims(question: FirstPass, role: str) -> list[dict[str, object]]:
    """The claims of one analyst as the JSON objects of a first pass, worst first."""
    lens = LENSES[role]
    shown: dict[str, list[Passage]] = {}
    for passage in question.dossier.passages:
        shown.setdefault(passage.path, []).append(passage)
    mine = [item for item in question.dossier.ledger.new() if lens.takes(item.result)]
    found = [claim for group in _alike(mine) if (claim := _claim(group, shown))]
    return found[:MOST_CLAIMS]


def _alike(items: Iterable[Evidence]) -> list[list[Evidence]]:
    """Results to be told as one: many low ones of one rule in one file; every other result stays alone."""
    ordered = sorted(items, key=lambda item: (-item.result.severity, item.result.path, item.result.rule or "", item.result.line))
    groups: list[list[Evidence]] = []
    for (_, _, severity), run in groupby(ordered, key=lambda item: (item.result.path, item.result.rule, item.result.severity)):
        members = list(run)
        together = severity is Severity.LOW and len(members) > ALIKE
        groups.extend([members] if together else [[member] for member in members])
    return groups


def _claim(group: list[Evidence], shown: Mapping[str, list[Passage]]) -> dict[str, object] | None:
    lead = group[0]
    result = lead.result
    place = _place(result, shown.get(result.path, []))
    if place is None:
        return None
    line, quote = place
    more = f" ({len(group)} places)" if len(group) > 1 else ""
    return {
        "path": result.path,
        "start_line": line,
        "line": line,
        "quote": quote[:MOST_QUOTED],
        "category": result.category.value,
        "severity": result.severity.label,
        "title": result.message + more,
        "trigger": result.trigger,
        "consequence": result.consequence or result.message,
        "confidence": CONFIDENCE[result.precision],
        "falsifier": FALSIFIERS[result.kind],
        "evidence_ids": [item.id for item in group[:MOST_CITED]],
        "rule": result.rule,
        "check": _check(result),
    }


def _place(result: Result, passages: list[Passage]) -> tuple[int, str] | None:
    """Where to point: the result's own line if shown, else the first changed line inside its span; ``(0, "")`` for a file."""
    if result.line == 0:
        return 0, ""
    for passage in passages:
        if text := passage.text(result.line):
            return (result.line, text) if text.strip() else _first_changed(result, passages)
    return _first_changed(result, passages)


def _first_changed(result: Result, passages: list[Passage]) -> tuple[int, str] | None:
    span = range(result.line, max(result.end_line, result.line) + 1)
    lines = sorted((line, passage.text(line) or "") for passage in passages for line in passage.changed if line in span)
    return next(((line, text) for line, text in lines if text.strip()), None)


def _check(result: Result) -> dict[str, object] | None:
    """A failing test is its own check."""
    if result.kind is not EvidenceKind.TEST or not result.subject:
        return None
    if result.tool != "pytest":
        return {"kind": "command", "command": list(result.command), "source": "", "subject": result.subject}
    return {"kind": "test", "command": ["pytest", result.subject], "source": "", "subject": result.subject}
