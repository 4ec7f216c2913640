"""How bad a problem is, from cosmetic to "stop everything"."""

from __future__ import annotations

from typing import Literal

Severity = Literal["low", "medium", "high", "critical"]
RANK: dict[Severity, int] = {"low": 0, "medium": 1, "high": 2, "critical": 3}
# The lowest severity that counts, or "none" if nothing does.
Threshold = Literal["none", "low", "medium", "high", "critical"]


def reaches(severity: Severity, threshold: Threshold) -> bool:
    return threshold != "none" and RANK[severity] >= RANK[threshold]
