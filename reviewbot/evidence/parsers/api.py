"""What the ``reviewbot_api`` probe writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reviewbot.screen import strict_json


@dataclass(frozen=True, slots=True)
class Breakage:
    """A public name that callers may miss. ``new_line`` is 0 for what is gone."""

    path: str
    name: str
    kind: str
    old_line: int
    new_line: int
    explanation: str
    exported: bool


def read(data: bytes) -> tuple[Breakage, ...]:
    """All breakages. Raises strict_json.InvalidJson."""
    document = strict_json.loads(data)
    try:
        return tuple(_breakage(item) for item in document["breakages"])
    except (TypeError, KeyError) as exc:
        raise strict_json.InvalidJson("not a report of breakages") from exc


def _breakage(item: dict[str, Any]) -> Breakage:
    breakage = Breakage(**item)
    texts = (breakage.path, breakage.name, breakage.kind, breakage.explanation)
    numbers = (breakage.old_line, breakage.new_line)
    if not all(isinstance(text, str) for text in texts) or not all(type(number) is int and number >= 0 for number in numbers):
        raise TypeError("a breakage of another shape")
    return breakage
