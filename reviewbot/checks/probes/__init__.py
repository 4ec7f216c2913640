"""Programs that run in the sandbox. They import nothing of reviewbot, and are laid in as files."""

from __future__ import annotations

from pathlib import Path


def probe(name: str) -> dict[str, str]:
    """The file of a program, as `Check.tool_files` takes it."""
    return {name: Path(__file__).with_name(name).read_text(encoding="utf-8")}
