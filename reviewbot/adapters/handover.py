"""A change that another zone handed over, behind the ports: ``Repo`` and ``Objects`` without a repository, a sandbox in which
nothing runs, a session that was told before it began."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reviewbot.domain.change import Revisions
from reviewbot.domain.review import Review
from reviewbot.domain.target import Target
from reviewbot.errors import GitError
from reviewbot.ports import Ended, Job, Outcome, RawDiff, Session, SessionState, TreeEntry

HINT = "write the change document again with 'reviewbot collect'"
NO_RUNNER = "no runner here"


class Handover:
    """Nothing but what was handed over: ``blobs`` by id, ``entries`` by tree."""

    def __init__(
        self, revisions: Revisions, raw: RawDiff, *, blobs: Mapping[str, bytes], entries: Mapping[str, tuple[TreeEntry, ...]]
    ) -> None:
        self._revisions = revisions
        self._raw = raw
        self._blobs = blobs
        self._entries = entries

    def resolve(self, target: Target) -> Revisions:
        """The one change there is, whatever is asked for."""
        del target
        return self._revisions

    def diff(self, revisions: Revisions) -> RawDiff:
        """What git said of it where there was a repository."""
        del revisions
        return self._raw

    def blob(self, object_id: str) -> bytes:
        """A file's bytes. Raises GitError for one that was not handed over."""
        try:
            return self._blobs[object_id]
        except KeyError as exc:
            raise GitError(f"the object {object_id} was not handed over", hint=HINT) from exc

    def entries(self, tree: str) -> tuple[TreeEntry, ...]:
        """Those files of a tree that were handed over."""
        return self._entries.get(tree, ())

    def export(self, tree: str, into: Path) -> tuple[str, ...]:
        """Refused: where there is no repository, nothing of it is written out. Raises GitError."""
        raise GitError(f"the tree {tree} was not handed over and is not written to {into}", hint=HINT)


class NoRunner:
    """A sandbox where models are asked: no code of the change runs beside their keys, and nothing that reads it either."""

    level = "none"
    notes: tuple[str, ...] = ()

    def run(self, job: Job) -> Outcome:
        """The job's refusal."""
        del job
        return Outcome(Ended.REFUSED, reason=NO_RUNNER)


class ToldSession:
    """A session in front of which documents lie that came from elsewhere; what they do not say it recalls itself."""

    def __init__(self, told: Mapping[str, Mapping[str, Any]], within: Session) -> None:
        self._told = told
        self._within = within

    def recall(self, name: str) -> Mapping[str, Any] | None:
        """What was told, else what is remembered."""
        return self._told[name] if name in self._told else self._within.recall(name)

    def keep(self, name: str, document: Mapping[str, Any], state: SessionState | None = None) -> None:
        """See the port."""
        self._within.keep(name, document, state)

    def close(self, review: Review, state: SessionState) -> None:
        """See the port."""
        self._within.close(review, state)
