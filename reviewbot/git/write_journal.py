"""Carry out a write, and finish one that a killed process left.

Everything is written down before anything is changed. The refs come last, at once: if one of them
is what it shall be, what is missing is done, and else everything is taken back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from reviewbot.errors import ReviewbotError, WriteError
from reviewbot.git.user_git import IndexChange, RefChange, UserGit
from reviewbot.git.work_tree import RACE_HINT, FileChange, WorkTree, sync_folder, write_durably


class Journal(Struct, frozen=True, kw_only=True):
    """What is written. It is done as soon as one of the refs is what it shall be.

    Attributes:
        name: of the files beside those that change.
        backup: a commit with the files before.
        make, remove: folders, the outermost first. They are removed only if they are empty.
    """

    name: str
    backup: str
    files: tuple[FileChange, ...]
    index: tuple[IndexChange, ...]
    refs: tuple[RefChange, ...]
    make: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


class Transaction:
    """`step` is told what has just been done."""

    def __init__(
        self, journal: Path, git: UserGit, tree: WorkTree, step: Callable[[str], None]
    ) -> None:
        self._journal = journal
        self._git = git
        self._tree = tree
        self._step = step

    async def perform(
        self, journal: Journal, new: Mapping[str, bytes | None], proven: Mapping[str, str]
    ) -> None:
        """Ctrl-C waits for the end, which takes less than a second."""
        task = asyncio.ensure_future(self._apply(journal, new, proven))
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait((task,))
            raise

    async def _apply(
        self, journal: Journal, new: Mapping[str, bytes | None], proven: Mapping[str, str]
    ) -> None:
        error: OSError | ReviewbotError | None = None
        try:
            write_durably(self._journal, msgspec.json.encode(journal))
            self._step("journal")
            for folder in journal.make:
                self._tree.make_folder(folder)
                self._step(f"folder {folder}")
            for number, file in enumerate(journal.files):
                self._tree.replace(file, f"{journal.name}-{number}", new[file.path])
                self._step(f"file {file.path}")
            await self._check_result(proven)
            if journal.index:
                await self._git.lock_index(journal.index, [file.path for file in journal.files])
                self._step("index locked")
            for file in journal.files:
                if self._tree.id(file.path) != file.after:
                    raise WriteError(f"{file.path} was changed meanwhile", hint=RACE_HINT)
            await self._git.update_refs(journal.refs)
            self._step("refs")
        except (OSError, ReviewbotError) as failure:
            error = failure
        is_done, notes = await self._settle(journal)
        if error is None and is_done and not notes:
            return
        kept = f"git show {journal.backup[:12]}:PATH shows how it was"
        if is_done:
            raise WriteError("; ".join(notes), hint=kept)
        said = "; ".join([f"nothing is changed: {error}", *notes])
        hint = kept if notes else getattr(error, "hint", None) or "see git status, then try again"
        raise WriteError(said, hint=hint) from error

    async def recover(self) -> str | None:
        """Finish what a process that was killed began. Returns a sentence about it."""
        try:
            journal = msgspec.json.decode(self._journal.read_bytes(), type=Journal)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError) as error:
            message = f"the journal of an interrupted write cannot be read: {error}"
            hint = f"see git status, then remove {self._journal}"
            raise WriteError(message, hint=hint) from error
        is_done, notes = await self._settle(journal)
        what = "is completed" if is_done else "is taken back"
        return "; ".join([f"a write that was interrupted {what}", *notes])

    async def _settle(self, journal: Journal) -> tuple[bool, list[str]]:
        """Complete what the refs say is done, or else take it back. Returns which, and notes."""
        try:
            values = {ref.name: await self._git.find_commit(ref.name) for ref in journal.refs}
            is_done = any(values[ref.name] == ref.after for ref in journal.refs)
            if is_done:
                notes = await self._complete(journal, values)
            else:
                notes = await self._take_back(journal)
            self._journal.unlink(missing_ok=True)
            sync_folder(self._journal.parent)
        except (OSError, ReviewbotError) as error:
            message = f"an interrupted write cannot be ended yet: {error}"
            hint = (
                f"git show {journal.backup[:12]}:PATH shows a file; the next reviewbot tries again"
            )
            raise WriteError(message, hint=hint) from error
        if notes and not is_done and not journal.refs[0].before:
            kept = journal.refs[0].name.replace("/backup/", "/kept/")
            await self._git.update_refs([RefChange(name=kept, before="", after=journal.backup)])
        self._step("settled")
        return is_done, notes

    async def _complete(self, journal: Journal, values: Mapping[str, str]) -> list[str]:
        await self._git.update_refs(ref for ref in journal.refs if values[ref.name] == ref.before)
        if journal.index and not self._git.has_lock():
            paths = [change.path for change in journal.index]
            staged = await self._git.entries(paths, self._git.index)
            todo = [one for one in journal.index if staged.get(one.path, "") == one.before]
            if todo:
                await self._git.lock_index(todo)
        if self._git.has_lock():
            self._git.index_lock.replace(self._git.index)
            self._step("index")
        self._git.copy.unlink(missing_ok=True)
        notes = []
        for number, file in enumerate(journal.files):
            notes.append(self._tree.finish(file, f"{journal.name}-{number}"))
            self._step(f"finish {file.path}")
        for folder in journal.remove:
            self._tree.remove_folder(folder)
        return [note for note in notes if note]

    async def _take_back(self, journal: Journal) -> list[str]:
        if self._git.has_lock():
            self._git.index_lock.unlink()
        notes = []
        for number, file in reversed([*enumerate(journal.files)]):
            content = await self._git.content(file.before) if file.before else b""
            notes.append(self._tree.take_back(file, f"{journal.name}-{number}", content))
            self._step(f"take back {file.path}")
        for folder in reversed(journal.make):
            self._tree.remove_folder(folder)
        return [note for note in notes if note]

    async def _check_result(self, proven: Mapping[str, str]) -> None:
        """Raises WriteError if git would keep anything but what was proven."""
        self._git.copy_index()
        seen = await self._git.stage(list(proven))
        for path, id in proven.items():
            if seen.get(path, "")[7:] != id:
                hint = f"see git check-attr --all {path}, or apply this fix by hand"
                raise WriteError(f"git would convert {path} to something else", hint=hint)
        self._step("checked")
