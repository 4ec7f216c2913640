"""``ruff check --output-format json``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reviewbot.screen import strict_json


@dataclass(frozen=True, slots=True)
class Remark:
    """One result: ``code`` is ``None`` for a file that cannot be parsed, ``row`` 1-based."""

    code: str | None
    path: str
    row: int
    end_row: int
    message: str


def read(data: bytes) -> tuple[Remark, ...]:
    """Everything ruff said. Raises strict_json.InvalidJson for what is not its report."""
    document = strict_json.loads(data)
    if not isinstance(document, list):
        raise strict_json.InvalidJson("not a list of results")
    return tuple(_remarks(document))


def _remarks(document: list[Any]) -> Iterator[Remark]:
    for item in document:
        try:
            row, end_row = item["location"]["row"], item["end_location"]["row"]
            remark = Remark(item["code"], item["filename"], row, end_row, item["message"])
        except (TypeError, KeyError) as exc:
            raise strict_json.InvalidJson("a result without its place") from exc
        if not _is_sound(remark):
            raise strict_json.InvalidJson("a result of another shape")
        yield remark


def _is_sound(remark: Remark) -> bool:
    numbers = all(type(number) is int and number >= 0 for number in (remark.row, remark.end_row))
    texts = all(isinstance(text, str) for text in (remark.path, remark.message, remark.code or ""))
    return numbers and texts
