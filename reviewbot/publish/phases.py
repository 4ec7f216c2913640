"""What the phases of a debate are called where a person reads of them."""

from __future__ import annotations

_NAMES = {
    "S0": "ledger",
    "S1": "first pass",
    "S2": "cluster",
    "S3": "triage",
    "S4": "cross-examine",
    "S5": "weigh",
    "S6": "stop",
    "S7": "deadlock",
    "S8": "improve",
}
WIDEST = 16
"""Characters of the longest one: ``S4 cross-examine``."""


def named(phase: str) -> str:
    """The phase with its name, as ``S1 first pass``; one that has none stands for itself."""
    return f"{phase} {_NAMES[phase]}" if phase in _NAMES else phase
