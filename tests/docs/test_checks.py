"""``docs/checks.md`` names all that there is."""

from __future__ import annotations

from reviewbot.evidence import presets
from reviewbot.evidence.presets import custom
from tests.docs.pages import TOP

PAGE = (TOP / "docs" / "checks.md").read_text(encoding="utf-8")


def test_the_page_names_every_preset_and_every_parser() -> None:
    names = (
        *presets.TOOLS,
        *presets.SUITES,
        *custom.REMARKS,
        *custom.TRIALS,
        "exit-code",
        "regex",
        "migrations",
        "ruff",
        "pytest",
    )
    for name in names:
        assert f"`{name}`" in PAGE, name
