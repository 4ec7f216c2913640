"""Who watches, and what time it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Progress:
    """Something that a person who waits, or a program that reads along, would like to know.

    ``stage`` is a stage's name, ``text`` a line for people; ``fields`` say the same to machines: ``event`` names what happened
    (``asked``, ``answered``, ``tested``, …), the others what it concerns.
    """

    stage: str
    text: str
    fields: Mapping[str, str | int | float] = field(default_factory=lambda: MappingProxyType({}))


class Observer(Protocol):
    """Who watches."""

    def saw(self, progress: Progress) -> None:
        """Take note; never raises."""
        ...


class Clock(Protocol):
    """Time, so that tests own it."""

    def seconds(self) -> float:
        """Monotonic seconds."""
        ...
