"""What is shown on a terminal, as text of a given width: with colours or without, and no word of it does anything."""

from __future__ import annotations

import io

from rich.console import Console, Group, RenderableType

from reviewbot.publish import plain

NARROWEST, WIDEST = 40, 140


def printed(*parts: RenderableType, width: int, color: bool) -> str:
    """The parts below each other in lines of at most ``width`` columns."""
    console = Console(
        file=io.StringIO(),
        width=max(NARROWEST, min(width, WIDEST)),
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
        _environ={},
    )
    with console.capture() as capture:
        console.print(Group(*parts))
    lines = (line.rstrip() for line in capture.get().splitlines())
    return plain.defuse("\n".join(lines)).strip("\n") + "\n"
