"""How bad a problem is, from cosmetic to "stop everything"."""

from typing import Literal, get_args

Severity = Literal["low", "medium", "high", "critical"]
RANK: dict[Severity, int] = {name: rank for rank, name in enumerate(get_args(Severity))}
LOWEST: Severity = get_args(Severity)[0]
# The lowest severity that counts, or "none" if nothing does.
Threshold = Literal["none", Severity]


def reaches(severity: Severity, threshold: Threshold) -> bool:
    return threshold != "none" and RANK[severity] >= RANK[threshold]
