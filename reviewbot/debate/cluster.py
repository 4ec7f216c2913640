"""S2: claims about one thing become one case. Deterministic, and independent of the order in which claims arrive."""

from __future__ import annotations

import re
from collections.abc import Iterable

from reviewbot.debate.numbers import CLUSTER_LINES, CLUSTER_SIMILARITY
from reviewbot.domain.debate import Claim

_WORD = re.compile(r"[a-z0-9_]{3,}")


def clusters(claims: Iterable[Claim]) -> tuple[tuple[Claim, ...], ...]:
    """Groups of claims that are about one thing, each group and the groups themselves in reading order.

    Being about one thing is made transitive: single linkage by union-find, a path at a time.
    """
    ordered = sorted(claims, key=_reading_order)
    parent = list(range(len(ordered)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    for later, claim in enumerate(ordered):
        for earlier in range(later - 1, -1, -1):
            other = ordered[earlier]
            if other.path != claim.path:
                break
            if root(earlier) != root(later) and about_one_thing(other, claim):
                parent[root(later)] = root(earlier)
    groups: dict[int, list[Claim]] = {}
    for index, claim in enumerate(ordered):
        groups.setdefault(root(index), []).append(claim)
    return tuple(tuple(sorted(group, key=_speaks_first)) for group in groups.values())


def about_one_thing(one: Claim, other: Claim) -> bool:
    """Same file, overlapping lines (a few apart), and the same rule, shared evidence or similar words."""
    if one.path != other.path or _gap(one, other) > CLUSTER_LINES:
        return False
    if set(one.evidence) & set(other.evidence):
        return True
    if one.rule and other.rule:
        return one.rule == other.rule and _gap(one, other) == 0
    return similarity(one, other) >= CLUSTER_SIMILARITY


def similarity(one: Claim, other: Claim) -> float:
    """Jaccard index of the words of title, trigger and consequence."""
    first, second = _words(one), _words(other)
    return len(first & second) / len(first | second) if first | second else 0.0


def _words(claim: Claim) -> frozenset[str]:
    return frozenset(_WORD.findall(f"{claim.title} {claim.trigger} {claim.consequence}".lower()))


def _gap(one: Claim, other: Claim) -> int:
    """Lines between two spans, 0 where they touch or overlap."""
    return max(one.start_line - other.line, other.start_line - one.line, 0)


def _reading_order(claim: Claim) -> tuple[str, int, int, str, str, str]:
    return claim.path, claim.start_line, claim.line, claim.title, claim.raised_by, repr(claim)


def _speaks_first(claim: Claim) -> tuple[int, int, str, str]:
    """The claim with most evidence and the narrowest place speaks for its cluster."""
    return -len(claim.evidence), claim.line - claim.start_line, claim.raised_by, repr(claim)
