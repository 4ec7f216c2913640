"""Which cases one question is about.

Opinions on one case pull those on the next, so few stand in one question, each panelist gets them
in an order of its own, and critical ones stand alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from reviewbot.context.brief import Brief, brief_about
from reviewbot.debate.case import Case
from reviewbot.debate.panel import Question

MAX_CASES = 5
MAX_LENGTH = 20_000  # characters, about 6,000 tokens

Render = Callable[[Sequence[Case]], str]


def questions_about(
    cases: Sequence[Case], panelist: str, phase: str, render: Render, briefs: Sequence[Brief]
) -> list[tuple[Question, tuple[Case, ...]]]:
    """One question a batch, with the cases that it is about."""

    def order(case: Case) -> bytes:
        return hashlib.sha256(f"{phase} {panelist} {case.id}".encode()).digest()

    questions: list[tuple[Question, tuple[Case, ...]]] = []
    for brief in briefs:
        here = [case for case in cases if brief_about(case.location, briefs) is brief]
        for number, batch in enumerate(_batches(sorted(here, key=order), render), start=1):
            names = (phase, brief.name, str(number) if number > 1 else "")
            question = Question(panelist, "/".join(filter(None, names)), render(batch), brief)
            questions.append((question, tuple(batch)))
    return questions


def _batches(cases: Sequence[Case], render: Render) -> list[list[Case]]:
    batches: list[list[Case]] = []
    open_: list[Case] = []
    for case in cases:
        if case.severity == "critical":
            batches.append([case])
            continue
        if open_ and (len(open_) == MAX_CASES or len(render([*open_, case])) > MAX_LENGTH):
            batches.append(open_)
            open_ = []
        open_.append(case)
    if open_:
        batches.append(open_)
    return batches
