"""What panelists answer while code is made, as text, read into values. Strict: what does not fit is an InvalidReply."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from reviewbot.debate import strict
from reviewbot.debate.making.schema import (
    APPRAISAL_SCHEMA,
    EDIT,
    EDITS_SCHEMA,
    MAX_CODE,
    MAX_EDITS,
    MOST_SCORE,
    POINT,
    VERDICT,
)
from reviewbot.debate.schema import MAX_ARGUMENTS
from reviewbot.debate.strict import InvalidReply


@dataclass(frozen=True, slots=True)
class Swap:
    """``replace`` where ``find`` stands in a file as shown. An empty ``find`` is for a file that is not there yet."""

    path: str
    find: str
    replace: str


@dataclass(frozen=True, slots=True)
class Writing:
    """What somebody wrote in an answer, not yet held against any file."""

    explanation: str
    swaps: tuple[Swap, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """What a judge says against a candidate."""

    text: str
    critical: bool
    cites: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's word on the candidate under ``letter``; ``score`` from 0 to 10."""

    letter: str
    points: tuple[Point, ...]
    acceptable: bool
    score: float


def writing(text: str) -> Writing:
    """Code that was written. Raises InvalidReply."""
    document = strict.record(strict.loaded(text), "reply", EDITS_SCHEMA["required"])
    explanation = strict.text_of(document["explanation"], "explanation")
    found = strict.listed(document["edits"], "edits", MAX_EDITS)
    return Writing(explanation, tuple(_swap(item, f"edits[{index}]") for index, item in enumerate(found)))


def verdicts(text: str, *, letters: Iterable[str]) -> tuple[Verdict, ...]:
    """A verdict on each of the candidates, in the order of their letters. Raises InvalidReply where one is missing or twice."""
    document = strict.record(strict.loaded(text), "reply", APPRAISAL_SCHEMA["required"])
    listed = strict.listed(document["verdicts"], "verdicts", MAX_ARGUMENTS)
    found = [_verdict(item, f"verdicts[{index}]") for index, item in enumerate(listed)]
    wanted = sorted(letters)
    if sorted(verdict.letter for verdict in found) != wanted:
        raise InvalidReply(f"verdicts: one for each of the letters {wanted} is wanted")
    return tuple(sorted(found, key=lambda verdict: verdict.letter))


def _swap(item: Any, where: str) -> Swap:
    fields = strict.record(item, where, EDIT["required"])
    path = strict.said(fields["path"], f"{where}.path")
    return Swap(path, *(strict.text_of(fields[key], f"{where}.{key}", MAX_CODE) for key in ("find", "replace")))


def _verdict(item: Any, where: str) -> Verdict:
    fields = strict.record(item, where, VERDICT["required"])
    points = strict.listed(fields["points"], f"{where}.points", MAX_ARGUMENTS)
    return Verdict(
        strict.text_of(fields["letter"], f"{where}.letter"),
        tuple(_point(point, f"{where}.points[{index}]") for index, point in enumerate(points)),
        strict.truth(fields["acceptable"], f"{where}.acceptable"),
        strict.number(fields["score"], f"{where}.score", MOST_SCORE),
    )


def _point(item: Any, where: str) -> Point:
    fields = strict.record(item, where, POINT["required"])
    text = strict.said(fields["text"], f"{where}.text")
    critical = strict.truth(fields["critical"], f"{where}.critical")
    return Point(text, critical, strict.texts(fields["cites"], f"{where}.cites"))
