"""A check that proved its finding, offered as a test that keeps the defect from coming back."""

from __future__ import annotations

from reviewbot.domain.debate import Check, CheckKind, Proof
from reviewbot.domain.review import Finding

_KEPT = frozenset({CheckKind.TEST, CheckKind.SCRIPT, CheckKind.CONTRACT})
"""Kinds whose source a project can keep."""

LABEL = "It fails now. Kept with the tests, it guards the fix."


def test(finding: Finding) -> Check | None:
    """The check, where somebody wrote it for this finding and it proved it."""
    check = finding.check
    offered = check is not None and check.source.strip() and check.kind in _KEPT and finding.proof is Proof.PROVEN
    return check if offered else None
