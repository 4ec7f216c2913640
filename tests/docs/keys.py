"""The table of ``docs/configuration.md``, from the table of keys. ``python -m tests.docs.keys`` writes it into the page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from reviewbot.config.keys import KEYS, Key, Power
from tests.docs.pages import TOP

PAGE = TOP / "docs" / "configuration.md"
BEGIN, END = "<!-- keys: written by python -m tests.docs.keys -->\n", "<!-- end of keys -->\n"
WHO = {
    Power.ANYONE: "",
    Power.CEILING: "lower",
    Power.RANKED: "tighten",
    Power.OPERATOR: "no",
}
"""What a repository's file may do with a key, in a word."""

TOLD_ONCE = ("panels.*.*", "moderator")
"""Blocks with the keys of a seat of ``panel``, which are told there."""


def table() -> str:
    """Every key: its default, what a repository may do with it, and what it means."""
    rows = "".join(f"| {' | '.join(row)} |\n" for row in _rows())
    return f"| key | default | repository | meaning |\n|---|---|---|---|\n{rows}"


def _rows() -> Iterator[tuple[str, str, str, str]]:
    for key in KEYS:
        if not key.name.startswith(TOLD_ONCE):
            yield f"`{_shown(key)}`", _default(key), WHO[key.power], f"{key.text}: {key.kind.expects}"


def _shown(key: Key) -> str:
    return key.name.replace("panel.*", "panel.SEAT").replace("*", "NAME")


def _default(key: Key) -> str:
    if key.default is None or key.default in ("", ()):
        return "-"
    if key.name == "checks":
        return "all presets"
    value = list(key.default) if isinstance(key.default, tuple) else key.default
    assert not isinstance(value, Mapping)
    return f"`{value}`" if isinstance(value, str) else f"`{json.dumps(value)}`"


def page_with(rows: str) -> str:
    """The page with this table in its place."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{rows}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(page_with(table()), encoding="utf-8")
