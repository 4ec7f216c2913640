"""The composition root: the only place that knows which adapter stands behind which port.

``review`` and ``plan`` put a review together; the rest tells what is configured and what is remembered.
"""

from reviewbot.wiring.auditing import Audit, audit
from reviewbot.wiring.diagnosis import diagnose
from reviewbot.wiring.options import options_of
from reviewbot.wiring.order import Forecast, Order, Outcome, SystemClock, configure, run_id
from reviewbot.wiring.past import SessionSummary, export, last_review, replay, session, sessions
from reviewbot.wiring.reviewing import STATIC_NOTE, plan, review
from reviewbot.wiring.rooms import is_private_file, open_repository, open_sandbox, repository_files
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
