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
import stat
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from reviewbot.errors import GitError, WriteError
from reviewbot.git.process import decode_name
from reviewbot.git.repository import Repository
from reviewbot.git.user_git import IndexChange, RefChange, UserGit
from reviewbot.git.work_tree import FileChange, Step, WorkTree
from reviewbot.git.write_journal import Journal, Transaction

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
        git = UserGit(root, git_directory, lock)
        await git.open()
        tree = WorkTree(root, git.object_format, step)
        journal = _journal(folder, git_directory)
        transaction = Transaction(journal, git, tree, step)
        recovered = await transaction.recover()
        git.clean()
        try:
            yield _Writer(git, tree, transaction, recovered, step)
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
        head, branch = await self._git.value("HEAD"), await self._git.branch()
        if committed:
            await self._check_branch(head, branch)
        now, modes = self._read(before)
        staged, tracked = await self._check_git(before, committed, head)
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
        made = (
            folder
            for file in files
            if file.after
            for folder in self._tree.missing_folders(file.path)
        )
        backup = Backup(
            git_directory=str(self._git.directory),
            head=head,
            branch=branch,
            commits=tuple(commits),
            files=tuple(files),
            index=tuple(change for change in index if change.before != change.after),
            folders=tuple(dict.fromkeys(made)),
        )
        id, kept = await self._new_id(), await self._keep(backup, entries)
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
        with suppress(GitError, WriteError):
            old_refs = (await self._backups())[MAX_BACKUPS:]
            await self._git.move(RefChange(name=ref, before=at, after="") for ref, at in old_refs)
        return Written(id=id, paths=tuple(file.path for file in files), commits=tuple(commits))

    async def undo(self, id: str) -> tuple[str, ...]:
        ref, commit, backup = await self._find_backup(id)
        if backup.commits:
            await self._check_last(backup)
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
        staged = await self._git.staged([change.path for change in backup.index])
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
            rest = await self._keep(less, {})
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
            make=tuple(
                dict.fromkeys(
                    folder
                    for path in new
                    if new[path]
                    for folder in self._tree.missing_folders(path)
                )
            ),
            remove=backup.folders[::-1],
        )
        await self._transaction.perform(journal, new, {})
        if left:
            raise WriteError(f"{sentence} and stays; taken back: {', '.join(taken)}", hint=hint)
        return tuple(taken)

    def _read(
        self, before: Mapping[str, bytes | None]
    ) -> tuple[dict[str, bytes | None], dict[str, int]]:
        """The files with their modes. Raises WriteError if one is not what was reviewed."""
        now: dict[str, bytes | None] = {}
        modes, reasons = {}, []
        for path, reviewed in before.items():
            here = self._tree.read(path)
            now[path], modes[path] = (here[0], stat.S_IMODE(here[1].st_mode)) if here else (None, 0)
            if reason := self._tree.obstacle(path):
                reasons.append((reason, "make it writable, or leave this fix out"))
            elif now[path] == reviewed:
                continue
            elif here is None or reviewed is None or here[0].replace(b"\r\n", b"\n") != reviewed:
                said = "was changed since the review" if reviewed is not None else "exists already"
                reasons.append((f"{path} {said}", REVIEW_HINT))
            elif here[0].count(b"\n") != here[0].count(b"\r\n"):
                reasons.append((f"{path} has mixed line endings", "make them all the same"))
        _refuse(reasons)
        return now, modes

    async def _check_git(
        self, before: Mapping[str, bytes | None], committed: frozenset[str], head: str
    ) -> tuple[dict[str, str], dict[str, str]]:
        """The entries of the index and of HEAD. Raises WriteError."""
        paths = list(before)
        self._git.copy_index()
        if await self._git("ls-files", "--unmerged"):
            hint = "resolve them and run git add first"
            raise WriteError("the index has unresolved conflicts", hint=hint)
        names = "".join(f"{path}\0" for path in paths).encode()
        answer = await self._git("check-attr", "-z", "--stdin", *CONVERTING, stdin=names)
        fields = iter(answer.split(b"\0"))
        by_hand = "apply this fix by hand"
        _refuse(
            (f"{decode_name(path)} has the attribute {name.decode()}", by_hand)
            for path, name, value in zip(fields, fields, fields, strict=False)
            if value not in (b"unspecified", b"unset")
        )
        staged, tags = await self._git.staged(paths), await self._git.tags(paths)
        tracked = await self._git.tracked(paths, head)
        sparse = await self._git.line("config", "--type=bool", "--get", "core.sparseCheckout")
        seen = await self._git.see(paths)
        reasons = []
        for path, reviewed in before.items():
            tag, entry, id = tags.get(path, ""), staged.get(path, ""), self._git.id(reviewed)
            if tag.upper() == "S" or (sparse == "true" and not entry):
                reason, hint = "is outside of the sparse checkout", "git sparse-checkout disable"
            elif tag.islower():
                reason = "is marked as unchanged"
                hint = f"git update-index --no-assume-unchanged {path}"
            elif entry and not entry.startswith("100"):
                reason, hint = "is not a regular file in the index", "leave this fix out"
            elif seen.get(path, "")[7:] != id:
                reason, hint = "was changed since the review", REVIEW_HINT
            elif path in committed and not entry[7:] == tracked.get(path, "")[7:] == id:
                reason, hint = (
                    "has uncommitted changes",
                    "commit them first, or do not use --commit",
                )
            else:
                continue
            reasons.append((f"{path} {reason}", hint))
        _refuse(reasons)
        return staged, tracked

    async def _check_branch(self, head: str, branch: str) -> None:
        """Raises WriteError if no commit can be made."""
        for name, what in UNDER_WAY.items():
            if (self._git.directory / name).exists():
                raise WriteError(f"{what} is in progress", hint="finish or abort it first")
        if not branch:
            raise WriteError("HEAD is detached", hint="git switch --create NAME")
        if not head:
            raise WriteError("there is no commit yet", hint="make the first commit")
        for who in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
            try:
                await self._git("var", who)
            except GitError as error:
                hint = "git config user.name NAME; git config user.email ADDRESS"
                raise WriteError("git does not know who commits", hint=hint) from error

    async def _check_last(self, backup: Backup) -> None:
        """Raises WriteError if commits are not the last ones of their branch, or published."""
        first, last = backup.commits[0], backup.commits[-1]
        hint = f"git revert --no-edit {first[:12]}^..{last[:12]}"
        branch, head = await self._git.branch(), await self._git.value("HEAD")
        if branch != backup.branch:
            name = backup.branch.removeprefix("refs/heads/")
            raise WriteError(f"the commits are on the branch {name}", hint=f"git switch {name}")
        await self._check_branch(head, branch)
        if head != last:
            raise WriteError("there are newer commits than those of the fixes", hint=hint)
        options = ("--count=1", "--format=%(refname:short)", f"--contains={first}")
        if remote := await self._git.line("for-each-ref", *options, "refs/remotes"):
            raise WriteError(f"the commits are pushed: {remote} has them", hint=hint)

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
            await self._git.put(
                {
                    path: f"{modes[path]} {self._git.id(content)}" if content is not None else ""
                    for path, content in write.files.items()
                },
                self._git.scratch,
            )
            tree = await self._git.line("write-tree", "--missing-ok", index=self._git.scratch)
            parent = await self._git.commit_tree(tree, [parent], write.message)
            commits.append(parent)
        return commits

    async def _keep(self, backup: Backup, modes: Mapping[str, str]) -> str:
        self._git.copy_index(self._git.scratch)
        parents = [backup.head] if backup.head else []
        tree = await self._git.line("write-tree", "--missing-ok", index=self._git.scratch)
        staged = await self._git.commit_tree(
            tree, parents, "reviewbot: the index before fixes\n", BOT
        )
        files = {
            file.path: f"{modes.get(file.path, '100644')} {file.before}" if file.before else ""
            for file in backup.files
        }
        await self._git.put(files, self._git.scratch)
        tree = await self._git.line("write-tree", "--missing-ok", index=self._git.scratch)
        text = msgspec.json.encode(backup).decode()
        message = f"reviewbot: {len(files)} files before fixes\n\n{text}\n"
        return await self._git.commit_tree(tree, [*parents, staged], message, BOT)

    async def _new_id(self) -> str:
        time = datetime.now(UTC)
        while await self._git.value(f"{BACKUPS}{time:%Y%m%d-%H%M%S}"):
            time += timedelta(seconds=1)
        return f"{time:%Y%m%d-%H%M%S}"

    async def _backups(self) -> list[tuple[str, str]]:
        """Refs and commits, the newest first."""
        format = "--format=%(refname) %(objectname)"
        lines = await self._git("for-each-ref", "--sort=-refname", format, BACKUPS)
        return [
            (ref, at)
            for ref, _, at in (line.partition(" ") for line in lines.decode().splitlines())
        ]

    async def _find_backup(self, id: str) -> tuple[str, str, Backup]:
        """The newest one of this work tree if the id is empty. Raises WriteError."""
        for ref, commit in await self._backups():
            if id and ref != f"{BACKUPS}{id}":
                continue
            text = (await self._git("cat-file", "commit", commit)).partition(b"\n\n")[2]
            try:
                backup = msgspec.json.decode(text.partition(b"\n\n")[2], type=Backup)
            except msgspec.MsgspecError as error:
                hint = f"git update-ref -d {ref} removes it"
                raise WriteError(f"{ref} is not a backup of reviewbot", hint=hint) from error
            if backup.git_directory == str(self._git.directory):
                return ref, commit, backup
            if id:
                hint = f"run this there: the git folder is {backup.git_directory}"
                raise WriteError(f"{id} was written into another work tree", hint=hint)
        what = f"there is no write {id}" if id else "there is nothing to take back"
        raise WriteError(what, hint=f"git for-each-ref {BACKUPS} lists what was written")


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


def _refuse(reasons: Iterable[tuple[str, str]]) -> None:
    """Raises WriteError if there is a reason, with what to do about the first one."""
    if found := list(reasons):
        more = f", and {len(found) - MAX_REASONS} more" if len(found) > MAX_REASONS else ""
        said = ", ".join(reason for reason, _ in found[:MAX_REASONS])
        raise WriteError(f"nothing is written: {said}{more}", hint=found[0][1])
