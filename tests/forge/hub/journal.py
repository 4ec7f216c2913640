"""What was asked of the fake, line by line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """A line of the journal. ``operation`` is the id of a REST operation, ``graphql`` for a query, ``graphql:<mutation>``, ``git``
    for git's own transport, ``download`` for an artifact's bytes. ``status`` is 0 where the connection ended before anything was
    done."""

    method: str
    path: str
    operation: str
    status: int
    is_write: bool
    login: str | None = None
