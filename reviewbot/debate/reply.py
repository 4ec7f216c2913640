"""What panelists answer, as text, read into values. One reader, strict; what does not fit is an InvalidReply, never repaired."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from reviewbot.debate import strict
from reviewbot.debate.schema import (
    ARGUMENT,
    ASSIGNMENT_SCHEMA,
    CHECK,
    CLAIMS_SCHEMA,
    COUNSEL_SCHEMA,
    DESIGN_SCHEMA,
    DRAFT_SCHEMA,
    JUDGEMENT_SCHEMA,
    MAX_ARGUMENTS,
    MAX_CLAIMS,
    OPINION_SCHEMA,
    POSITION_SCHEMA,
    REBUTTAL_SCHEMA,
)
from reviewbot.debate.strict import InvalidReply
from reviewbot.domain.debate import Argument, Check, CheckKind, Claim, Position, Seat, Stance
from reviewbot.domain.evidence import Category, Severity
from reviewbot.ports import Draft


@dataclass(frozen=True, slots=True)
class Answer:
    """A raiser's rebuttal: ``defend``, ``amend`` (with a severity or title of its own) or ``withdraw``."""

    decision: str
    severity: Severity | None
    title: str | None
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Stated:
    """A panelist's answer to a question, its citations not yet held against anything."""

    answer: str
    citations: tuple[str, ...]
    caveats: tuple[str, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class Common:
    """What answers have in common. ``dissent`` are (letters of those who differ, what they hold)."""

    answer: str
    citations: tuple[str, ...]
    caveats: tuple[str, ...]
    dissent: tuple[tuple[tuple[str, ...], str], ...]


class Decision(StrEnum):
    """What a moderator makes of a deadlock."""

    UPHELD = "upheld"
    REJECTED = "rejected"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Judged:
    """A moderator's answer: the decision, and the arguments that cite what it rests on."""

    decision: Decision
    arguments: tuple[Argument, ...]


def claims(text: str, seat: Seat) -> tuple[Claim, ...]:
    """The claims of a first pass, not yet through the gates. Raises InvalidReply."""
    document = strict.record(strict.loaded(text), "reply", CLAIMS_SCHEMA["required"])
    listed = strict.listed(document["claims"], "claims", MAX_CLAIMS)
    return tuple(_claim(item, f"claims[{index}]", seat) for index, item in enumerate(listed))


def position(text: str, seat: Seat, *, round_number: int) -> Position:
    """A stand in a cross-examination. Raises InvalidReply. Support that cites nothing counts as neutral."""
    document = strict.record(strict.loaded(text), "reply", POSITION_SCHEMA["required"], optional=("check",))
    stance = strict.choice(document["stance"], "stance", Stance)
    arguments = _arguments(document["arguments"])
    probability = strict.probability(document["probability"], "probability")
    if stance is Stance.SUPPORT and not any(argument.evidence for argument in arguments):
        stance, probability = Stance.NEUTRAL, 0.5
    return Position(seat.name, round_number, stance, probability, arguments, check=check_of(document.get("check"), "check"))


def rebuttal(text: str) -> Answer:
    """A raiser's answer to the arguments against. Raises InvalidReply."""
    document = strict.record(strict.loaded(text), "reply", REBUTTAL_SCHEMA["required"])
    decision = strict.text_of(document["decision"], "decision")
    if decision not in ("defend", "amend", "withdraw"):
        raise InvalidReply(f"decision: {decision!r} is none of defend, amend, withdraw")
    severity = None if document["severity"] is None else strict.severity_of(document["severity"], "severity")
    title = None if document["title"] is None else strict.text_of(document["title"], "title")
    return Answer(decision, severity, title, _arguments(document["arguments"]))


def judgement(text: str) -> Judged:
    """The moderator's answer. Raises InvalidReply. A decision that cites nothing is no decision."""
    document = strict.record(strict.loaded(text), "reply", JUDGEMENT_SCHEMA["required"])
    decision = strict.choice(document["decision"], "decision", Decision)
    arguments = _arguments(document["arguments"])
    cited = any(argument.evidence for argument in arguments)
    return Judged(decision if cited else Decision.UNDECIDED, arguments)


def draft(text: str, path: str) -> Draft | Literal["keep"] | None:
    """A replacement for lines of ``path``, ``keep`` for the one that was shown, or ``None``. Raises InvalidReply."""
    document = strict.record(strict.loaded(text), "reply", DRAFT_SCHEMA["required"])
    decision = strict.text_of(document["decision"], "decision")
    if decision not in ("replace", "keep", "none"):
        raise InvalidReply(f"decision: {decision!r} is none of replace, keep, none")
    start, line = (strict.integer(document[key], key) for key in ("start_line", "line"))
    replacement, explanation = (strict.text_of(document[key], key) for key in ("replacement", "explanation"))
    if decision != "replace":
        return "keep" if decision == "keep" else None
    if not 1 <= start <= line:
        raise InvalidReply(f"start_line {start} and line {line} are no span")
    return Draft(path, start, line, replacement, explanation)


def check_design(text: str) -> Check | None:
    """The check that was written for a claim, ``None`` where nothing would settle it. Raises InvalidReply."""
    document = strict.record(strict.loaded(text), "reply", DESIGN_SCHEMA["required"])
    strict.text_of(document["reason"], "reason")
    return check_of(document["check"], "check")


def opinion(text: str) -> Stated:
    """A panelist's answer to a question. Raises InvalidReply."""
    document = strict.record(strict.loaded(text), "reply", OPINION_SCHEMA["required"])
    answer = strict.said(document["answer"], "answer")
    citations, caveats = (strict.texts(document[key], key) for key in ("citations", "caveats"))
    return Stated(answer, citations, caveats, strict.probability(document["confidence"], "confidence"))


def counsel(text: str, *, letters: Iterable[str]) -> Common:
    """What the answers under these letters have in common. Raises InvalidReply for a letter that does not exist."""
    document = strict.record(strict.loaded(text), "reply", COUNSEL_SCHEMA["required"])
    known, found = frozenset(letters), []
    for index, item in enumerate(strict.listed(document["dissent"], "dissent", MAX_ARGUMENTS)):
        where = f"dissent[{index}]"
        fields = strict.record(item, where, ("who", "about"))
        who = strict.texts(fields["who"], f"{where}.who")
        if not who or not known.issuperset(who):
            raise InvalidReply(f"{where}.who: {list(who)} must be some of the letters {sorted(known)}")
        found.append((who, strict.said(fields["about"], f"{where}.about")))
    answer = strict.said(document["answer"], "answer")
    citations, caveats = (strict.texts(document[key], key) for key in ("citations", "caveats"))
    return Common(answer, citations, caveats, tuple(found))


def assignment(text: str, *, panelists: Iterable[str], portions: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """(panelist, portion) pairs, each once, in the order given. Raises InvalidReply for names that do not exist."""
    document = strict.record(strict.loaded(text), "reply", ASSIGNMENT_SCHEMA["required"])
    known, parts = frozenset(panelists), frozenset(portions)
    found: dict[tuple[str, str], None] = {}
    for index, item in enumerate(strict.listed(document["assignments"], "assignments", MAX_CLAIMS)):
        fields = strict.record(item, f"assignments[{index}]", ("panelist", "portion"))
        who, what = (strict.text_of(fields[key], f"assignments[{index}].{key}") for key in ("panelist", "portion"))
        if who not in known or what not in parts:
            raise InvalidReply(f"assignments[{index}]: {who!r} and {what!r} must be a panelist and a portion of the tables")
        found[who, what] = None
    return tuple(found)


def _claim(item: Any, where: str, seat: Seat) -> Claim:
    required = CLAIMS_SCHEMA["properties"]["claims"]["items"]["required"]
    fields = strict.record(item, where, required)
    start, line = (strict.integer(fields[key], f"{where}.{key}") for key in ("start_line", "line"))
    if not 0 <= start <= line:
        raise InvalidReply(f"{where}: start_line {start} and line {line} are no span")
    texts = {
        key: strict.text_of(fields[key], f"{where}.{key}")
        for key in ("path", "quote", "title", "trigger", "consequence", "falsifier")
    }
    return Claim(
        start_line=start,
        line=line,
        category=strict.choice(fields["category"], f"{where}.category", Category),
        severity=strict.severity_of(fields["severity"], f"{where}.severity"),
        confidence=strict.probability(fields["confidence"], f"{where}.confidence"),
        raised_by=seat.name,
        evidence=strict.texts(fields["evidence_ids"], f"{where}.evidence_ids"),
        rule=None if fields["rule"] is None else strict.text_of(fields["rule"], f"{where}.rule"),
        check=check_of(fields["check"], f"{where}.check"),
        **texts,
    )


def check_of(item: Any, where: str) -> Check | None:
    """A check as a part of an answer, ``None`` where it says that there is none. Raises InvalidReply."""
    if item is None:
        return None
    fields = strict.record(item, where, CHECK["required"])
    return Check(
        kind=strict.choice(fields["kind"], f"{where}.kind", CheckKind),
        command=strict.texts(fields["command"], f"{where}.command"),
        source=strict.text_of(fields["source"], f"{where}.source"),
        subject=strict.text_of(fields["subject"], f"{where}.subject"),
    )


def _arguments(value: Any) -> tuple[Argument, ...]:
    found = []
    for index, item in enumerate(strict.listed(value, "arguments", MAX_ARGUMENTS)):
        where = f"arguments[{index}]"
        fields = strict.record(item, where, ARGUMENT["required"])
        found.append(
            Argument(
                claim=strict.text_of(fields["claim"], f"{where}.claim"),
                evidence=strict.texts(fields["evidence"], f"{where}.evidence"),
                reasoning=strict.text_of(fields["reasoning"], f"{where}.reasoning"),
                counter_arguments=strict.texts(fields["counter_arguments"], f"{where}.counter_arguments"),
            )
        )
    return tuple(found)
