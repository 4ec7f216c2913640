"""What panelists answer, as text, read into values. One reader, strict; what does not fit is an InvalidReply, never repaired."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, TypeVar

from reviewbot.debate.schema import (
    ANSWER,
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
    MAX_TEXT,
    OPINION_SCHEMA,
    POSITION_SCHEMA,
    REBUTTAL_SCHEMA,
)
from reviewbot.domain.debate import Argument, Check, CheckKind, Claim, Position, Seat, Stance
from reviewbot.domain.evidence import Category, Severity
from reviewbot.ports import Draft
from reviewbot.screen import strict_json

_Enum = TypeVar("_Enum", bound=StrEnum)

LONGEST_FAULT = 600
"""Characters of what is said of an invalid answer: it quotes the answer, which may be of any length."""


class InvalidReply(ValueError):
    """An answer that does not fit its schema; the message can be quoted to whoever gave it."""

    def __init__(self, message: str) -> None:
        super().__init__(message if len(message) <= LONGEST_FAULT else f"{message[:LONGEST_FAULT]} …")


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
    document = _object(_load(text), "reply", CLAIMS_SCHEMA["required"])
    listed = _list(document["claims"], "claims", MAX_CLAIMS)
    return tuple(_claim(item, f"claims[{index}]", seat) for index, item in enumerate(listed))


def position(text: str, seat: Seat, *, round_number: int) -> Position:
    """A stand in a cross-examination. Raises InvalidReply. Support that cites nothing counts as neutral."""
    document = _object(_load(text), "reply", POSITION_SCHEMA["required"], optional=("check",))
    stance = _choice(document["stance"], "stance", Stance)
    arguments = _arguments(document["arguments"])
    probability = _probability(document["probability"], "probability")
    if stance is Stance.SUPPORT and not any(argument.evidence for argument in arguments):
        stance, probability = Stance.NEUTRAL, 0.5
    return Position(seat.name, round_number, stance, probability, arguments, check=_check(document.get("check"), "check"))


def rebuttal(text: str) -> Answer:
    """A raiser's answer to the arguments against. Raises InvalidReply."""
    document = _object(_load(text), "reply", REBUTTAL_SCHEMA["required"])
    decision = _text(document["decision"], "decision")
    if decision not in ("defend", "amend", "withdraw"):
        raise InvalidReply(f"decision: {decision!r} is none of defend, amend, withdraw")
    severity = None if document["severity"] is None else _severity(document["severity"], "severity")
    title = None if document["title"] is None else _text(document["title"], "title")
    return Answer(decision, severity, title, _arguments(document["arguments"]))


def judgement(text: str) -> Judged:
    """The moderator's answer. Raises InvalidReply. A decision that cites nothing is no decision."""
    document = _object(_load(text), "reply", JUDGEMENT_SCHEMA["required"])
    decision = _choice(document["decision"], "decision", Decision)
    arguments = _arguments(document["arguments"])
    cited = any(argument.evidence for argument in arguments)
    return Judged(decision if cited else Decision.UNDECIDED, arguments)


def draft(text: str, path: str) -> Draft | Literal["keep"] | None:
    """A replacement for lines of ``path``, ``keep`` for the one that was shown, or ``None``. Raises InvalidReply."""
    document = _object(_load(text), "reply", DRAFT_SCHEMA["required"])
    decision = _text(document["decision"], "decision")
    if decision not in ("replace", "keep", "none"):
        raise InvalidReply(f"decision: {decision!r} is none of replace, keep, none")
    start, line = (_integer(document[key], key) for key in ("start_line", "line"))
    replacement, explanation = (_text(document[key], key) for key in ("replacement", "explanation"))
    if decision != "replace":
        return "keep" if decision == "keep" else None
    if not 1 <= start <= line:
        raise InvalidReply(f"start_line {start} and line {line} are no span")
    return Draft(path, start, line, replacement, explanation)


def check_design(text: str) -> Check | None:
    """The check that was written for a claim, ``None`` where nothing would settle it. Raises InvalidReply."""
    document = _object(_load(text), "reply", DESIGN_SCHEMA["required"])
    _text(document["reason"], "reason")
    return _check(document["check"], "check")


def opinion(text: str) -> Stated:
    """A panelist's answer to a question. Raises InvalidReply."""
    document = _object(_load(text), "reply", OPINION_SCHEMA["required"])
    answer = _said(document["answer"], "answer")
    citations, caveats = (_texts(document[key], key) for key in ("citations", "caveats"))
    return Stated(answer, citations, caveats, _probability(document["confidence"], "confidence"))


def counsel(text: str, *, letters: Iterable[str]) -> Common:
    """What the answers under these letters have in common. Raises InvalidReply for a letter that does not exist."""
    document = _object(_load(text), "reply", COUNSEL_SCHEMA["required"])
    known, found = frozenset(letters), []
    for index, item in enumerate(_list(document["dissent"], "dissent", MAX_ARGUMENTS)):
        where = f"dissent[{index}]"
        fields = _object(item, where, ("who", "about"))
        who = _texts(fields["who"], f"{where}.who")
        if not who or not known.issuperset(who):
            raise InvalidReply(f"{where}.who: {list(who)} must be some of the letters {sorted(known)}")
        found.append((who, _said(fields["about"], f"{where}.about")))
    answer = _said(document["answer"], "answer")
    citations, caveats = (_texts(document[key], key) for key in ("citations", "caveats"))
    return Common(answer, citations, caveats, tuple(found))


def assignment(text: str, *, panelists: Iterable[str], portions: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """(panelist, portion) pairs, each once, in the order given. Raises InvalidReply for names that do not exist."""
    document = _object(_load(text), "reply", ASSIGNMENT_SCHEMA["required"])
    known, parts = frozenset(panelists), frozenset(portions)
    found: dict[tuple[str, str], None] = {}
    for index, item in enumerate(_list(document["assignments"], "assignments", MAX_CLAIMS)):
        fields = _object(item, f"assignments[{index}]", ("panelist", "portion"))
        who, what = (_text(fields[key], f"assignments[{index}].{key}") for key in ("panelist", "portion"))
        if who not in known or what not in parts:
            raise InvalidReply(f"assignments[{index}]: {who!r} and {what!r} must be a panelist and a portion of the tables")
        found[who, what] = None
    return tuple(found)


def _load(text: str) -> Any:
    """The document, taken out of its envelope where it came in one."""
    try:
        document = strict_json.loads(text, max_bytes=2_000_000)
    except strict_json.InvalidJson as exc:
        raise InvalidReply(f"not valid JSON: {exc}") from exc
    return document[ANSWER] if isinstance(document, dict) and set(document) == {ANSWER} else document


def _claim(item: Any, where: str, seat: Seat) -> Claim:
    required = CLAIMS_SCHEMA["properties"]["claims"]["items"]["required"]
    fields = _object(item, where, required)
    start, line = (_integer(fields[key], f"{where}.{key}") for key in ("start_line", "line"))
    if not 0 <= start <= line:
        raise InvalidReply(f"{where}: start_line {start} and line {line} are no span")
    texts = {
        key: _text(fields[key], f"{where}.{key}") for key in ("path", "quote", "title", "trigger", "consequence", "falsifier")
    }
    return Claim(
        start_line=start,
        line=line,
        category=_choice(fields["category"], f"{where}.category", Category),
        severity=_severity(fields["severity"], f"{where}.severity"),
        confidence=_probability(fields["confidence"], f"{where}.confidence"),
        raised_by=seat.name,
        evidence=_texts(fields["evidence_ids"], f"{where}.evidence_ids"),
        rule=None if fields["rule"] is None else _text(fields["rule"], f"{where}.rule"),
        check=_check(fields["check"], f"{where}.check"),
        **texts,
    )


def _check(item: Any, where: str) -> Check | None:
    if item is None:
        return None
    fields = _object(item, where, CHECK["required"])
    return Check(
        kind=_choice(fields["kind"], f"{where}.kind", CheckKind),
        command=_texts(fields["command"], f"{where}.command"),
        source=_text(fields["source"], f"{where}.source"),
        subject=_text(fields["subject"], f"{where}.subject"),
    )


def _arguments(value: Any) -> tuple[Argument, ...]:
    found = []
    for index, item in enumerate(_list(value, "arguments", MAX_ARGUMENTS)):
        where = f"arguments[{index}]"
        fields = _object(item, where, ARGUMENT["required"])
        found.append(
            Argument(
                claim=_text(fields["claim"], f"{where}.claim"),
                evidence=_texts(fields["evidence"], f"{where}.evidence"),
                reasoning=_text(fields["reasoning"], f"{where}.reasoning"),
                counter_arguments=_texts(fields["counter_arguments"], f"{where}.counter_arguments"),
            )
        )
    return tuple(found)


def _object(value: Any, where: str, keys: Iterable[str], *, optional: tuple[str, ...] = ()) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidReply(f"{where}: an object is wanted")
    known = frozenset(keys)
    missing, unknown = sorted(known - set(value) - set(optional)), sorted(set(value) - known)
    if missing or unknown:
        raise InvalidReply(f"{where}: missing {missing}, unknown {unknown}")
    return value


def _list(value: Any, where: str, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise InvalidReply(f"{where}: a list of at most {most} is wanted")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise InvalidReply(f"{where}: a text of at most {MAX_TEXT} characters is wanted")
    return value


def _said(value: Any, where: str) -> str:
    text = _text(value, where)
    if not text.strip():
        raise InvalidReply(f"{where}: it is empty")
    return text


def _texts(value: Any, where: str) -> tuple[str, ...]:
    return tuple(_text(item, f"{where}[{index}]") for index, item in enumerate(_list(value, where, MAX_CLAIMS)))


def _integer(value: Any, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidReply(f"{where}: a whole number is wanted")
    return value


def _probability(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidReply(f"{where}: a number from 0 to 1 is wanted")
    return float(value)


def _severity(value: Any, where: str) -> Severity:
    for severity in Severity:
        if value == severity.label:
            return severity
    raise InvalidReply(f"{where}: {value!r} is no severity")


def _choice(value: Any, where: str, options: type[_Enum]) -> _Enum:
    try:
        return options(value)
    except ValueError as exc:
        raise InvalidReply(f"{where}: {value!r} is none of {[option.value for option in options]}") from exc
