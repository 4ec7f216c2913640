"""An artifact of a workflow run: found by its name, fetched from where GitHub keeps it, unpacked in memory.

Its address lies on another host and is signed, so no token goes there. An archive is somebody else's word: few entries, plain
names, and no more bytes than are allowed, however well they were packed.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

from reviewbot.adapters.github.exchange import Call
from reviewbot.adapters.github.reading import fields, flag, items, number, odd, text
from reviewbot.adapters.github.session import Session
from reviewbot.errors import ForgeError, GoneError

MOST_PACKED = 32_000_000
MOST_BYTES = 64_000_000
MOST_FILES = 200

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")
_BROKEN = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError, OSError)


def files(session: Session, repository: str, run_id: int, *, name: str) -> Mapping[str, bytes]:
    """The files of the newest artifact ``name`` of a run, by path. Raises GoneError where there is none (any more), ForgeError
    for one that cannot be unpacked."""
    found = _newest(session, repository, run_id, name=name)
    call = Call(
        "GET", f"/repos/{repository}/actions/artifacts/{found}/zip", f"give the artifact {name}", is_read=True,
        passing=frozenset({302}),
    )  # fmt: skip
    answer = session.answer(call)
    if answer.status != 302:
        return unpacked(answer.body)
    location = answer.headers.get("location", "")
    return unpacked(session.fetch(location, MOST_PACKED, call))


def unpacked(archive: bytes) -> Mapping[str, bytes]:
    """The files of a zip archive, by path. Raises ForgeError."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            return _read(opened)
    except _BROKEN as exc:
        raise ForgeError("the artifact is no archive that can be unpacked", hint="look at the run that made it") from exc


def _newest(session: Session, repository: str, run_id: int, *, name: str) -> int:
    doing = f"list the artifacts of run {run_id}"
    path = f"/repos/{repository}/actions/runs/{run_id}/artifacts"
    call = Call("GET", path, doing, query=(("name", name), ("per_page", "100")), is_read=True)
    listed = items(fields(session.json(call), "artifacts").get("artifacts"), "artifacts")
    known = [number(node, "id") for node in (fields(entry, "artifacts") for entry in listed) if _is_there(node, name)]
    if not known:
        raise GoneError(f"run {run_id} has no artifact {name}, or it has expired", hint="run the workflow again")
    return max(known)


def _is_there(node: dict[str, Any], name: str) -> bool:
    return text(node, "name") == name and not flag(node, "expired")


def _read(archive: zipfile.ZipFile) -> Mapping[str, bytes]:
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > MOST_FILES:
        raise odd("an artifact, of too many files,")
    found: dict[str, bytes] = {}
    left = MOST_BYTES
    for entry in entries:
        if entry.filename in found or not all(_NAME.fullmatch(part) for part in entry.filename.split("/")):
            raise odd("the name of a file in an artifact")
        with archive.open(entry) as file:
            # What the archive says of sizes is not believed.
            content = file.read(left + 1)
        left -= len(content)
        if left < 0:
            raise odd("an artifact, which is too large,")
        found[entry.filename] = content
    return found
