"""``search``: where a text stands in the repository with the change applied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reviewbot.adapters.tools.declined import Declined, Why
from reviewbot.adapters.tools.grounds import Grounds
from reviewbot.adapters.tools.page import fitting, short
from reviewbot.adapters.tools.trees import LARGEST_FILE, Trees, normal
from reviewbot.ports import Hit, Search, ToolSpec
from reviewbot.screen import shown

MOST_SHOWN = 100
MOST_FOUND = 2_000
"""Hits that are asked for, so that a prefix has something to choose from."""
MOST_FILES = 40
SHORTEST, LONGEST = 2, 200


def offered(grounds: Grounds) -> SearchText:
    """Always."""
    return SearchText(grounds.trees, grounds.search)


class SearchText:
    """Searches the head tree."""

    spec = ToolSpec(
        name="search",
        description=f"Find the lines of the repository that hold a text (no pattern; case counts), at most {MOST_SHOWN}.",
        parameters={
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": f"what to find: {SHORTEST} to {LONGEST} characters of one line"},
                "path": {"type": ["string", "null"], "description": "only files whose path begins with this"},
            },
            "required": ["text", "path"],
            "additionalProperties": False,
        },
    )

    def __init__(self, trees: Trees, search: Search) -> None:
        self._trees = trees
        self._search = search

    def answer(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """``path:line: text`` for every hit. Raises Declined, GitError."""
        text, prefix = arguments["text"], normal(arguments.get("path", ""))
        if not SHORTEST <= len(text) <= LONGEST or "\n" in text or "\r" in text:
            raise Declined(Why.INVALID, f"text is {SHORTEST} to {LONGEST} characters of one line")
        found = self._search.find(self._trees.tree("head"), (text,), whole=False, most=MOST_FOUND)
        hits = [(name, hit) for hit in found if (name := shown.text(hit.path)).startswith(prefix)]
        names = list(dict.fromkeys(name for name, _ in hits))[:MOST_FILES]
        told = list(self._told(text, [(name, hit) for name, hit in hits if name in names]))
        number = len(told) + sum(name not in names for name, _ in hits)
        complete = len(found) < MOST_FOUND
        head = {"found": number, "complete": complete}
        taken = fitting(told, MOST_SHOWN, beside=head)
        return {**head, "hits": list(taken), "more": _more(number - len(taken), complete=complete)}

    def _told(self, text: str, hits: list[tuple[str, Hit]]) -> Iterator[str]:
        """Each hit as its file is shown as a whole: a line of a key of several lines is not known as one when it is alone.

        A line that does not hold the text once it is shown is no hit: a number of hits would tell a secret, guess by guess."""
        files = self._trees.files("head")
        for name, hit in hits:
            readable = name in files and 0 <= files[name].size <= LARGEST_FILE
            lines = (self._trees.lines(files[name]) or ()) if readable else ()
            if readable and hit.line <= len(lines) and text in lines[hit.line - 1]:
                yield f"{name}:{hit.line}: {short(lines[hit.line - 1])}"
            elif not readable and text in shown.text(hit.text.decode("utf-8", "replace")):
                yield f"{name}:{hit.line}: ⟨the file is too large to be shown⟩"


def _more(missing: int, *, complete: bool) -> str | None:
    if missing:
        return f"{missing} or more are not shown: give a path or a longer text"
    return None if complete else f"only the first {MOST_FOUND} lines were looked at: search for something rarer"
