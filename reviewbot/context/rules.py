"""Files with rules by which people already tell programs what they want: which of a tree concern a change, and for what of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from reviewbot.ports import Rule, TreeEntry
from reviewbot.screen import shown

NAMES = ("AGENTS.md", "CLAUDE.md", "REVIEW.md")
"""At the top or in any folder, for everything below it; of one folder a later name is nearer to reviews."""
COPILOT = ".github/copilot-instructions.md"
INSTRUCTIONS, ENDING = ".github/instructions/", ".instructions.md"
"""GitHub's files with rules for some paths, which their first lines name (``applyTo``)."""

MOST_FILES = 20
MOST_BYTES = 64_000
"""Of one file; the rest is not read."""
MOST_GLOBS = 64
MOST_FRONT_LINES, LONGEST_FRONT_LINE = 40, 1_000

_TYPE, _REGULAR = 0o170000, 0o100000
_FIELD = re.compile(r"""(applyTo|excludeAgent)\s*:\s*(?:"([^"]*)"|'([^']*)'|([^#]*?))\s*(?:#.*)?""")
_BRACES = re.compile(r"\{([^{}]*)\}")

Matches = Callable[[tuple[str, ...], str], bool]
"""Whether one of some globs means a path."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The files to read, those that count least first, and the paths of those for which there are too many."""

    files: tuple[TreeEntry, ...]
    left_out: tuple[str, ...] = ()


def is_regular(entry: TreeEntry) -> bool:
    """A file of its own: no symbolic link, which is not followed whatever it is called, and no submodule."""
    return entry.mode & _TYPE == _REGULAR


def chosen(entries: Iterable[TreeEntry], changed: Collection[str]) -> Chosen:
    """The rule files of a tree that may concern the ``changed`` paths. Equal ones of one folder are read once.

    Where there are more than ``MOST_FILES``, those are read that concern the most files.
    """
    below = _below(changed)
    found = {
        (folder, entry.object_id): entry
        for entry in entries
        if is_regular(entry) and (folder := folder_of(entry.path)) is not None and below[folder]
    }
    first = sorted(found.values(), key=lambda entry: (-below[folder_of(entry.path) or ""], rank(entry.path)))
    kept, rest = first[:MOST_FILES], first[MOST_FILES:]
    return Chosen(tuple(sorted(kept, key=lambda entry: rank(entry.path))), tuple(entry.path for entry in rest))


def folder_of(path: str) -> str | None:
    """The folder for which a file of this path has rules, empty for the top; ``None`` where it is not a file of rules."""
    if path == COPILOT or (path.startswith(INSTRUCTIONS) and path.endswith(ENDING)):
        return ""
    folder, _, name = path.rpartition("/")
    return folder if name in NAMES else None


def read(path: str, content: bytes, changed: Collection[str], *, matches: Matches) -> Rule | None:
    """A file's rules, with the words for what they hold; ``None`` where they hold for nothing that changed. What it imports
    (``@file``) is not read."""
    text = content[:MOST_BYTES].decode("utf-8", "replace")
    if not path.startswith(INSTRUCTIONS):
        folder = folder_of(path)
        return Rule(scoped(path, folder), text) if not folder or _below(changed)[folder] else None
    front, text = _front(text)
    globs = tuple(_globs(front.get("applyTo", "")))
    # GitHub's own review leaves such a file out, too.
    if front.get("excludeAgent") == "code-review" or not any(matches(globs, name) for name in changed):
        return None
    return Rule(f"{path} (for files that match {front['applyTo']})", text)


def scoped(path: str, folder: str | None) -> str:
    """The name of a rule file, with the folder for which it holds."""
    return f"{path} (for files below {folder}/)" if folder else path


def rank(path: str) -> tuple[int, str, int, str]:
    """The top before folders, a folder before those in it; within one the more general before the nearer to reviews."""
    folder, name = folder_of(path) or "", path.rpartition("/")[2]
    order = NAMES.index(name) + 1 if name in NAMES else 0
    if path.startswith(INSTRUCTIONS):
        order = len(NAMES) + 1
    return (folder.count("/") + 1 if folder else 0, folder, order, path)


def fitted(rules: Sequence[Rule], most: int) -> tuple[Rule, ...]:
    """All rules within so many characters: short ones whole, the long ones share evenly what is left. Empty ones are dropped.

    Screened before they are cut: half a secret is not known as one.
    """
    told = [replace(rule, text=text) for rule in rules if (text := shown.text(rule.text).strip())]
    share = _share([len(rule.text) for rule in told], most)
    return tuple(replace(rule, text=_cut(rule.text, share)) for rule in told)


def _below(changed: Collection[str]) -> Counter[str]:
    """How many changed files lie below each folder."""
    return Counter(folder for path in changed for folder in _folders(path))


def _folders(path: str) -> Iterator[str]:
    while path:
        path = path.rpartition("/")[0]
        yield path


def _front(text: str) -> tuple[dict[str, str], str]:
    """The two fields that count of what stands between lines of three dashes at the top, and the text after it."""
    lines = text.removeprefix("\ufeff").split("\n")
    if lines[0].rstrip() != "---":
        return {}, text
    end = next((at for at, line in enumerate(lines[1:MOST_FRONT_LINES], 1) if line.rstrip() == "---"), None)
    if end is None:
        return {}, text
    read = (_FIELD.fullmatch(line) for line in lines[1:end] if len(line) <= LONGEST_FRONT_LINE)
    fields = {found[1]: found[2] or found[3] or found[4] or "" for found in read if found}
    return fields, "\n".join(lines[end + 1 :])


def _globs(text: str) -> Iterator[str]:
    """Globs between commas, those with braces written out."""
    left = MOST_GLOBS
    waiting = [part for part in re.split(r",(?![^{}]*\})", text) if part.strip()]
    while waiting and left:
        glob, left = waiting.pop(0).strip(), left - 1
        braces = _BRACES.search(glob)
        if braces is None:
            yield glob
        else:
            choices = braces[1].split(",")[:MOST_GLOBS]
            waiting[:0] = [glob[: braces.start()] + one + glob[braces.end() :] for one in choices]


def _share(lengths: Iterable[int], most: int) -> int:
    """The length to which the longest are cut so that all together have at most ``most``."""
    ordered, left = sorted(lengths), most
    for index, length in enumerate(ordered):
        even = left // (len(ordered) - index)
        if length > even:
            return even
        left -= length
    return most


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} … [{len(text) - most} more characters left out]"
