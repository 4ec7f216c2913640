"""The pictures of the documentation: they are there, they are small, and they can be made again."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pictures import browser, png
from tests.pictures.__main__ import MOST_BYTES, OUT
from tests.pictures.scenes import SCENES

TOP = Path(__file__).parents[2]
MOST_BYTES_OF_ALL = 600_000
MADE = {f"{name}-{scheme}.png" for name in SCENES for scheme in ("light", "dark")}
NAMED = re.compile(r"pictures/([\w-]+\.png)")


def test_every_picture_that_a_page_names_is_there():
    pages = (TOP / "README.md", *sorted((TOP / "docs").rglob("*.md")))
    named = {name for page in pages for name in NAMED.findall(page.read_text(encoding="utf-8"))}
    assert named <= MADE


def test_all_pictures_are_there_and_no_others():
    assert {path.name for path in OUT.glob("*.png")} == MADE


@pytest.mark.parametrize("name", sorted(MADE))
def test_a_picture_is_small_and_shows_something(name: str):
    picture = (OUT / name).read_bytes()
    facts = png.facts(picture)
    assert len(picture) <= MOST_BYTES
    assert 600 <= facts.width <= 1300
    assert facts.colors > 8


def test_all_of_them_together_are_small():
    assert sum(path.stat().st_size for path in OUT.glob("*.png")) <= MOST_BYTES_OF_ALL


@pytest.mark.parametrize("picture", [b"", b"GIF89a", png.SIGNATURE, png.SIGNATURE + b"\0" * 40])
def test_what_is_no_picture_of_ours_has_no_facts(picture: bytes):
    with pytest.raises(ValueError, match="PNG"):
        png.facts(picture)


@pytest.mark.ci
@pytest.mark.skipif(browser.found() is None, reason="no Chromium is installed")
def test_a_picture_is_made_from_nothing(tmp_path: Path):
    command = [sys.executable, "-m", "tests.pictures", "--only", "hook", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    light, dark = (png.facts((tmp_path / f"hook-{scheme}.png").read_bytes()) for scheme in ("light", "dark"))
    assert light.width == dark.width == 706
    assert light.height == dark.height > 150
    assert min(light.colors, dark.colors) > 8
    assert "TOO LARGE" not in done.stdout
