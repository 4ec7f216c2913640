"""The composition root: the only place that knows which adapter stands behind which port.

``review`` and ``plan`` put a review together; the rest tells what is configured and what is remembered.
Each is imported when it is first asked for (PEP 562): a run of the Action that has nothing to do needs none of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reviewbot.wiring.auditing import Audit, audit
    from reviewbot.wiring.diagnosis import diagnose
    from reviewbot.wiring.options import options_of
    from reviewbot.wiring.order import (
        Forecast,
        Order,
        Outcome,
        SystemClock,
        configure,
        run_id,
    )
    from reviewbot.wiring.outside import extensions
    from reviewbot.wiring.past import (
        SessionSummary,
        export,
        last_review,
        replay,
        session,
        sessions,
    )
    from reviewbot.wiring.reviewing import STATIC_NOTE, plan, review
    from reviewbot.wiring.rooms import (
        is_private_file,
        open_repository,
        open_sandbox,
        repository_files,
    )
    from reviewbot.wiring.status import ModelStatus, models, profiles

__all__ = [
    "STATIC_NOTE",
    "Audit",
    "Forecast",
    "ModelStatus",
    "Order",
    "Outcome",
    "SessionSummary",
    "SystemClock",
    "audit",
    "configure",
    "diagnose",
    "export",
    "extensions",
    "is_private_file",
    "last_review",
    "models",
    "open_repository",
    "open_sandbox",
    "options_of",
    "plan",
    "profiles",
    "replay",
    "repository_files",
    "review",
    "run_id",
    "session",
    "sessions",
]

_ROOMS = {
    "auditing": ("Audit", "audit"),
    "diagnosis": ("diagnose",),
    "options": ("options_of",),
    "order": ("Forecast", "Order", "Outcome", "SystemClock", "configure", "run_id"),
    "outside": ("extensions",),
    "past": (
        "SessionSummary",
        "export",
        "last_review",
        "replay",
        "session",
        "sessions",
    ),
    "reviewing": ("STATIC_NOTE", "plan", "review"),
    "rooms": ("is_private_file", "open_repository", "open_sandbox", "repository_files"),
    "status": ("ModelStatus", "models", "profiles"),
}
_HOMES = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
