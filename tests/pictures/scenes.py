"""What is photographed: real commands in real repositories. Each scene is made once, and pictured in light and in dark."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reviewbot.cli.specimen import AFTER, BEFORE, build
from tests.pictures import acting, debate, window
from tests.pictures.screen import Cell, Screen
from tests.repo import DATE, Repo

COLUMN, EDGES = 8.43, 32
"""Pixels of a column of ``window.page``, and of both of its margins."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A page to be pictured: how wide it is, and how much of it is shown at most, in pixels."""

    page: Path
    width: int
    tallest: int = 3_000


def demo(folder: Path, columns: int, rows: int) -> Scene:
    """The beginning of ``reviewbot demo`` on a terminal."""
    screen = _typed("reviewbot demo", folder, columns=columns, environ=acting.environment(folder))
    return _terminal(screen.rows, columns, rows=rows, folder=folder)


def demo_page(folder: Path) -> Scene:
    """The beginning of the same review as a page."""
    page = folder / "demo.html"
    _run(("demo", "--quiet", "--format", "html", "--output", str(page)), acting.environment(folder))
    return Scene(page, 900, 1_560)


def debate_page(folder: Path) -> Scene:
    """A debate of models, as a page. Who answers them is a stand-in."""
    page, shop = folder / "debate.html", folder / "shop"
    build(shop, os.environ["PATH"])
    with debate.seated(folder):
        order = ("review", "HEAD", "--repo", str(shop), "--quiet", "--format", "html", "--output", str(page))
        _run(order, acting.environment(folder, **debate.KEYS))
    return Scene(page, 900, 2_300)


def hook(folder: Path) -> Scene:
    """A commit in a repository that has the native hook, which has something to tell."""
    dates = {f"GIT_{who}_DATE": DATE for who in ("AUTHOR", "COMMITTER")}
    environ = acting.environment(folder, **dates)
    (folder / ".gitconfig").write_text("[user]\n\tname = A\n\temail = a@example.org\n", encoding="utf-8")
    repo = Repo(folder, name="shop")
    for path, text in BEFORE.items():
        repo.write(path, text)
    repo.commit("Open the shop")
    repo.write("shop/basket.py", AFTER["shop/basket.py"])
    screen = Screen(80)
    for words in ("reviewbot hook install", "git add shop", "git commit -m 'Simplify the basket'"):
        _typed(words, repo.path, columns=80, environ=environ, screen=screen)
    return _terminal(screen.rows, 80, rows=60, folder=folder)


SCENES: Mapping[str, Callable[[Path], Scene]] = {
    "review-terminal": lambda folder: demo(folder, 80, 60),
    "review-terminal-wide": lambda folder: demo(folder, 140, 56),
    "review-html": demo_page,
    "debate-html": debate_page,
    "hook": hook,
}


def _typed(words: str, folder: Path, *, columns: int, environ: Mapping[str, str], screen: Screen | None = None) -> Screen:
    """What a terminal shows when somebody has typed this and it has ended."""
    screen = screen or Screen(columns)
    screen.write(f"\x1b[1;32m$\x1b[0m \x1b[1m{words}\x1b[0m\r\n")
    screen.write(acting.shown(("sh", "-c", words), columns=columns, folder=folder, environ=environ))
    return screen


def _terminal(shown: Sequence[Sequence[Cell]], columns: int, *, rows: int, folder: Path) -> Scene:
    """So many rows at most; where there are more, it ends where an empty row would follow."""
    kept = list(shown[:rows])
    while len(shown) > rows and len(kept) > 1 and any(cell.text.strip() for cell in kept[-1]):
        kept.pop()
    page = folder / "terminal.html"
    page.write_text(window.page(kept, columns), encoding="utf-8")
    return Scene(page, round(columns * COLUMN) + EDGES)


def _run(words: tuple[str, ...], environ: Mapping[str, str]) -> None:
    """A command that finds something: 0 and 1 are good ends. Raises CalledProcessError."""
    done = subprocess.run((acting.REVIEWBOT, *words), env=dict(environ), capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise subprocess.CalledProcessError(done.returncode, words, done.stdout, done.stderr)
