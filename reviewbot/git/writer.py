"""Write fixes into the user's work tree, all of them or none, and take them back.

Nothing that the repository or the user's configuration names is run: no hook, no filter, no
program that signs.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import stat
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.errors import WriteError
from reviewbot.git.backup import (
    BACKUPS,
    Backup,
    find_backup,
    make_backup,
    new_id,
    prune_backups,
)
from reviewbot.git.repository import Repository
from reviewbot.git.user_git import IndexChange, RefChange, UserGit
from reviewbot.git.work_tree import FileChange, Step, WorkTree
from reviewbot.git.write_checks import (
    REVIEW_HINT,
    check_branch,
    check_git,
    check_last,
    read_reviewed,
)
from reviewbot.git.write_journal import Journal, Transaction

LOCK_SECONDS = 10.0


class Write(Struct, frozen=True, kw_only=True):
    """A fix.

    Attributes:
        files: what files shall be, by path; None removes one.
        before: what was reviewed. A path that is missing did not exist.
        message: each fix that has one becomes a commit.
    """

    files: Mapping[str, bytes | None]
    before: Mapping[str, bytes]
    message: str = ""


class Written(Struct, frozen=True, kw_only=True):
    """What was written. The id names it to `undo_fixes`, and its backup below BACKUPS."""

    id: str
    paths: tuple[str, ...]
    commits: tuple[str, ...]


async def write_fixes(
    repository: Repository, writes: Sequence[Write], folder: Path, *, step: Step = lambda _: None
) -> Written:
    """Write fixes into the work tree, and commit those with a message.

    What was staged as it was reviewed is staged again; other entries of the index stay.

    Args:
        folder: where the journal is kept meanwhile.
        step: is told what has just been done, for tests.

    Raises WriteError, and then nothing is written.
    """
    async with _open(repository, folder, step) as writer:
        return await writer.write(writes)


async def undo_fixes(
    repository: Repository, id: str, folder: Path, *, step: Step = lambda _: None
) -> tuple[str, ...]:
    """Take back what was written, by default the last. Returns the paths.

    Raises WriteError if there is nothing to take back, or if some files were changed since: they
    stay as they are, and the others are taken back.
    """
    async with _open(repository, folder, step) as writer:
        return await writer.undo(id)


async def recover(
    repository: Repository, folder: Path, *, step: Step = lambda _: None
) -> str | None:
    """Complete or take back what a process that was killed left. Returns a sentence about it."""
    if not _journal(folder, await repository.git_directory()).exists():
        return None
    async with _open(repository, folder, step) as writer:
        return writer.recovered


def _journal(folder: Path, git_directory: Path) -> Path:
    name = hashlib.sha256(os.fsencode(git_directory)).hexdigest()[:16]
    return folder / f"writing-{name}.json"


@asynccontextmanager
async def _open(repository: Repository, folder: Path, step: Step) -> AsyncIterator[_Writer]:
    """Alone, and with nothing half written."""
    root, git_directory = await repository.root(), await repository.git_directory()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (git_directory / "reviewbot.lock").open("ab")
    except OSError as error:
        message = f"{error.filename} cannot be written: {error.strerror}"
        raise WriteError(message, hint="make it writable") from error
    with lock:
        try:
            async with asyncio.timeout(LOCK_SECONDS):
                while not _try_lock(lock):
                    await asyncio.sleep(0.02)
        except TimeoutError:
            message = "another reviewbot is writing into this work tree"
            raise WriteError(message, hint="run it again when that one is done") from None
        git = UserGit(root, git_directory, lock)
        await git.open()
        tree = WorkTree(root, git.object_format, step)
        journal = _journal(folder, git_directory)
        transaction = Transaction(journal, git, tree, step)
        recovered = await transaction.recover()
        git.clean()
        try:
            yield _Writer(git, tree, transaction, recovered, step)
        except OSError as error:
            message = f"nothing is changed: {error}"
            raise WriteError(message, hint="see who may read and write there") from error
        finally:
            if not journal.exists():
                git.clean()


def _try_lock(lock: BinaryIO) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


class _Writer:
    def __init__(
        self,
        git: UserGit,
        tree: WorkTree,
        transaction: Transaction,
        recovered: str | None,
        step: Step,
    ) -> None:
        self._git = git
        self._tree = tree
        self._transaction = transaction
        self._step = step
        self.recovered = recovered

    async def write(self, writes: Sequence[Write]) -> Written:
        before, after = _merge(writes)
        committed = frozenset(path for write in writes if write.message for path in write.files)
        head, branch = await self._git.find_commit("HEAD"), await self._git.branch()
        if committed:
            await check_branch(self._git, head, branch)
        now, modes = read_reviewed(self._tree, before)
        staged, tracked = await check_git(self._git, before, committed, head)
        files, new = [], {}
        for path, content in after.items():
            old, reviewed = now[path], before[path]
            if content is not None and old != reviewed:  # the lines end in CRLF, as _read found
                content = content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
            if old != content:
                new[path] = content
                ids = self._git.id(old), self._git.id(content)
                files.append(FileChange(path=path, before=ids[0], after=ids[1], mode=modes[path]))
        if not files:
            raise WriteError("the fixes change nothing", hint=REVIEW_HINT)
        contents = [content for write in writes for content in write.files.values()]
        for content in {*contents, *now.values(), *new.values()} - {None}:
            await self._git("hash-object", "-w", "--stdin", stdin=content or b"")
        entries = {
            path: staged[path][:6] if path in staged else f"100{755 if mode & 0o100 else 644}"
            for path, mode in modes.items()
        }
        index = [
            IndexChange(
                path=path,
                before=staged.get(path, ""),
                after=f"{entries[path]} {self._git.id(content)}" if content is not None else "",
            )
            for path, content in after.items()
            if path in committed
            or staged.get(path, "")[7:] == self._git.id(before[path]) != tracked.get(path, "")[7:]
        ]
        commits = await self._commit(writes, head, entries)
        backup = Backup(
            git_directory=self._git.name,
            head=head,
            branch=branch,
            commits=tuple(commits),
            files=tuple(files),
            index=tuple(change for change in index if change.before != change.after),
            folders=self._missing_folders(files),
        )
        id, kept = await new_id(self._git), await make_backup(self._git, backup, entries)
        refs = [RefChange(name=f"{BACKUPS}{id}", before="", after=kept)]
        if commits:
            refs.append(RefChange(name=branch, before=head, after=commits[-1]))
        journal = Journal(
            name=f".reviewbot-{id}",
            backup=kept,
            files=backup.files,
            index=backup.index,
            refs=tuple(refs),
            make=backup.folders,
        )
        self._step("prepared")
        await self._transaction.perform(
            journal, new, {path: self._git.id(after[path]) for path in after}
        )
        await prune_backups(self._git)
        return Written(id=id, paths=tuple(file.path for file in files), commits=tuple(commits))

    async def undo(self, id: str) -> tuple[str, ...]:
        ref, commit, backup = await find_backup(self._git, id)
        if backup.commits:
            await check_last(self._git, backup)
        files, left = [], []
        new: dict[str, bytes | None] = {}
        for file in backup.files:
            if self._tree.id(file.path) != file.after or self._tree.obstacle(file.path):
                left.append(file)
                continue
            here = self._tree.read(file.path)
            mode = stat.S_IMODE(here[1].st_mode) if here else file.mode
            change = FileChange(path=file.path, before=file.after, after=file.before, mode=mode)
            files.append(change)
            new[file.path] = await self._git.content(file.before) if file.before else None
        names = ", ".join(file.path for file in left)
        sentence = f"{names} {'was' if len(left) == 1 else 'were'} changed since the fix"
        hint = f"git show {ref}:{left[0].path} shows how it was" if left else None
        if not files:
            raise WriteError(f"nothing is taken back: {sentence}", hint=hint)
        self._git.copy_index()
        staged = await self._git.entries([change.path for change in backup.index])
        taken = [file.path for file in files]
        index = tuple(
            IndexChange(path=change.path, before=change.after, after=change.before)
            for change in backup.index
            if staged.get(change.path, "") == change.after
            and (change.path in taken or backup.commits)
        )
        rest = ""
        if left:
            less = replace(backup, commits=(), files=tuple(left), index=())
            rest = await make_backup(self._git, less, {})
        refs = [RefChange(name=ref, before=commit, after=rest)]
        if backup.commits:
            last = backup.commits[-1]
            refs.append(RefChange(name=backup.branch, before=last, after=backup.head))
        journal = Journal(
            name=f".reviewbot-{ref.removeprefix(BACKUPS)}",
            backup=commit,
            files=tuple(files),
            index=index,
            refs=tuple(refs),
            make=self._missing_folders(files),
            remove=backup.folders[::-1],
        )
        await self._transaction.perform(journal, new, {})
        if left:
            raise WriteError(f"{sentence} and stays; taken back: {', '.join(taken)}", hint=hint)
        return tuple(taken)

    def _missing_folders(self, files: Sequence[FileChange]) -> tuple[str, ...]:
        paths = [file.path for file in files if file.after]
        return tuple(
            dict.fromkeys(folder for path in paths for folder in self._tree.missing_folders(path))
        )

    async def _commit(
        self, writes: Sequence[Write], head: str, modes: Mapping[str, str]
    ) -> list[str]:
        """One commit for each fix with a message; no ref names them yet."""
        commits, parent = [], head
        if any(write.message for write in writes):
            await self._git("read-tree", head, index=self._git.scratch)
        for write in writes:
            if not write.message:
                continue
            await self._git.set_entries(
                {
                    path: f"{modes[path]} {self._git.id(content)}" if content is not None else ""
                    for path, content in write.files.items()
                },
                self._git.scratch,
            )
            tree = await self._git.write_tree()
            parent = await self._git.commit_tree(tree, [parent], write.message)
            commits.append(parent)
        return commits


def _merge(
    writes: Sequence[Write],
) -> tuple[dict[str, bytes | None], dict[str, bytes | None]]:
    """What files are before the first fix that changes them, and after the last."""
    before: dict[str, bytes | None] = {}
    after: dict[str, bytes | None] = {}
    for write in writes:
        for path, content in write.files.items():
            reviewed = write.before.get(path)
            before.setdefault(path, reviewed)
            if after.get(path, reviewed) != reviewed:
                raise WriteError(f"two fixes contradict each other in {path}", hint=REVIEW_HINT)
            after[path] = content
    return before, after
