"""The order of a review: ``whole`` makes one, ``quiet`` says of a file that there is nothing to review in it.

``World`` holds the doors that a review needs. There is no forge among them: a review cannot post.
Each name is imported when it is first asked for (PEP 562): a hook mostly finds nothing, and then needs none of them; and where
no code is to be made, nothing that makes it is loaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reviewbot.pipeline.again import retried
    from reviewbot.pipeline.repairing import Wish, repaired
    from reviewbot.pipeline.trying import Court
    from reviewbot.pipeline.whole import gathered, review, shown, unchanged, verified
    from reviewbot.pipeline.world import Identity, Options, RepairOptions, Unremembered, World

__all__ = [
    "Court",
    "Identity",
    "Options",
    "RepairOptions",
    "Unremembered",
    "Wish",
    "World",
    "gathered",
    "repaired",
    "retried",
    "review",
    "shown",
    "unchanged",
    "verified",
]

_ROOMS = {
    "again": ("retried",),
    "repairing": ("Wish", "repaired"),
    "trying": ("Court",),
    "whole": ("gathered", "review", "shown", "unchanged", "verified"),
    "world": ("Identity", "Options", "RepairOptions", "Unremembered", "World"),
}
_HOMES = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
