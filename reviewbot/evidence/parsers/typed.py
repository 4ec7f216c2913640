"""Fields of what our own probes write: of the right type, or a TypeError for their readers to catch. Nothing is converted."""

from __future__ import annotations


def text(value: object) -> str:
    """A text."""
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def number(value: object) -> int:
    """A whole number, 0 or more."""
    if type(value) is not int or value < 0:
        raise TypeError("not a number")
    return value


def amount(value: object) -> float:
    """A number, 0 or more."""
    if not isinstance(value, int | float) or isinstance(value, bool) or value < 0:
        raise TypeError("not an amount")
    return float(value)


def flag(value: object) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise TypeError("neither true nor false")
    return value
