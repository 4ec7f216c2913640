"""Profiles of both ends, as lines that a reader compares."""

from __future__ import annotations

from collections.abc import Iterator

from reviewbot.evidence.parsers.profile import Profile, Spot
from reviewbot.evidence.view import View

MOST_SPOTS = 8


def of_changed(profile: Profile, view: View) -> Iterator[str]:
    """The functions of changed files, else those that take most: own and whole share, calls where they were counted."""
    paths = {file.path.rpartition("/")[2] for file in view.files}
    changed = [spot for spot in profile.spots if spot.path.rpartition("/")[2] in paths]
    whole = profile.total or max((spot.whole for spot in profile.spots), default=0.0)
    for spot in (changed or list(profile.spots))[:MOST_SPOTS]:
        yield _line(spot, whole)


def listed(profile: Profile) -> Iterator[str]:
    """All of its functions."""
    whole = profile.total or max((spot.whole for spot in profile.spots), default=0.0)
    yield from (_line(spot, whole) for spot in profile.spots)


def _line(spot: Spot, total: float) -> str:
    place = f"{spot.path}:{spot.line} " if spot.path else ""
    calls = f", {spot.calls} calls" if spot.calls else ""
    return f"{place}{spot.function}: {_share(spot.whole, total)} with what it calls, {_share(spot.own, total)} itself{calls}"


def _share(part: float, total: float) -> str:
    return f"{part / total:.0%}" if total else "unknown"
