"""Past reviews: each that ended is a file of the state, those with models are in the ledger too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from reviewbot.cli.host import open_repository, read_layers, run
from reviewbot.config.load import load_settings
from reviewbot.errors import GitError, UsageError
from reviewbot.reports import words
from reviewbot.state import State
from reviewbot.text.plain import plain
from reviewbot.text.secrets import redact
from reviewbot.verdict.document import Review

if TYPE_CHECKING:  # SQLAlchemy takes long to import, and is needed only where there is a ledger
    from reviewbot.store.database import Store
    from reviewbot.store.sessions import Record, Session

LEDGER = "ledger.db"  # FILE of store/database.py


class Past(Struct, frozen=True):
    """Past reviews. Those in the ledger have a number as their id, the others a time.

    Attributes:
        project: whose reviews are meant; None for all of a ledger that belongs to the state.
    """

    state: State
    store: Store | None = None
    project: str | None = None

    def sessions(self) -> dict[str, Session]:
        """Those of the ledger by their id, the newest first."""
        if self.store is None:
            return {}
        from reviewbot.store.sessions import list_sessions

        found = list_sessions(self.store, self.project or "")
        return {str(s.id): s for s in found if self.project in (None, s.subject.project)}

    def rows(self) -> list[str]:
        """A line for each review, the newest first."""
        rows, in_ledger = [], set()
        for id, session in self.sessions().items():
            review, subject = _decode(session.review), session.subject
            in_ledger.add(msgspec.json.encode(review))
            headline = words.headline(review) if review else session.state.capitalize()
            time = datetime.fromisoformat(session.started)
            rows.append((time, id, headline, subject.target, subject.title))
        for id in self.state.ids():
            review = self.state.load(id)
            if review and msgspec.json.encode(review) not in in_ledger:
                time = datetime.strptime(id, "%Y%m%d-%H%M%S-%f").replace(tzinfo=UTC)
                rows.append((time, id, words.headline(review), review.target, review.title))
        return [
            plain(redact(f"{id}  {time.astimezone():%Y-%m-%d %H:%M}  {headline}  {about}")[0])
            for time, id, headline, *names in sorted(rows, reverse=True)
            for about in [" ".join(filter(None, names))]
        ]

    def find(self, id: str) -> tuple[Review | None, Record | None]:
        """A review by its id, or else the newest, and what the ledger has of it.

        Raises UsageError. There is no review if it did not end.
        """
        sessions, review = self.sessions(), None
        if id not in sessions:
            review = self.state.load(id) if id else self.state.newest()
            if review is None:
                message = f"there is no review {id} that can be read"
                raise UsageError(message, hint="reviewbot sessions")
            id = next((s for s in sessions if _decode(sessions[s].review) == review), "")
        if self.store is None or not id:
            return review, None
        from reviewbot.store.sessions import load_session

        return _decode(sessions[id].review), load_session(self.store, int(id))

    def prune(self) -> None:
        """Remove all but those that run, and what was recorded for them."""
        if self.store:
            from reviewbot.store.sessions import prune_sessions

            for project in {session.subject.project for session in self.sessions().values()}:
                prune_sessions(self.store, project)
        self.state.prune()


@contextmanager
def open_past(state: State) -> Iterator[Past]:
    """Raises ReviewbotError."""
    url = load_settings(read_layers(os.environ)).settings.store.url
    if not url and not (state.folder / LEDGER).exists():
        yield Past(state)
        return
    from reviewbot.store.database import open_store

    project = ""
    with open_repository() as repository, suppress(GitError):
        project = run(repository.name())
    with closing(open_store(url, state.folder)) as store:
        yield Past(state, store, project if url else None)


def _decode(document: str) -> Review | None:
    """None if there is none, or if it is of another version."""
    with suppress(msgspec.MsgspecError):
        return msgspec.json.decode(document, type=Review)
    return None
