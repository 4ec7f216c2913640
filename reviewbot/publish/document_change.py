"""A change as one zone hands it to another: enough of it that a debate without a repository sees what a review sees."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reviewbot.domain.change import Revisions
from reviewbot.domain.dismissal import Dismissals
from reviewbot.ports import RawDiff
from reviewbot.publish.document import storable, target_fields
from reviewbot.publish.document_dismissed import dismissals_fields
from reviewbot.publish.node import SCHEMA_VERSION

MOST_BYTES = 64_000_000
"""Of a change that is handed over: its diff and its files together. More than that nobody reviews in one piece."""


@dataclass(frozen=True, slots=True)
class Handed:
    """Both ends, what git says differs between them, and the bytes of every file that may be shown, by blob id.

    ``configuration`` and ``rules`` are files of the base commit, as (name, bytes): those that configure reviews, and those with
    the repository's own rules. ``dismissals`` are what the repository's file dismisses there.
    """

    revisions: Revisions
    diff: RawDiff
    blobs: Mapping[str, bytes]
    repository: str | None = None
    configuration: tuple[tuple[str, bytes], ...] = ()
    rules: tuple[tuple[str, bytes], ...] = ()
    dismissals: Dismissals = Dismissals()

    @property
    def size(self) -> int:
        """Bytes, before they are written."""
        files = (*self.blobs.values(), *(data for _, data in (*self.configuration, *self.rules)))
        return sum(map(len, (self.diff.raw, self.diff.numstat, self.diff.patch, *files)))


def change_document(handed: Handed) -> dict[str, Any]:
    """The change document. Bytes are in base64: names and lines need not be UTF-8."""
    diff = handed.diff
    written: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "target": {**target_fields(handed.revisions), "notes": list(handed.revisions.notes)},
        "repository": handed.repository,
        "diff": {"raw": _written(diff.raw), "numstat": _written(diff.numstat), "patch": _written(diff.patch)},
        "contents": [{"id": name, "data": _written(data)} for name, data in sorted(handed.blobs.items())],
        "configuration": [{"name": name, "data": _written(data)} for name, data in handed.configuration],
        "rules": [{"name": name, "data": _written(data)} for name, data in handed.rules],
    }
    if handed.dismissals != Dismissals():
        written["dismissals"] = storable(dismissals_fields(handed.dismissals))
    return {**written, "target": storable(written["target"]), "repository": storable(handed.repository)}


def blob_id(data: bytes, like: str) -> str:
    """git's name for these bytes, in the object format of ``like`` (gitformat-pack(5): a header, then the bytes)."""
    made = hashlib.sha256(usedforsecurity=False) if len(like) == 64 else hashlib.sha1(usedforsecurity=False)
    made.update(b"blob %d\0" % len(data))
    made.update(data)
    return made.hexdigest()


def _written(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
