"""Which files of a whole tree are shown in this audit, where not all fit: each comes in its turn, what is risky more often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from reviewbot.changeset.kinds import tier
from reviewbot.changeset.pack import cost
from reviewbot.changeset.select import Scope
from reviewbot.domain.audit import Rotation, file_mark
from reviewbot.domain.change import Coverage, CoverageStatus, FileChange

LATER = "comes in a later audit"
WEIGHTS = (4, 2, 1, 1, 1)
"""By tier of risk: the time since a file was read counts so often [design]. A finite weight, so that every file has its turn."""


@dataclass(frozen=True, slots=True)
class Turn:
    """``scope`` is the whole tree, and says which of its files come later; ``shown`` are those whose turn it is."""

    scope: Scope
    shown: tuple[FileChange, ...]


def turn(scope: Scope, budget_tokens: int | None, rotation: Rotation) -> Turn:
    """As many whole files as fit into ``budget_tokens`` (``None``: all): first what nobody read as it stands, by risk, then what
    was read longest ago. What comes later is out of the scope of this audit, as what is ignored is; only a file that never fits
    leaves a gap."""
    if budget_tokens is None:
        return Turn(scope, scope.files)
    times = rotation.times()
    newest = max(times.values(), default=0)
    left, shown = budget_tokens, set[str]()
    for file in sorted(scope.files, key=lambda file: _urgency(file, times, newest)):
        price = cost(file) if file.hunks else 0
        if price <= left:
            shown.add(file.path)
            left -= price
    waiting = tuple(_waiting(file, budget_tokens) for file in scope.files if file.path not in shown)
    files = tuple(file for file in scope.files if file.path in shown)
    return Turn(replace(scope, coverage=scope.coverage + waiting), files)


def _urgency(file: FileChange, times: Mapping[str, int], newest: int) -> tuple[int, float, int, str]:
    """Smaller comes first. Times are held against the newest one and not against a clock: an audit that is resumed shows the
    same files."""
    risk = tier(file.path)
    at = times.get(file_mark(file.path, file.new_id or ""))
    waited = 0 if at is None else (newest - at + 1) * WEIGHTS[risk]
    return int(at is not None), -waited, risk, file.path


def _waiting(file: FileChange, budget: int) -> Coverage:
    if cost(file) > budget:
        words = f"larger than the {budget} tokens that one audit may show: raise limits.tokens, or ignore it"
        return Coverage(file.path, CoverageStatus.SKIPPED, words)
    return Coverage(file.path, CoverageStatus.SKIPPED, LATER, ignored=True)
