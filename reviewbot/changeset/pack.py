"""A change made to fit into a window: what is riskiest first, whole files before single hunks, and the rest said."""

from __future__ import annotations

from dataclasses import replace

from reviewbot.changeset.kinds import tier
from reviewbot.changeset.select import Scope
from reviewbot.domain.change import Coverage, CoverageStatus, FileChange, Hunk
from reviewbot.domain.tokens import estimate

TOKENS_PER_LINE_NUMBER = 2
TOKENS_PER_FILE = 20
CONTEXT_LINES = 12
"""Lines that excerpts show around a hunk, on both sides together."""


def tokens(text: bytes) -> int:
    """An estimate that errs upwards. Models differ; what a provider reports afterwards is the truth."""
    blanks = text.count(b" ") + text.count(b"\n") + text.count(b"\t")
    return estimate(len(text), blanks)


def cost(file: FileChange) -> int:
    """Tokens that a whole file's hunks take."""
    return TOKENS_PER_FILE + sum(_hunk_cost(hunk) for hunk in file.hunks)


def fit(scope: Scope, budget_tokens: int | None) -> Scope:
    """What fits into ``budget_tokens``; ``None``: everything. The same input always gives the same choice."""
    if budget_tokens is None:
        return scope
    left = budget_tokens
    kept: dict[str, FileChange] = {}
    too_large: list[FileChange] = []
    for file in sorted(scope.files, key=_risk):
        price = cost(file) if file.hunks else 0
        if price <= left:
            kept[file.path] = file
            left -= price
        else:
            too_large.append(file)
    for file in too_large:
        part, left = _part(file, left)
        if part.hunks:
            kept[file.path] = part
    left_out = tuple(
        _left_out(file, kept.get(file.path), budget_tokens)
        for file in scope.files
        if kept.get(file.path) is None or len(kept[file.path].hunks) < len(file.hunks)
    )
    files = tuple(kept[file.path] for file in scope.files if file.path in kept)
    return Scope(files, scope.coverage + left_out, scope.notes)


def _risk(file: FileChange) -> tuple[int, int, str]:
    """Smaller comes first: sensitive before source before tests before prose, then the larger change."""
    return tier(file.path), -(file.added + file.deleted), file.path


def _hunk_cost(hunk: Hunk) -> int:
    text = b"\n".join(hunk.rows)
    lines = len(hunk.rows) + CONTEXT_LINES
    return tokens(text) + TOKENS_PER_LINE_NUMBER * lines + CONTEXT_LINES * 10


def _part(file: FileChange, left: int) -> tuple[FileChange, int]:
    """As many of a file's hunks, in order, as still fit, and what is left then."""
    left -= TOKENS_PER_FILE
    hunks: list[Hunk] = []
    for hunk in file.hunks:
        price = _hunk_cost(hunk)
        if price <= left:
            hunks.append(hunk)
            left -= price
    return replace(file, hunks=tuple(hunks)), left if hunks else left + TOKENS_PER_FILE


def _left_out(file: FileChange, part: FileChange | None, budget: int) -> Coverage:
    if part is None:
        return Coverage(file.path, CoverageStatus.SKIPPED, f"left out: the change is larger than {budget} tokens")
    missing = len(file.hunks) - len(part.hunks)
    reason = f"{missing} of {len(file.hunks)} hunks left out: the change is larger than {budget} tokens"
    return Coverage(file.path, CoverageStatus.PARTIAL, reason)
