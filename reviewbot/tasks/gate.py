"""What no fix may do, whoever made it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from reviewbot.git.change import Change

MAX_LINES = 400


def refusals_of(
    step: Change,
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    existing: Collection[str],
    is_tool: bool,
) -> list[str]:
    """What speaks against a candidate, a sentence each; empty if it may be tried."""
    found = []
    for file in step.files:
        if file.status != "modified" or file.old_mode != file.mode or not file.is_regular("head"):
            found.append(f"{file.path} is no file of which only lines change.")
    return found
