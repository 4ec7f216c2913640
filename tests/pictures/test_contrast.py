"""The colours of the HTML report can be read, in light and in dark: WCAG 2.2 asks for 4.5 to 1 for text, 1.4.3."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import reviewbot.publish

CSS = (Path(reviewbot.publish.__file__).parent / "page.css").read_text(encoding="utf-8")
LEAST = 4.5
TONES = ("good", "warn", "bad", "note")
GROUNDS = ("page", "card", "soft")
PAIRS = [
    *((tone, f"{tone}-soft") for tone in TONES),
    *((ink, ground) for ink in (*TONES, "ink", "quiet") for ground in GROUNDS),
    *((ink, f"{tone}-soft") for ink in ("ink", "quiet") for tone in TONES),
    ("note", "warn-soft"),
]


def scheme(block: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6});", block))


LIGHT, DARK = (scheme(block) for block in re.findall(r":root \{(.*?)\}", CSS, re.DOTALL))


def luminance(color: str) -> float:
    digits = color[1:] if len(color) == 7 else "".join(2 * digit for digit in color[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_measured_as_defined():
    assert contrast("#000000", "#fff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize(("ink", "ground"), PAIRS)
def test_words_stand_out_from_what_they_stand_on(ink: str, ground: str):
    assert contrast(LIGHT[ink], LIGHT[ground]) >= LEAST
    assert contrast(DARK[ink], DARK[ground]) >= LEAST
