"""The files that who writes code sees: as they are now, screened, around the place in question where they are long."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from reviewbot.debate.making.tree import Tree
from reviewbot.domain.debate import Seat
from reviewbot.ports import Sheet, Task
from reviewbot.screen.legible import Legible

REACH, NARROW_REACH = 150, 40
"""Lines before and after the place; for who has little room, or reads slowly."""

MOST_SHEETS, FEW_SHEETS = 6, 2
LITTLE_ROOM = 8_000
"""Tokens of passages at a time: who takes fewer has no room for so many files."""

MOST_LINE = 2_000
"""Characters of a line. A longer one is generated, and cannot be edited by finding it."""

_WORD = re.compile(r"[\w./-]+")


def sheets(task: Task, tree: Tree, seat: Seat) -> tuple[Sheet, ...]:
    """The lines that the task is about, its further places, and the beginning of files that its words or its check name.

    No line is shown twice."""
    narrow = seat.local or (seat.room is not None and seat.room < LITTLE_ROOM)
    reach, most = (NARROW_REACH, FEW_SHEETS) if narrow else (REACH, MOST_SHEETS)
    found: list[Sheet] = []
    for path, first, last in _places(task, tree, most):
        if (
            len(found) < most
            and not _is_shown(found, path, first)
            and (sheet := _sheet(path, first, last, tree=tree, reach=reach))
        ):
            found.append(sheet)
    return tuple(found)


def _places(task: Task, tree: Tree, most: int) -> Iterator[tuple[str, int, int]]:
    """Files and lines as they are now: the task's own first, all that may be changed where these are few, then what is named."""
    packet = task.packet
    here = {*tree.head, *(edit.path for edit in tree.edits)}
    yield packet.path, tree.line(packet.path, max(packet.start_line, 1)), tree.line(packet.path, max(packet.line, 1))
    for path, line in task.places:
        yield path, (number := tree.line(path, max(line, 1))), number
    few = sorted(task.paths) if len(task.paths) <= most else []
    named = sorted(path for path in here if _names(path) & _words(task))
    for path in dict.fromkeys((*few, *named)):
        if path not in {packet.path, *(place for place, _ in task.places)}:
            yield path, 1, 1


def _is_shown(sheets: Iterable[Sheet], path: str, line: int) -> bool:
    return any(one.path == path and one.start <= line < one.start + max(len(one.lines), 1) for one in sheets)


def _words(task: Task) -> frozenset[str]:
    packet, check = task.packet, task.check
    said = [task.wish, task.title, packet.title, packet.quote, packet.trigger, packet.consequence, packet.falsifier]
    said += [check.subject, check.source, *check.command] if check else []
    return frozenset(word.strip(".-/") for text in said for word in _WORD.findall(text))


def _names(path: str) -> frozenset[str]:
    """What a file is called in words: its path, its name, and as a module, from any folder on."""
    parts = path.removesuffix(".py").split("/")
    modules = [".".join(parts[first:]) for first in range(len(parts) - 1)] if path.endswith(".py") else []
    return frozenset((path, path.rsplit("/", 1)[-1], *modules))


def _sheet(path: str, first: int, last: int, *, tree: Tree, reach: int) -> Sheet | None:
    """The lines around a place, all of a file that is not much longer; ``None`` where it is no text that can be shown."""
    content = tree.content(path)
    file = Legible.of(content) if content is not None else None
    if file is None:
        return None
    lines = file.text.removesuffix("\n").split("\n") if file.text else []
    first = min(first, max(len(lines), 1))
    start, end = max(first - reach, 1), min(max(last, first), first + reach) + reach
    if len(lines) <= 2 * reach + 1:
        start, end = 1, len(lines)
    return Sheet(path, start, tuple(_shortened(lines[start - 1 : end])), len(lines))


def _shortened(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        more = len(line) - MOST_LINE
        yield f"{line[:MOST_LINE]}⟨{more} more characters⟩" if more > 0 else line
