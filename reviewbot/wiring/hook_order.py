"""What a hook asks for before a commit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reviewbot.ports import Job, Outcome
from reviewbot.wiring.order import Order


@dataclass(frozen=True, slots=True)
class StagedOrder(Order):
    """The review of an index: that of git's variable ``GIT_INDEX_FILE``, ``None`` for the repository's own. ``names`` are the
    files of the base that may configure it, besides those at the top: no other is looked for. ``None``: all of it is. ``ran``
    are jobs that were run over the same content already, with what came of them."""

    ran: tuple[tuple[Job, Outcome], ...] = ()
    index: Path | None = None
    names: tuple[str, ...] | None = None
