"""The values of an answer, read strictly: what does not fit is an InvalidReply, never repaired.

``where`` names the field in what is said of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, TypeVar

from reviewbot.debate.schema import ANSWER, MAX_CLAIMS, MAX_TEXT
from reviewbot.domain.evidence import Severity
from reviewbot.screen import strict_json

_Enum = TypeVar("_Enum", bound=StrEnum)

LONGEST_FAULT = 600
"""Characters of what is said of an invalid answer: it quotes the answer, which may be of any length."""


class InvalidReply(ValueError):
    """An answer that does not fit its schema; the message can be quoted to whoever gave it."""

    def __init__(self, message: str) -> None:
        super().__init__(message if len(message) <= LONGEST_FAULT else f"{message[:LONGEST_FAULT]} …")


def loaded(text: str) -> Any:
    """The document, taken out of its envelope where it came in one."""
    try:
        document = strict_json.loads(text, max_bytes=2_000_000)
    except strict_json.InvalidJson as exc:
        raise InvalidReply(f"not valid JSON: {exc}") from exc
    return document[ANSWER] if isinstance(document, dict) and set(document) == {ANSWER} else document


def record(value: Any, where: str, keys: Iterable[str], *, optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """A document with these keys, of which only the ``optional`` ones may be missing, and no others."""
    if not isinstance(value, dict):
        raise InvalidReply(f"{where}: an object is wanted")
    known = frozenset(keys)
    missing, unknown = sorted(known - set(value) - set(optional)), sorted(set(value) - known)
    if missing or unknown:
        raise InvalidReply(f"{where}: missing {missing}, unknown {unknown}")
    return value


def listed(value: Any, where: str, most: int) -> list[Any]:
    """A list of at most so many."""
    if not isinstance(value, list) or len(value) > most:
        raise InvalidReply(f"{where}: a list of at most {most} is wanted")
    return value


def text_of(value: Any, where: str, most: int = MAX_TEXT) -> str:
    """A text of at most so many characters."""
    if not isinstance(value, str) or len(value) > most:
        raise InvalidReply(f"{where}: a text of at most {most} characters is wanted")
    return value


def said(value: Any, where: str) -> str:
    """A text that says something."""
    text = text_of(value, where)
    if not text.strip():
        raise InvalidReply(f"{where}: it is empty")
    return text


def texts(value: Any, where: str) -> tuple[str, ...]:
    """A list of texts."""
    return tuple(text_of(item, f"{where}[{index}]") for index, item in enumerate(listed(value, where, MAX_CLAIMS)))


def integer(value: Any, where: str) -> int:
    """A whole number."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidReply(f"{where}: a whole number is wanted")
    return value


def probability(value: Any, where: str) -> float:
    """A number from 0 to 1."""
    return number(value, where, 1)


def number(value: Any, where: str, most: int) -> float:
    """A number from 0 to ``most``."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise InvalidReply(f"{where}: a number from 0 to {most} is wanted")
    return float(value)


def truth(value: Any, where: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise InvalidReply(f"{where}: true or false is wanted")
    return value


def severity_of(value: Any, where: str) -> Severity:
    """A severity by its label."""
    for severity in Severity:
        if value == severity.label:
            return severity
    raise InvalidReply(f"{where}: {value!r} is no severity")


def choice(value: Any, where: str, options: type[_Enum]) -> _Enum:
    """One of the options."""
    try:
        return options(value)
    except ValueError as exc:
        raise InvalidReply(f"{where}: {value!r} is none of {[option.value for option in options]}") from exc
