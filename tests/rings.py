"""How much of the suite one run holds.

======== ================================= ============================== ==================== =========
ring     chosen by                         tests                          hypothesis           commands
======== ================================= ============================== ==================== =========
default  nothing                           without the marker ``ci``      at most 25 examples  forked
ci       ``CI=true``                       all, of ``matrix`` a quarter   at most 100 examples forked
nightly  ``TEST_RING=nightly``             all                            as written           executed
======== ================================= ============================== ==================== =========

A test that is named on the command line by its id (``path::name``), or a run with ``-m``, is not cut by the ring.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TypeVar
from zlib import crc32

import pytest
from hypothesis import settings

Case = TypeVar("Case")
PARTS = 4
"""CI runs one of so many parts of a matrix, unless the marker names another number; the commit says which."""


class Ring(StrEnum):
    DEFAULT = "default"
    CI = "ci"
    NIGHTLY = "nightly"


RING = Ring(os.environ.get("TEST_RING") or ("ci" if os.environ.get("CI", "") not in ("", "false", "0") else "default"))

FORKS = RING is not Ring.NIGHTLY or bool(os.environ.get("TEST_FORKS"))
"""Whether commands are forked from a process that has imported them."""


def examples(written: int) -> int:
    """How many examples of a property this ring tries, of those that the test asks for."""
    return {Ring.DEFAULT: min(written, 25), Ring.CI: min(written, 100), Ring.NIGHTLY: written}[RING]


def use_hypothesis_profile() -> None:
    """No deadlines, and the same examples in each run but the nightly one, which looks for new ones."""
    settings.register_profile(Ring.DEFAULT, max_examples=examples(100), deadline=None, derandomize=True, database=None)
    settings.register_profile(Ring.CI, max_examples=examples(100), deadline=None, derandomize=True, database=None)
    settings.register_profile(Ring.NIGHTLY, max_examples=examples(100), deadline=None)
    settings.load_profile(RING)


def part(cases: Sequence[Case]) -> Sequence[Case]:
    """Of cases that one test goes through in a loop: the first, a quarter, or all."""
    return {Ring.DEFAULT: cases[:1], Ring.CI: cases[part_of_commit(PARTS) :: PARTS], Ring.NIGHTLY: cases}[RING]


@cache
def commit() -> int:
    """The id of the commit that is tested, as a number; 0 where there is none."""
    command = ("git", "-C", str(Path(__file__).parent), "rev-parse", "--verify", "--quiet", "HEAD")
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return 0
    return int(done.stdout.strip() or "0", 16)


def part_of_commit(parts: int) -> int:
    """Which part of a matrix CI runs for this commit, from 0."""
    return commit() % parts


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what is not in this ring."""
    if RING is Ring.NIGHTLY or config.option.markexpr or any("::" in argument for argument in config.args):
        return
    seen: Counter[str] = Counter()
    kept, left_out = [], []
    for item in items:
        (kept if _is_in_ring(item, seen) else left_out).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)


def _is_in_ring(item: pytest.Item, seen: Counter[str]) -> bool:
    matrix = item.get_closest_marker("matrix")
    is_smoke = item.get_closest_marker("smoke") is not None
    name = re.split(r"[\[@]", item.nodeid)[0]  # without parameters and without what pytest-xdist adds for a group
    number = seen[name]
    seen[name] += 1
    is_among_first = not (matrix and number)
    if is_smoke and is_among_first:
        return True
    if RING is Ring.DEFAULT:
        return is_among_first and item.get_closest_marker("ci") is None
    parts = matrix.kwargs.get("parts", PARTS) if matrix else 1
    # The name shifts the parts, so that tests with a single case do not all fall into the first one.
    return (number + crc32(name.encode())) % parts == part_of_commit(parts)


def group_serial(item: pytest.Item) -> None:
    """A test with the marker ``serial`` goes to the worker of all such tests; pytest-xdist reads groups before it is selected."""
    if item.get_closest_marker("serial"):
        item.add_marker(pytest.mark.xdist_group("serial"))


def heading() -> str:
    """What this run holds, in a line."""
    if RING is Ring.NIGHTLY:
        return "ring: nightly, everything"
    part_of = f", part {part_of_commit(PARTS) + 1} of {PARTS} of each matrix" if RING is Ring.CI else ""
    return f"ring: {RING}{part_of}, at most {examples(10**9)} examples of a property"
