"""What somebody wrote, in an answer and with the ``code`` tool, as files: held against what may be changed and what was shown."""

from __future__ import annotations

from dataclasses import dataclass

from reviewbot.debate.making.reply import Swap, Writing
from reviewbot.debate.making.tree import Tree
from reviewbot.debate.strict import InvalidReply
from reviewbot.domain.repair import CodeVersion, Edit
from reviewbot.ports import Task
from reviewbot.screen import hidden, secrets
from reviewbot.screen.legible import NEW, Legible, Misplaced


@dataclass(frozen=True, slots=True)
class Written:
    """Code that fits: whole files, and every write with the tool. No edits where nothing was written."""

    explanation: str
    edits: tuple[Edit, ...]
    versions: tuple[CodeVersion, ...] = ()


def fitted(writing: Writing, versions: tuple[CodeVersion, ...], *, tree: Tree, task: Task) -> Written:
    """The files that come of it: first what the tool wrote, the last version of each, then the swaps, one after the other.

    Raises InvalidReply, in words that whoever wrote it can mend it by."""
    latest = {version.path: version.content for version in versions}
    changed = {path: content for path, content in latest.items() if content != tree.content(path)}
    for path in changed:
        _permit(path, f"{path}, written with the tool,", tree=tree, task=task)
    for index, swap in enumerate(writing.swaps):
        where = f"edits[{index}]"
        _permit(swap.path, f"{where}.path: {swap.path}", tree=tree, task=task)
        now = changed[swap.path] if swap.path in changed else tree.content(swap.path)
        changed[swap.path] = _swapped(swap, now, where, may_add=task.may_add)
    after = tree.having(Edit(path, content) for path, content in changed.items())
    edits = tree.changes(after)
    if changed and not edits:
        raise InvalidReply("edits: with them every file is as it was before")
    return Written(writing.explanation.strip(), edits, versions)


def _permit(path: str, what: str, *, tree: Tree, task: Task) -> None:
    """Raises InvalidReply for a file that may not be changed. What new files may be called is the gate's to judge."""
    if path in task.paths:
        return
    if any(path == brought.path for brought in task.brings):
        raise InvalidReply(f"{what} may not be changed: it comes along as it is")
    if {"", ".", ".."} & set(path.split("/")):
        raise InvalidReply(f"{what} is no path from the top of the repository")
    is_new = path not in tree.head
    if not (task.may_add and is_new):
        done = "added" if is_new else "changed"
        raise InvalidReply(f"{what} may not be {done}: only these files may be changed: {_some(task.paths)}")


def _swapped(swap: Swap, now: bytes | None, where: str, *, may_add: bool) -> bytes:
    if hidden.visible(secrets.redact(swap.replace)[0]) != swap.replace:
        raise InvalidReply(f"{where}.replace: there is a secret or a hidden character in it")
    if now is None and not (may_add and not swap.find):
        raise InvalidReply(f"{where}.path: there is no file {swap.path}")
    file = Legible.of(now) if now else NEW
    if file is None:
        raise InvalidReply(f"{where}.path: {swap.path} is no text in UTF-8")
    try:
        return file.replaced(swap.find, swap.replace) if now else _begun(file, swap, where)
    except Misplaced as exc:
        raise InvalidReply(f"{where} ({swap.path}): {exc}") from exc


def _begun(file: Legible, swap: Swap, where: str) -> bytes:
    if swap.find:
        raise InvalidReply(f"{where}.find: {swap.path} is empty")
    return file.rewritten(swap.replace)


def _some(paths: frozenset[str], most: int = 8) -> str:
    listed = sorted(paths)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return f"{', '.join(listed[:most])}{more}"
