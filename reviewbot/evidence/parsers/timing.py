"""What benchmarks measured, in nobody's format."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timing:
    """One benchmark: ``seconds`` of each round, in the order in which they were run; at least one, all above zero."""

    name: str
    seconds: tuple[float, ...]
