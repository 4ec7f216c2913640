"""A terminal's rows as a page that a browser can draw."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby

from tests.pictures.screen import Cell, Style

LIGHT = {
    "paper": "#ffffff", "ink": "#1f2328", "edge": "#d0d7de",
    "colors": ("#24292f", "#cf222e", "#116329", "#7d4e00", "#0969da", "#8250df", "#1b7c83", "#57606a",
               "#57606a", "#a40e26", "#1a7f37", "#633c01", "#218bff", "#a475f9", "#3192aa", "#8c959f"),
}  # fmt: skip
DARK = {
    "paper": "#0d1117", "ink": "#d5dbe2", "edge": "#30363d",
    "colors": ("#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4",
               "#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#ffffff"),
}  # fmt: skip
"""GitHub's own colours for a terminal, https://github.com/primer/github-vscode-theme."""

PAGE = """<!doctype html><meta charset="utf-8"><style>
:root {{ {light} }}
@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}
body {{ margin: 0; background: var(--paper); color: var(--ink); }}
pre {{ margin: 0; padding: 12px 16px; width: {columns}ch; box-sizing: content-box; white-space: pre;
  font: 14px/18px "DejaVu Sans Mono", monospace; font-variant-ligatures: none; }}
pre div {{ height: 18px; overflow: hidden; }}
b {{ font-weight: bold; }} .dim {{ opacity: .62; }} .wide {{ display: inline-block; width: 2ch; }}
</style><pre>{rows}</pre>"""


def page(rows: Iterable[Sequence[Cell]], columns: int) -> str:
    """A page as wide as so many columns of a terminal; light or dark as the browser prefers."""
    drawn = "".join(f"<div>{''.join(_runs(row))}</div>" for row in rows)
    return PAGE.format(light=_variables(LIGHT), dark=_variables(DARK), columns=columns, rows=drawn)


def _variables(theme: dict[str, object]) -> str:
    colors = theme["colors"]
    assert isinstance(colors, tuple)
    numbered = "".join(f"--c{number}: {color}; " for number, color in enumerate(colors))
    return f"--paper: {theme['paper']}; --ink: {theme['ink']}; {numbered}"


def _runs(row: Sequence[Cell]) -> Iterable[str]:
    shown = (cell for cell in row if cell.columns)
    for (style, columns), cells in groupby(shown, key=lambda cell: (cell.style, cell.columns)):
        words = [escape(cell.text) for cell in cells]
        text = "".join(f'<span class="wide">{word}</span>' for word in words) if columns > 1 else "".join(words)
        yield _looked(text, style)


def _looked(text: str, style: Style) -> str:
    ink = "var(--ink)" if style.ink is None else f"var(--c{style.ink})"
    paper = "" if style.paper is None else f"var(--c{style.paper})"
    if style.reverse:
        ink, paper = paper or "var(--paper)", ink
    rules = [
        f"color: {ink}",
        f"background: {paper}" if paper else "",
        "font-weight: bold" if style.bold else "",
        "font-style: italic" if style.italic else "",
        "text-decoration: underline" if style.underline else "",
    ]
    dim = ' class="dim"' if style.dim else ""
    return f'<span{dim} style="{"; ".join(rule for rule in rules if rule)}">{text}</span>'
