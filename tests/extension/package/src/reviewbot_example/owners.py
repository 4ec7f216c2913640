"""A tool: who owns a file, as the repository's CODEOWNERS says before the change."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from reviewbot.adapters.tools.declined import Declined, Why
from reviewbot.adapters.tools.grounds import Grounds
from reviewbot.ports import ToolSpec

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")


def offered(grounds: Grounds) -> Owners:
    """The tool for one change. ``grounds.trees`` are the files of both ends, screened; return ``None`` to offer nothing."""
    return Owners(grounds)


class Owners:
    """Reads CODEOWNERS at the base: what the change writes into it has no effect."""

    spec = ToolSpec(
        name="owners",
        description="Say who owns a file of the repository, by its CODEOWNERS.",
        parameters={"properties": {"path": {"type": "string", "description": "the file, from the top of the repository"}}},
    )

    def __init__(self, grounds: Grounds) -> None:
        self._trees = grounds.trees

    def answer(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        path, files = arguments["path"], self._trees.files("base")
        place = next((place for place in PLACES if place in files), None)
        if place is None:
            raise Declined(Why.MISSING, "the repository has no CODEOWNERS")
        owners: list[str] = []
        for line in self._trees.lines(files[place]) or ():
            pattern, *names = line.partition("#")[0].split() or [""]
            if pattern and _covers(pattern, path):
                owners = names  # the last line that matches decides
        return {"path": path, "owners": owners[:20], "said_in": place}


def _covers(pattern: str, path: str) -> bool:
    stem = pattern.strip("/")
    return pattern == "*" or path.startswith(f"{stem}/") or fnmatchcase(path, stem) or fnmatchcase(path.rpartition("/")[2], stem)
