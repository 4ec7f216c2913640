"""Where SARIF says that files are: names in URI form, kept in a table, relative to names that are themselves relative (3.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.evidence.parsers.shape import Record

_FILE = re.compile(r"file:(?://(?P<host>[^/]*))?(?P<path>.*)", re.IGNORECASE | re.DOTALL)
_DRIVE = re.compile(r"/[A-Za-z]:(?:/|\Z)")
_ABSOLUTE = re.compile(r"/|[A-Za-z][A-Za-z0-9+.-]*:")
_MAX_BASES = 8
"""A base that leads back to itself would never end."""
_MAX_URI = 2_000
"""Characters, before and after its bases are put before it. A report can name one long URI thousands of times."""


@dataclass(frozen=True, slots=True)
class Locations:
    """The table and the bases of one run."""

    artifacts: tuple[Record, ...]
    bases: Record

    @classmethod
    def of(cls, run: Record) -> Locations:
        """Raises Unreadable."""
        return cls(tuple(run.records("artifacts")), run.record("originalUriBaseIds"))

    def path(self, location: Record) -> str:
        """The path of an artifactLocation, "" where it names none. Raises Unreadable."""
        if not location.word("uri"):
            artifact = location.among("index", self.artifacts)
            location = (artifact or Record({})).record("location")
        return _path_of(self._resolved(location))

    def _resolved(self, location: Record) -> str:
        """Before the URI stand those of its bases, as far as they are known: often a base is but a name."""
        uri = location.word("uri")
        _check(uri)
        for _ in range(_MAX_BASES):
            base = location.word("uriBaseId")
            if not base or _ABSOLUTE.match(uri):
                break
            location = self.bases.record(base)
            stem = location.word("uri")
            uri = f"{stem.removesuffix('/')}/{uri}" if stem else uri
            _check(uri)
        return uri


def _check(uri: str) -> None:
    if len(uri) > _MAX_URI:
        raise Unreadable(f"a URI of more than {_MAX_URI} characters")


def _path_of(uri: str) -> str:
    found = _FILE.fullmatch(uri)
    path = unquote(found["path"] if found else uri)
    if "\0" in path:
        raise Unreadable("a path holds NUL")
    if not found:
        return path
    if found["host"] and found["host"].lower() != "localhost":
        return f"//{unquote(found['host'])}{path}"
    return path[1:] if _DRIVE.match(path) else path
