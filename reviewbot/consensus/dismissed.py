"""What is raised though somebody dismissed it: by a command on its pull request, or in the repository's file.

A dismissal is about one thing on one line. Where that line says something else, it is about nothing any more; of equal lines it
is about the one that stands where it stood, so that nobody who writes such a line again is spared by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from reviewbot.consensus import carry, identity
from reviewbot.consensus.identity import ALIKE_WORDS, MOST_ON_A_LINE, MOST_TEXT, Spot
from reviewbot.consensus.look import Look
from reviewbot.domain.debate import Claim
from reviewbot.domain.dismissal import Dismissal
from reviewbot.domain.history import Fate
from reviewbot.domain.review import Finding, FindingStatus, Lifecycle

OPPOSED = "the change itself dismisses it"


Raised = Sequence[Claim] | Sequence[Finding]


def why(raised: Raised, ids: Sequence[str], look: Look, *, held: Sequence[Dismissal]) -> Mapping[str, str]:
    """Of what is raised under these ids, what was dismissed, and in which words. ``held`` are the repository's dismissals."""
    known = {one.id: one for one in look.history.findings if one.fate is Fate.DISMISSED}
    here = {name: carry.dismissed(known[name]) for name in ids if name in known}
    return {ids[index]: carry.in_file(one.reason) for index, one in _matched(raised, held, look).items()} | here


def settled(told: tuple[Finding, ...], look: Look, held: Sequence[Dismissal]) -> tuple[Finding, ...]:
    """The findings, those that were dismissed as such. What is fixed stays fixed."""
    words = why(told, [finding.id for finding in told], look, held=held)

    def one(finding: Finding) -> Finding:
        if finding.id not in words or finding.lifecycle is Lifecycle.FIXED:
            return finding
        return replace(finding, status=FindingStatus.DISMISSED, stop_reason=words[finding.id], blocks=False)

    return tuple(map(one, told))


def opposed(told: tuple[Finding, ...], look: Look, brought: Sequence[Dismissal]) -> tuple[Finding, ...]:
    """The findings, with the author's word against those that the change itself dismisses: ``brought`` are its dismissals."""
    words = {told[index].id: one.reason for index, one in _matched(told, brought, look).items()}

    def one(finding: Finding) -> Finding:
        if finding.id not in words or not finding.is_posted:
            return finding
        said = f"{OPPOSED}: {words[finding.id]}"
        return replace(finding, dissent=f"{finding.dissent}; {said}" if finding.dissent else said)

    return tuple(map(one, told))


def _matched(raised: Raised, dismissals: Sequence[Dismissal], look: Look) -> dict[int, Dismissal]:
    """Which dismissal is about what is raised, by index. Each is about one thing at most: the one that is most alike."""
    if not dismissals:
        return {}
    spots = carry.spots(raised, look.lines, look.names)
    pairs = sorted((far, index, place) for index, spot in enumerate(spots) for place, far in _alike(spot, dismissals, look))
    found: dict[int, Dismissal] = {}
    taken: set[int] = set()
    for _, index, place in pairs:
        if index not in found and place not in taken:
            found[index] = dismissals[place]
            taken.add(place)
    return found


def _alike(spot: Spot, dismissals: Sequence[Dismissal], look: Look) -> Iterator[tuple[int, tuple[bool, float]]]:
    """The dismissals that may be about a spot, each with how far it is from it."""
    prints = frozenset(identity.fingerprint(spot.anchor, nth) for nth in range(MOST_ON_A_LINE))
    lines = look.lines.get(spot.path, ())
    for place, one in enumerate(dismissals):
        is_exact = one.fingerprint in prints
        if (is_exact or _is_moved(spot, one)) and _stands_there(spot, one, lines, is_exact=is_exact):
            words = SequenceMatcher(None, spot.title[:MOST_TEXT], one.title[:MOST_TEXT], autojunk=False).ratio()
            if _says_the_same(spot, one, is_kin=spot.category is one.category, words=words):
                yield place, (not is_exact, -words)


def _is_moved(spot: Spot, one: Dismissal) -> bool:
    """The same text in the same file, another one of the equal lines."""
    return bool(one.line) and one.path in (spot.path, spot.anchor.path) and spot.anchor.text[:MOST_TEXT] == one.line


def _stands_there(spot: Spot, one: Dismissal, lines: Sequence[str], *, is_exact: bool) -> bool:
    """Of equal lines, the spot's is the only one with most of what was near the dismissed one; without any of that, the one of
    its place among them."""
    if not spot.anchor.text or not 0 < spot.line <= len(lines):
        return is_exact
    text = spot.anchor.text
    if one.line and text[:MOST_TEXT] != one.line:
        return False
    equal = [number for number, line in enumerate(lines, 1) if line == text]
    if len(equal) == 1 or not one.near:
        return is_exact or len(equal) == 1
    rated = {number: sum(identity.halves(one.near, identity.near(number, lines))) for number in equal}
    most = max(rated.values())
    best = [number for number, near in rated.items() if near == most]
    return is_exact if not most or len(best) > 1 else best == [spot.line]


def _says_the_same(spot: Spot, one: Dismissal, *, is_kin: bool, words: float) -> bool:
    """Two things on one line are told apart by their rules; where one has none, by their words, and of what panelists say also by
    its kind."""
    if spot.rule and one.rule:
        return spot.rule == one.rule and (bool(spot.anchor.text) or not one.title or spot.title == one.title)
    if not spot.anchor.text:
        return spot.rule == one.rule and spot.title == one.title
    return words >= ALIKE_WORDS or (is_kin and not spot.rule and not one.rule)


def remembered(finding: Finding, reason: str, day: str) -> Dismissal:
    """A finding as the repository's file remembers it. ``day``: as in 2026-01-31."""
    last = finding.quote.strip("\n").split("\n")[-1]
    return Dismissal(
        fingerprint=finding.fingerprint,
        path=finding.path,
        reason=reason,
        title=finding.title,
        rule=finding.rule,
        category=finding.category,
        severity=finding.severity,
        line=identity.normalised(last)[:MOST_TEXT],
        near=finding.near,
        date=day,
    )
