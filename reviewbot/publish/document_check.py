"""A check as every document has it."""

from __future__ import annotations

from typing import Any

from reviewbot.domain.debate import Check


def check_fields(check: Check) -> dict[str, Any]:
    """A check with what its runs showed, the same in every document."""
    return {
        "kind": check.kind.value,
        "command": list(check.command),
        "subject": check.subject,
        "source": check.source,
        "author": check.author,
        "outcome": check.outcome.value,
        "evidence": list(check.evidence),
        "output": check.output,
    }
