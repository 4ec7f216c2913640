"""What panelists answer, as text, read into values. One reader, strict; what does not fit is an InvalidReply, never repaired."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from reviewbot.domain.debate import Argument, Check, Claim, Position, Seat, Stance
from reviewbot.domain.evidence import Category, Severity
from reviewbot.screen import strict_json

_Enum = TypeVar("_Enum", bound=StrEnum)

MAX_CLAIMS = 200
MAX_ARGUMENTS = 20
MAX_TEXT = 8_000

_TEXT = {"type": "string", "maxLength": MAX_TEXT}
_ARGUMENT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["claim", "evidence", "reasoning", "counter_arguments"],
    "properties": {
        "claim": _TEXT,
        "evidence": {"type": "array", "items": _TEXT},
        "reasoning": _TEXT,
        "counter_arguments": {"type": "array", "items": _TEXT},
    },
}
_ARGUMENTS = {"type": "array", "items": _ARGUMENT, "maxItems": MAX_ARGUMENTS}
_CHECK = {
    "type": ["object", "null"],
    "additionalProperties": False,
    "required": ["command", "source", "subject"],
    "properties": {"command": {"type": "array", "items": _TEXT}, "source": _TEXT, "subject": _TEXT},
}
_SEVERITY = {"enum": [severity.label for severity in Severity]}

CLAIMS_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["claims"],
    "properties": {
        "claims": {
            "type": "array",
            "maxItems": MAX_CLAIMS,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": [
                    "path", "start_line", "line", "quote", "category", "severity", "title", "trigger", "consequence",
                    "confidence", "falsifier", "evidence_ids", "rule", "check",
                ],
                "properties": {
                    "path": _TEXT,
                    "start_line": {"type": "integer"},
                    "line": {"type": "integer"},
                    "quote": _TEXT,
                    "category": {"enum": [category.value for category in Category]},
                    "severity": _SEVERITY,
                    "title": _TEXT,
                    "trigger": _TEXT,
                    "consequence": _TEXT,
                    "confidence": {"type": "number"},
                    "falsifier": _TEXT,
                    "evidence_ids": {"type": "array", "items": _TEXT},
                    "rule": {"type": ["string", "null"]},
                    "check": _CHECK,
                },
            },
        }
    },
}  # fmt: skip
"""JSON Schema of the answer to a first pass."""

POSITION_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["stance", "probability", "arguments"],
    "properties": {
        "stance": {"enum": [stance.value for stance in Stance]},
        "probability": {"type": "number"},
        "arguments": _ARGUMENTS,
    },
}
"""JSON Schema of the answer to a cross-examination."""

REBUTTAL_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["decision", "severity", "title", "arguments"],
    "properties": {
        "decision": {"enum": ["defend", "amend", "withdraw"]},
        "severity": {"enum": [*_SEVERITY["enum"], None]},
        "title": {"type": ["string", "null"]},
        "arguments": _ARGUMENTS,
    },
}
"""JSON Schema of a raiser's one answer."""


class InvalidReply(ValueError):
    """An answer that does not fit its schema; the message can be quoted to whoever gave it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A raiser's rebuttal: ``defend``, ``amend`` (with a severity or title of its own) or ``withdraw``."""

    decision: str
    severity: Severity | None
    title: str | None
    arguments: tuple[Argument, ...]


def claims(text: str, seat: Seat) -> tuple[Claim, ...]:
    """The claims of a first pass, not yet through the gates. Raises InvalidReply."""
    document = _object(_load(text), "reply", CLAIMS_SCHEMA["required"])
    listed = _list(document["claims"], "claims", MAX_CLAIMS)
    return tuple(_claim(item, f"claims[{index}]", seat) for index, item in enumerate(listed))


def position(text: str, seat: Seat, *, round_number: int) -> Position:
    """A stand in a cross-examination. Raises InvalidReply. Support that cites nothing counts as neutral."""
    document = _object(_load(text), "reply", POSITION_SCHEMA["required"])
    stance = _choice(document["stance"], "stance", Stance)
    arguments = _arguments(document["arguments"])
    probability = _probability(document["probability"], "probability")
    if stance is Stance.SUPPORT and not any(argument.evidence for argument in arguments):
        stance, probability = Stance.NEUTRAL, 0.5
    return Position(seat.name, round_number, stance, probability, arguments)


def rebuttal(text: str) -> Answer:
    """A raiser's answer to the arguments against. Raises InvalidReply."""
    document = _object(_load(text), "reply", REBUTTAL_SCHEMA["required"])
    decision = _text(document["decision"], "decision")
    if decision not in ("defend", "amend", "withdraw"):
        raise InvalidReply(f"decision: {decision!r} is none of defend, amend, withdraw")
    severity = None if document["severity"] is None else _severity(document["severity"], "severity")
    title = None if document["title"] is None else _text(document["title"], "title")
    return Answer(decision, severity, title, _arguments(document["arguments"]))


def _load(text: str) -> Any:
    try:
        return strict_json.loads(text, max_bytes=2_000_000)
    except strict_json.InvalidJson as exc:
        raise InvalidReply(f"not valid JSON: {exc}") from exc


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
    fields = _object(item, where, _CHECK["required"])
    return Check(
        command=_texts(fields["command"], f"{where}.command"),
        source=_text(fields["source"], f"{where}.source"),
        subject=_text(fields["subject"], f"{where}.subject"),
    )


def _arguments(value: Any) -> tuple[Argument, ...]:
    found = []
    for index, item in enumerate(_list(value, "arguments", MAX_ARGUMENTS)):
        where = f"arguments[{index}]"
        fields = _object(item, where, _ARGUMENT["required"])
        found.append(
            Argument(
                claim=_text(fields["claim"], f"{where}.claim"),
                evidence=_texts(fields["evidence"], f"{where}.evidence"),
                reasoning=_text(fields["reasoning"], f"{where}.reasoning"),
                counter_arguments=_texts(fields["counter_arguments"], f"{where}.counter_arguments"),
            )
        )
    return tuple(found)


def _object(value: Any, where: str, keys: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidReply(f"{where}: an object is wanted")
    missing, unknown = [key for key in keys if key not in value], sorted(set(value) - set(keys))
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
