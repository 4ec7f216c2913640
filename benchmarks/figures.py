"""Figures as every benchmark tells them: what was measured, the median, the spread, the bar where there is one.

``python -m benchmarks`` names a file in ``REVIEWBOT_FIGURES``: what is told goes there, too, a line of JSON each.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

RECORD = "REVIEWBOT_FIGURES"
RATIOS = ("×", "%")
"""Units of figures that can be compared from one machine to the next."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Something measured by a script. ``part`` is what it was measured on; at most one of the bars is not ``None``."""

    script: str
    part: str
    what: str
    middle: float
    lowest: float
    highest: float
    unit: str
    most: float | None = None
    least: float | None = None

    @property
    def is_kept(self) -> bool | None:
        """Whether the median keeps its bar; ``None`` without one."""
        if self.most is None and self.least is None:
            return None
        return (self.most is None or self.middle <= self.most) and (self.least is None or self.middle >= self.least)

    @property
    def is_comparable(self) -> bool:
        """A ratio, or something that has a bar: seconds of this machine tell nobody else anything."""
        return self.unit in RATIOS or self.is_kept is not None

    @property
    def measured(self) -> str:
        """The median with its unit."""
        return f"{short(self.middle)} {self.unit}".rstrip()

    @property
    def spread(self) -> str:
        """The lowest and the highest, where they differ as told."""
        low, high = short(self.lowest), short(self.highest)
        return f"({low} to {high})" if low != high else ""

    @property
    def bar(self) -> str:
        """What it must keep."""
        return f"<= {self.most:g}" if self.most is not None else f">= {self.least:g}" if self.least is not None else ""

    @property
    def word(self) -> str:
        """Whether it does."""
        return {None: "", True: "pass", False: "FAIL"}[self.is_kept]


_PART = [""]


def begin(part: str, words: str) -> None:
    """What the figures after this are measured on: a name of it, and a line that describes it."""
    _PART[0] = part
    print(f"\n{part}: {words}", flush=True)


def tell(what: str, values: Sequence[float], unit: str, *, most: float | None = None, least: float | None = None) -> None:
    """Print a figure, and record it where somebody asked for that. ``values`` are the runs."""
    script = Path(sys.argv[0]).stem
    told = Figure(script, _PART[0], what, median(values), min(values), max(values), unit, most=most, least=least)
    columns = f"{told.what:<58} {short(told.middle):>8} {told.unit:<2} {told.spread:<18} {told.bar:<8} {told.word}"
    print(f"  {columns}".rstrip(), flush=True)
    if record := os.environ.get(RECORD):
        with Path(record).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(told)) + "\n")


def recorded(file: Path) -> list[Figure]:
    """What was told since the file was made."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [Figure(**json.loads(line)) for line in lines]


def short(value: float) -> str:
    """Three digits that count."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.0f}" if value >= 1000 else f"{value:.3g}"
