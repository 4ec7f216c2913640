"""Dismissals of a repository's file as they stand in documents, written and read back."""

from __future__ import annotations

from typing import Any

from reviewbot.domain.dismissal import Dismissal, Dismissals
from reviewbot.domain.evidence import Category
from reviewbot.publish.node import Node

MOST_DISMISSED = 500
"""Dismissals of a file."""


def dismissals_fields(dismissals: Dismissals) -> dict[str, Any]:
    """What holds where a change is reviewed, the same in every document."""
    return {
        "held": [dismissal_fields(one) for one in dismissals.held],
        "opposed": [dismissal_fields(one) for one in dismissals.opposed],
        "notes": list(dismissals.notes),
    }


def dismissal_fields(one: Dismissal) -> dict[str, Any]:
    """A dismissal of the repository's file."""
    return {
        "fingerprint": one.fingerprint,
        "path": one.path,
        "reason": one.reason,
        "title": one.title,
        "rule": one.rule,
        "category": one.category.value if one.category else None,
        "severity": one.severity.label if one.severity else None,
        "line": one.line,
        "near": one.near,
        "date": one.date,
    }


def load_dismissals(node: Node) -> Dismissals:
    """The same, read back. Raises UsageError with the JSON path."""
    at = node.fields("held opposed notes")
    for some in (at["held"], at["opposed"]):
        if isinstance(some.value, list) and len(some.value) > MOST_DISMISSED:
            raise some.wrong(f"at most {MOST_DISMISSED} are expected")
    return Dismissals(at["held"].each(_dismissal), at["opposed"].each(_dismissal), at["notes"].texts())


def _dismissal(node: Node) -> Dismissal:
    at = node.fields("fingerprint path reason title rule category severity line near date")
    return Dismissal(
        fingerprint=at["fingerprint"].text(),
        path=at["path"].path_inside(),
        reason=at["reason"].text(),
        title=at["title"].text(),
        rule=at["rule"].maybe(Node.text),
        category=at["category"].maybe(lambda item: item.word(Category)),
        severity=at["severity"].maybe(Node.severity),
        line=at["line"].text(),
        near=at["near"].text(),
        date=at["date"].text(),
    )
