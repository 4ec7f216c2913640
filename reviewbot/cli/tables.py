"""Listings: aligned columns for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum

from reviewbot.screen import hidden, secrets

GAP = "  "


def columns(headings: Sequence[str], rows: Iterable[Sequence[str]], *, nothing: str) -> str:
    """Rows under their headings, each column as wide as its widest cell; ``nothing`` where there is no row.

    What steers a terminal is made visible, known formats of secrets are redacted.
    """
    shown = [[_cell(cell) for cell in row] for row in rows]
    if not shown:
        return nothing
    table = [[heading.upper() for heading in headings], *shown]
    widths = [max(len(row[column]) for row in table) for column in range(len(headings))]
    return "\n".join(GAP.join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in table)


def as_json(values: object) -> str:
    """A frozen value, or several, as a JSON document with the names of their fields. Each text is redacted by itself: a secret
    never reaches from one into the next, and what is redacted there would take JSON's own signs along."""
    return json.dumps(_plain(values), indent=2, ensure_ascii=False)


def _cell(text: str) -> str:
    redacted, _ = secrets.redact(" ".join(text.split()))
    return hidden.visible(redacted) or "-"


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {secrets.redact(str(name))[0]: _plain(inner) for name, inner in value.items()}
    if isinstance(value, Enum):
        return _plain(value.value)
    if isinstance(value, str):
        return secrets.redact(value)[0]
    if isinstance(value, int | float) or value is None:
        return value
    return [_plain(item) for item in value] if isinstance(value, Iterable) else str(value)
