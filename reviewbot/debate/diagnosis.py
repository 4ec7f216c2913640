"""Hypotheses about a report of a bug, as panelists answer them: the schema, and the strict reading of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reviewbot.debate import strict
from reviewbot.debate.making.schema import MAKING_ENVELOPE
from reviewbot.debate.reply import check_of
from reviewbot.debate.schema import ANSWER, CHECK, MAX_TEXT
from reviewbot.debate.strict import InvalidReply
from reviewbot.domain.debate import Check

MOST_HYPOTHESES = 10
"""In one answer, whatever was asked for."""

_TEXT: Mapping[str, Any] = {"type": "string", "maxLength": MAX_TEXT}
HYPOTHESIS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["path", "line", "title", "cause", "symptom", "check"],
    "properties": {
        "path": _TEXT,
        "line": {"type": "integer"},
        "title": _TEXT,
        "cause": _TEXT,
        "symptom": _TEXT,
        "check": CHECK,
    },
}
HYPOTHESES_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["hypotheses"],
    "properties": {"hypotheses": {"type": "array", "maxItems": MOST_HYPOTHESES, "items": HYPOTHESIS}},
}
"""JSON Schema of the answer to a report."""

PURSUING_ENVELOPE: Mapping[str, Any] = {
    **MAKING_ENVELOPE,
    "properties": {ANSWER: {"anyOf": [*MAKING_ENVELOPE["properties"][ANSWER]["anyOf"], HYPOTHESES_SCHEMA]}},
}
"""Every answer of a conversation that begins with a report, in one schema (see ``schema.ENVELOPE``)."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """What may be wrong: at which line, why, what a user sees of it, and the check that fails because of it. ``by`` are the seats
    that hold it."""

    path: str
    line: int
    title: str
    cause: str
    symptom: str
    check: Check
    by: tuple[str, ...] = ()


def hypotheses(text: str) -> tuple[Hypothesis, ...]:
    """Those that were formed. Raises InvalidReply: a hypothesis that comes without a check is none."""
    document = strict.record(strict.loaded(text), "reply", HYPOTHESES_SCHEMA["required"])
    listed = strict.listed(document["hypotheses"], "hypotheses", MOST_HYPOTHESES)
    return tuple(_hypothesis(item, f"hypotheses[{index}]") for index, item in enumerate(listed))


def _hypothesis(item: Any, where: str) -> Hypothesis:
    fields = strict.record(item, where, HYPOTHESIS["required"])
    line = strict.integer(fields["line"], f"{where}.line")
    if line < 0:
        raise InvalidReply(f"{where}.line: {line} is the number of no line")
    check = check_of(fields["check"], f"{where}.check")
    if check is None:
        raise InvalidReply(f"{where}.check: a hypothesis needs a check that fails because of it")
    path, cause, symptom = (strict.text_of(fields[key], f"{where}.{key}") for key in ("path", "cause", "symptom"))
    return Hypothesis(path, line, strict.said(fields["title"], f"{where}.title"), cause, symptom, check)
