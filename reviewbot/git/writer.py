"""Write fixes into the user's work tree, all of them or none, and take them back.

Nothing that the repository or the user's configuration names is run: no hook, no filter, no
program that signs. A write leaves a commit under refs/reviewbot/backup/ that holds the files before
and whose parents are HEAD and the index, like a stash. `git show refs/reviewbot/backup/ID:PATH`
shows a file.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import pwd
import re
import shutil
import stat
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import Struct

from reviewbot.errors import GitError, ReviewbotError, WriteError
from reviewbot.git.process import ENVIRONMENT, Git, decode_name
from reviewbot.git.repository import Repository
from reviewbot.git.write_journal import (
    RACE_HINT,
    FileChange,
    IndexChange,
    Journal,
    RefChange,
    Step,
    WorkTree,
    blob_id,
    sync_folder,
    write_durably,
)

BACKUPS = "refs/reviewbot/backup/"
MAX_BACKUPS = 20
LOCK_SECONDS = 10.0
MAX_REASONS = 5
REVIEW_HINT = "review it again"
# Files and folders of the git folder, and what git does while they are there.
UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "sequencer": "a cherry-pick or revert",
    "BISECT_LOG": "a bisection",
}
# With these, a file is not what git keeps of it in a way that nothing here could repeat.
CONVERTING = ("filter", "working-tree-encoding", "ident")
SETTINGS = (
    "core.fsync=all",
    "core.splitIndex=false",
    "index.sparse=false",
    "i18n.commitEncoding=UTF-8",
    "user.useConfigOnly=true",  # else git makes up an address
)
BOT = {
    f"GIT_{role}_{field}": value
    for role in ("AUTHOR", "COMMITTER")
    for field, value in (("NAME", "reviewbot"), ("EMAIL", "reviewbot@localhost"))
}


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


class Backup(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the message of a backup says. `branch` was at `head` before the commits."""

    git_directory: str
    head: str
    branch: str
    commits: tuple[str, ...]
    files: tuple[FileChange, ...]
    index: tuple[IndexChange, ...]
    folders: tuple[str, ...]


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
        writer = _Writer(root, git_directory, _journal(folder, git_directory), lock, step)
        await writer.prepare()
        yield writer


def _try_lock(lock: BinaryIO) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


class _Writer:
    def __init__(
        self, root: Path, git_directory: Path, journal: Path, lock: BinaryIO, step: Step
    ) -> None:
        self._root = root
        self._git_directory = git_directory
        self._journal = journal
        self._lock = lock
        self._step = step
        self._index = git_directory / "index"
        self._new_index = git_directory / "reviewbot.index"
        self._index_lock = git_directory / "index.lock"
        self.recovered: str | None = None

    async def prepare(self) -> None:
        self._environment = ENVIRONMENT | {
            "GIT_DIR": str(self._git_directory),
            "GIT_WORK_TREE": str(self._root),
            "GIT_LITERAL_PATHSPECS": "1",
        }
        # Who commits and what git converts is what the user's configuration says.
        for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_ATTR_NOSYSTEM"):
            del self._environment[name]
        home = ""
        with suppress(KeyError):  # in a container, the user may have no entry
            home = pwd.getpwuid(os.getuid()).pw_dir
            self._environment["HOME"] = home
        self._options: tuple[str, ...] = tuple(
            word for setting in SETTINGS for word in ("-c", setting)
        )
        # The last value is the one that Git sets.
        *values, _ = (await self._lines("config", "--type=path", "--get-all", "core.attributesFile"))
        attributes = values[-1] if values else f"{home}/.config/git/attributes"
        self._options += ("-c", f"core.attributesFile={attributes}")
        self._format = await self._line("rev-parse", "--show-object-format")
        self._tree = WorkTree(self._root, self._format, self._step)
        if self._journal.exists():
            self.recovered = await self._recover()
        for path in self._git_directory.glob("reviewbot.index*"):
            path.unlink()

    async def write(self, writes: Sequence[Write]) -> Written:
        before, after = _merge(writes)
        committed = frozenset(path for write in writes if write.message for path in write.files)
        head, branch = await self._value("HEAD"), await self._line("symbolic-ref", "-q", "HEAD")
        if committed:
            await self._check_branch(head, branch)
        raw = self._read(before, after)
        self._copy_index(self._new_index)
        staged = await self._check_git(before, committed, head)
        files, raw_after = [], {}
        for path, content in after.items():
            here, mode = raw[path]
            if content is not None and _has_crlf(here, before[path]):
                content = content.replace(b"\n", b"\r\n")
            raw_after[path] = content
            if here != content:
                ids = (self._blob_id(here), self._blob_id(content))
                files.append(FileChange(path=path, before=ids[0], after=ids[1], mode=mode))
        if not files:
            raise WriteError("the fixes change nothing", hint=REVIEW_HINT)
        contents = {content for write in writes for content in write.files.values()}
        contents |= {here for here, _ in raw.values()} | set(raw_after.values())
        for content in contents - {None}:
            await self._git("hash-object", "-w", "--stdin", stdin=content or b"")
        modes = {
            path: staged[path][:6] if path in staged else "100755" if mode & 0o100 else "100644"
            for path, (_, mode) in raw.items()
        }
        commits = await self._commit(writes, head, modes)
        index = [
            IndexChange(path=path, before=staged.get(path, ""), after=self._entry(modes, path, new))
            for path, new in after.items()
            if path in committed or (path in staged and await self._is_staged(path, staged, head))
        ]
        made = [folder for file in files if file.after for folder in self._tree.missing_folders(file.path)]
        folders = tuple(dict.fromkeys(made))
        backup = Backup(
            git_directory=str(self._git_directory),
            head=head,
            branch=branch,
            commits=tuple(commits),
            files=tuple(files),
            index=tuple(change for change in index if change.before != change.after),
            folders=folders,
        )
        id = await self._new_id()
        kept = await self._keep(backup, modes)
        refs = [RefChange(name=f"{BACKUPS}{id}", before="", after=kept)]
        if commits:
            refs.append(RefChange(name=branch, before=head, after=commits[-1]))
        journal = Journal(
            name=f".reviewbot-{id}",
            backup=kept,
            files=backup.files,
            index=backup.index,
            refs=tuple(refs),
            make=folders,
        )
        self._step("prepared")
        proven = {path: self._blob_id(content) for path, content in after.items()}
        await self._perform(journal, raw_after, proven)
        with suppress(GitError):
            for name, commit in (await self._backups())[MAX_BACKUPS:]:
                await self._move([RefChange(name=name, before=commit, after="")])
        paths = tuple(file.path for file in files)
        return Written(id=id, paths=paths, commits=tuple(commits))
