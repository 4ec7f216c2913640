"""Write fixes into the user's work tree, all of them or none, and take them back.

Everything is written down in a journal before anything is changed. The refs come last, in one
transaction: if that has happened, what is missing is done, and else everything is taken back.

No symbolic link is followed and no file is overwritten. The new file is written beside the old one,
the old one is renamed and compared (somebody may have saved it a moment ago), and then the new one
gets the name by a hard link, which fails if somebody took it. Old files stay beside the new ones
until everything is written.

A backup is a commit with the files before: `git show refs/reviewbot/backup/ID:PATH` shows one. Only
commits change the index. No hook, no filter and no program that signs is run.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import stat
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from reviewbot.concurrency import to_the_end
from reviewbot.errors import GitError, ReviewbotError, WriteError
from reviewbot.git.place import Place
from reviewbot.git.process import Git, is_outside
from reviewbot.git.repository import Repository
from reviewbot.journal import write_file

BACKUPS = "refs/reviewbot/backup/"
MAX_BACKUPS = 20
LOCK_SECONDS = 10.0
REVIEW_HINT = "review it again"
# The id of a folder, a symbolic link or a device.
NO_FILE = "no regular file"
LEAVE_OUT = "leave this fix out"
RACE_HINT = "run it again when nothing else writes there"
SETTINGS = (
    *("-c", "core.fsync=all"),
    *("-c", "core.splitIndex=false"),
    *("-c", "index.sparse=false"),
    *("-c", "i18n.commitEncoding=UTF-8"),
    *("-c", "user.useConfigOnly=true"),  # else git makes up an address
)
# Name, old and new value of a ref; "" stands for none.
RefChange = tuple[str, str, str]
AUTHOR = {
    **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "reviewbot"),
    **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "reviewbot@localhost"),
}
# Files and folders of the git folder that are there while git does something.
IN_PROGRESS = (
    *("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG"),
    *("rebase-merge", "rebase-apply", "sequencer", "index.lock"),
)


class Write(Struct, frozen=True, kw_only=True):
    """A fix: what files shall be, by path; None removes one. With a message it becomes a commit."""

    files: Mapping[str, bytes | None]
    message: str = ""


class Written(Struct, frozen=True, kw_only=True):
    """What was written. The id names it to `undo`, and its backup below BACKUPS."""

    id: str
    paths: tuple[str, ...]
    commits: tuple[str, ...]


class FileChange(Struct, frozen=True):
    """A file of the work tree.

    Attributes:
        before, after: ids of its bytes as a blob; "" for no file.
        beside: the name, without its suffix, of files that are kept beside it meanwhile.
        mode: permissions if the file has to be made, those of the umask if 0.
    """

    path: str
    before: str
    after: str
    beside: str
    mode: int


class Journal(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A write, or its undo. The message of a backup holds that of the write, without the backup.

    Attributes:
        work_tree: its git folder.
        refs: that of the backup, and the branch if there are commits. It is done as soon as the
            first one has its new value.
        backup: a commit with the files before the write.
    """

    work_tree: str
    files: tuple[FileChange, ...]
    commits: tuple[str, ...]
    refs: tuple[RefChange, ...]
    backup: str = ""


async def recover(repository: Repository, folder: Path) -> str:
    """Complete or take back what a process that was killed left. Returns a sentence about it."""
    if not _journal_path(folder, await repository.place()).exists():
        return ""
    async with open_writer(repository, folder) as writer:
        return writer.recovered


@asynccontextmanager
async def open_writer(repository: Repository, folder: Path) -> AsyncIterator[Writer]:
    """Write into a work tree, alone and with nothing half written. The journal is in `folder`.

    Raises WriteError, and then nothing is changed, unless it says that the branch is moved.
    """
    place = await repository.place()
    journal = _journal_path(folder, place)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (place.git_directory / "reviewbot.lock").open("ab") as lock:
            async with asyncio.timeout(LOCK_SECONDS):
                while True:
                    with suppress(BlockingIOError):
                        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        break
                    await asyncio.sleep(0.02)
            environment = {
                **place.user,  # who commits is what the user's configuration says
                "GIT_DIR": str(place.git_directory),
                "GIT_WORK_TREE": str(place.root),
                "GIT_INDEX_FILE": str(place.git_directory / "index"),
                "GIT_LITERAL_PATHSPECS": "1",
            }
            git = UserGit(place.root, environment, SETTINGS, place=place, lock=lock)
            writer = Writer(git, WorkTree(place), journal)
            if journal.exists():
                decoded = msgspec.json.decode(journal.read_bytes(), type=Journal)
                is_done, notes = await writer.settle(decoded)
                what = "completed" if is_done else "taken back"
                writer.recovered = "; ".join([f"a write that was interrupted is {what}", *notes])
            yield writer
    except TimeoutError:
        message = "another reviewbot is writing into this work tree"
        raise WriteError(message, hint="run it again when that one is done") from None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        hint = f"see git status, and who may write there; the journal is {journal}"
        said = f"{error.strerror} ({error.filename})" if isinstance(error, OSError) else error
        raise WriteError(f"nothing is changed: {said}", hint=hint) from error


def _journal_path(folder: Path, place: Place) -> Path:
    name = hashlib.sha256(os.fsencode(place.git_directory)).hexdigest()[:16]
    return folder / f"writing-{name}.json"


class Writer(Struct):
    git: UserGit
    tree: WorkTree
    path: Path
    recovered: str = ""

    async def write(self, writes: Sequence[Write], reviewed: Mapping[str, bytes]) -> Written:
        """Write fixes into the work tree, one on top of the other; commit those with a message.

        A path that is missing in `reviewed` did not exist.
        """
        git, tree = self.git, self.tree
        after = {path: content for write in writes for path, content in write.files.items()}
        before = {path: reviewed.get(path) for path in after}
        committed = {path for write in writes if write.message for path in write.files}
        head, branch = await git.head()
        if committed:
            self.check_branch(head, branch)
        now = {path: tree.read(path) for path in before}
        listed = await git.names("ls-files", "-z", "-v", "--stage", "--", *before)
        lines = (line.partition("\t") for line in listed)
        entries = {path: about.split()[:3] for about, _, path in lines}  # tags, modes and ids
        changed = await git.changed_entries(head, committed) if committed else ()
        id = f"{datetime.now(UTC):%Y%m%d-%H%M%S-%f}"
        files, contents, modes = list[FileChange](), dict[str, bytes | None](), dict[str, str]()
        for path, old in before.items():
            (here, mode), blob = now[path], tree.blob_id(old)
            unknown = ["H", f"100{755 if mode & 0o100 else 644}", ""]
            tag, modes[path], entry = entries.get(path, unknown)
            if tag != "H":
                message = f"{path} has conflicts, or is marked skip-worktree or assume-unchanged"
                raise WriteError(message, hint=f"see git ls-files -v {path}, git update-index -h")
            if here != old:  # also where git converts line ends
                said = "exists already" if old is None else "is not what was reviewed"
                raise WriteError(f"{path} {said}", hint=f"{REVIEW_HINT}, or write it by hand")
            if path in changed or (path in committed and entry != blob):
                hint = "commit or stash them, or leave out --commit"
                raise WriteError(f"{path} has changes that are not committed", hint=hint)
            if after[path] != here:
                contents[path] = after[path]
                beside = f".reviewbot-{id}-{len(files)}"
                files.append(FileChange(path, blob, tree.blob_id(after[path]), beside, mode))
        if not files:
            raise WriteError("the fixes change nothing", hint=REVIEW_HINT)
        commits = [head]
        for write in (write for write in writes if write.message):
            new = {path: (modes[path], content) for path, content in write.files.items()}
            commits.append(await git.commit(commits[-1], new, write.message))
        journal = Journal(
            work_tree=str(git.place.git_directory),
            files=tuple(files),
            commits=tuple(commits[1:]),
            refs=((branch, head, commits[-1]),) if committed else (),
        )
        text = msgspec.json.encode(journal).decode()
        old_files = {path: (modes[path], before[path]) for path in contents}
        backup = await git.commit(head, old_files, f"Files before fixes\n\n{text}\n", AUTHOR)
        refs = ((f"{BACKUPS}{id}", "", backup), *journal.refs)
        await to_the_end(self._apply(replace(journal, backup=backup, refs=refs), contents))
        if stale := (await git.refs(BACKUPS))[MAX_BACKUPS:]:
            with suppress(WriteError):  # what was written is not less written if that fails
                await git.update_refs((ref, commit, "") for ref, commit in stale)
        return Written(id=id, paths=tuple(contents), commits=journal.commits)

    async def undo(self, id: str) -> tuple[str, ...]:
        """Take back what was written, by default the last. Returns the paths."""
        git, tree = self.git, self.tree
        for ref, commit in await git.refs(BACKUPS):
            message = await git("cat-file", "commit", commit)
            with suppress(msgspec.MsgspecError):  # made by another version, or by hand
                write = msgspec.json.decode(message.split(b"\n\n", 2)[-1], type=Journal)
                is_here = write.work_tree == str(git.place.git_directory)
                if is_here and id in ("", ref.removeprefix(BACKUPS)):
                    break
        else:
            said = f"there is no fix {id}" if id else "there is nothing to take back"
            raise WriteError(f"{said} in this work tree", hint=f"git for-each-ref {BACKUPS}")
        for branch, old, top in write.refs:
            now, current = await git.head()
            self.check_branch(now, current)
            if branch != current:
                name = branch.removeprefix("refs/heads/")
                raise WriteError(f"the commits are on the branch {name}", hint=f"git switch {name}")
            remotes = await git.refs("refs/remotes", f"--contains={write.commits[0]}")
            if remotes or top != now:
                what = f"{remotes[0][0]} has them" if remotes else "there are newer ones"
                hint = f"git revert --no-edit {old[:12]}..{top[:12]}"
                raise WriteError(f"the commits cannot be taken back: {what}", hint=hint)
        files, contents, changed = [], dict[str, bytes | None](), []
        for file in write.files:
            path, before, after = file.path, file.before, file.after
            if tree.blob_id(tree.read(path)[0]) != after:
                changed.append(path)
            contents[path] = await git("cat-file", "blob", before) if before else None
            files.append(replace(file, before=after, after=before))
        if changed:
            what = f"nothing is taken back: {', '.join(changed)} changed since the fix"
            raise WriteError(what, hint=f"git show {ref}:{changed[0]} shows how it was")
        refs = ((ref, commit, ""), *((name, new, old) for name, old, new in write.refs))
        back = replace(write, backup=commit, files=tuple(files), refs=refs)
        await to_the_end(self._apply(back, contents))
        return tuple(contents)

    def check_branch(self, head: str, branch: str) -> None:
        """Raises WriteError if commits can neither be added nor taken back."""
        folder = self.git.place.git_directory
        if found := [name for name in IN_PROGRESS if (folder / name).exists()]:
            message = f"another git command is in progress: there is .git/{found[0]}"
            raise WriteError(message, hint="see git status; finish or abort it")
        if not branch:
            raise WriteError("HEAD is detached", hint="git switch --create NAME")
        if not head:
            raise WriteError("there is no commit yet", hint="make the first commit")

    async def _apply(self, journal: Journal, contents: Mapping[str, bytes | None]) -> None:
        """Ctrl-C waits for the end, which takes less than a second."""
        error: OSError | ReviewbotError | None = None
        try:
            write_file(self.path, msgspec.json.encode(journal), is_durable=True)
            for file in journal.files:
                self.tree.replace(file, contents[file.path])
            for file in journal.files:
                if self.tree.blob_id(self.tree.read(file.path)[0]) != file.after:
                    raise WriteError(f"{file.path} was changed meanwhile", hint=RACE_HINT)
            await self.git.update_refs(journal.refs)
        except (OSError, ReviewbotError) as failure:
            error = failure
        is_done, notes = await self.settle(journal)
        if notes or not is_done:
            said = [] if is_done else [f"nothing is changed: {error}"]
            hint = getattr(error, "hint", None) or "see git status, then try again"
            raise WriteError("; ".join([*said, *notes]), hint=hint) from error

    async def settle(self, journal: Journal) -> tuple[bool, list[str]]:
        """Complete what the refs say is done, or else take it back. Returns which, and notes."""
        show = f"git show {journal.backup[:12]}:PATH shows how a file was"
        notes = []
        try:
            is_done = await self.git.find_commit(journal.refs[0][0]) == journal.refs[0][2]
            paths = [file.path for file in journal.files]
            for _, old, _ in journal.refs[1:] if is_done else ():
                try:  # set entries that are those of the commit before to those of HEAD
                    staged = await self.git.changed_entries(old, paths)
                    if kept := [path for path in paths if path not in staged]:
                        tree = ("ls-tree", "-r", "-z", "--full-tree", "HEAD", "--", *kept)
                        gone = _join(f"0 {'0' * len(old)}\t{path}" for path in kept)
                        entries = gone + await self.git(*tree)
                        words = ("update-index", "-z", "--index-info")
                        await self.git(*words, stdin=entries, stdout=self.git.lock)
                except GitError as error:
                    command = f"git reset --quiet -- {' '.join(paths)}"
                    notes.append(f"the branch is moved, but {error}: run {command}")
            left = [self.tree.settle(file, is_done=is_done) for file in journal.files]
            if any(left):
                notes += [*filter(None, left), show]
            self.path.unlink(missing_ok=True)
        except (OSError, ReviewbotError) as error:
            hint = f"{show}; run reviewbot fix again"
            raise WriteError(f"a write cannot be ended yet: {error}", hint=hint) from error
        return is_done, notes


class UserGit(Git, frozen=True, kw_only=True):
    """git in the repository of the user, with its configuration. It runs no hook and signs nothing.

    The programs that write hold the lock too, because they may outlive this process.
    """

    place: Place
    lock: BinaryIO

    async def find_commit(self, ref: str) -> str:
        return await self.line("rev-parse", "--verify", "--quiet", ref + "^{commit}")

    async def head(self) -> tuple[str, str]:
        """Its commit, and the ref of its branch, "" if it is detached."""
        branch = await self("symbolic-ref", "--quiet", "HEAD")
        return await self.find_commit("HEAD"), os.fsdecode(branch).removesuffix("\n")

    async def refs(self, prefix: str, *options: str) -> list[tuple[str, str]]:
        """Names and what they point to, the last name first."""
        command = ("for-each-ref", "--sort=-refname", "--format=%(refname) %(objectname)")
        words = os.fsdecode(await self(*command, *options, prefix)).split()
        return list(zip(words[::2], words[1::2], strict=True))

    async def commit(
        self,
        parent: str,
        files: Mapping[str, tuple[str, bytes | None]],
        message: str,
        who: Mapping[str, str] = {},
    ) -> str:
        """A commit that no ref names yet. `files` are modes and contents; None removes one."""
        index = {**self.environment, **who, "GIT_INDEX_FILE": str(self.place.private / "commit")}
        git = Git(self.directory, environment=index, options=self.options)
        await git.stage(parent or self.place.empty_tree, files)
        tree = await git.line("write-tree", "--missing-ok")
        parents = ("-p", parent) if parent else ()
        command = ("commit-tree", "--no-gpg-sign", *parents, "-F", "-", tree)
        return await git.line(*command, stdin=message.replace("\0", "").encode("utf-8", "replace"))

    async def changed_entries(self, commit: str, paths: Collection[str]) -> set[str]:
        """Paths whose entry in the index is not that of a commit."""
        command = ("diff-index", "--cached", "-z", "--name-only", commit, "--")
        return set(await self.names(*command, *paths))

    async def update_refs(self, refs: Iterable[RefChange]) -> None:
        """All of them or none. Raises WriteError."""
        zero = "0" * len(self.place.empty_tree)
        orders = _join(f"update {name}\0{new or zero}\0{old or zero}" for name, old, new in refs)
        try:
            words = ("update-ref", "-m", "reviewbot fix", "-z", "--stdin")
            await self(*words, stdin=orders, stdout=self.lock)
        except GitError as error:
            raise WriteError(f"a branch cannot be moved: {error}", hint=RACE_HINT) from error


class WorkTree(Struct, frozen=True):
    place: Place

    def blob_id(self, content: bytes | None) -> str:
        """The id that git gives to a blob, "" for None."""
        if content is None:
            return ""
        data = b"blob %d\0" % len(content) + content
        return hashlib.new(self.place.object_format, data, usedforsecurity=False).hexdigest()

    def read(self, path: str) -> tuple[bytes | None, int]:
        """Content and permissions; None and 0 for no file. Raises WriteError if it must stay."""
        file = self._file(path)
        status = _status(file)
        if status and not stat.S_ISREG(status.st_mode):
            raise WriteError(f"{path} is not a regular file", hint=LEAVE_OUT)
        if status and status.st_uid != os.geteuid():
            raise WriteError(f"{path} belongs to another user", hint=LEAVE_OUT)
        # Root may write everything, but a file without the bit was meant to stay.
        if not all(one.st_mode & stat.S_IWUSR for one in (_status(file.parent), status) if one):
            raise WriteError(f"{path} or its folder is read-only", hint="make it writable")
        return (file.read_bytes(), stat.S_IMODE(status.st_mode)) if status else (None, 0)

    def replace(self, change: FileChange, content: bytes | None) -> None:
        """Raises WriteError if the file is not what it was. Call `settle` in any case."""
        path, file = change.path, self._file(change.path, make=True)
        new, old = (file.with_name(f"{change.beside}.{end}") for end in ("new", "old"))
        if _status(old):
            raise WriteError(f"{old.name} is beside {path}", hint="read it, then remove it")
        if content is not None:
            status = _status(file)
            with new.open("xb") as written:
                written.write(content)
                written.flush()
                if mode := stat.S_IMODE(status.st_mode) if status else change.mode:
                    os.fchmod(written.fileno(), mode)
                os.fsync(written.fileno())
        if change.before:
            with suppress(FileNotFoundError):
                file.rename(old)
            if self._id(old) != change.before:
                raise WriteError(f"{path} was changed meanwhile", hint=RACE_HINT)
        if content is not None:
            try:  # unlike a rename, this fails if somebody saved a file of this name
                os.link(new, file, follow_symlinks=False)
            except FileExistsError:
                raise WriteError(f"{path} was saved meanwhile", hint=RACE_HINT) from None
            new.unlink()

    def settle(self, change: FileChange, *, is_done: bool) -> str:
        """Remove what is beside a file that changed, or make the file what it was.

        It may be called again if it was killed. Returns why it could not, "" if it could.
        """
        path, reason = change.path, ""
        try:
            file = self._file(path)
            file.with_name(f"{change.beside}.new").unlink(missing_ok=True)
            if not is_done:
                reason = self._take_back(file, change)
            old = file.with_name(f"{change.beside}.old")
            # A program that had it open may have written to it after it was compared.
            if self._id(old) not in ("", change.before):
                return f"{path} was saved meanwhile: another version is {old.name} beside it"
            old.unlink(missing_ok=True)
        except WriteError as error:
            return str(error)
        if not (change.after if is_done else change.before):
            with suppress(OSError):  # as git does, remove the folders that are empty now
                for folder in PurePosixPath(path).parents[:-1]:
                    (self.place.root / folder).rmdir()
        return reason

    def _take_back(self, file: Path, change: FileChange) -> str:
        path, after = change.path, change.after
        out, old = (file.with_name(f"{change.beside}.{end}") for end in ("out", "old"))
        # A process that was killed while it took the file back may have left "out".
        if after and self._id(file) == after and not _status(out):
            file.rename(out)
        if self._id(out) == after:
            out.unlink(missing_ok=True)
        elif not self._put_back(out, file):  # it was saved a moment before the rename
            return f"{path} was saved meanwhile: another version is {out.name} beside it"
        self._put_back(old, file)
        return "" if self._id(file) == change.before else f"{path} was changed meanwhile and stays"

    def _put_back(self, source: Path, file: Path) -> bool:
        """Give a file, if there is one, its name, unless another has it."""
        if not _status(source):
            return True
        try:
            os.link(source, file, follow_symlinks=False)
        except FileExistsError:
            if not self._id(source) == self._id(file) != NO_FILE:
                return False
        except OSError:  # a folder, or a file system without hard links
            source.rename(file)
        source.unlink(missing_ok=True)
        return True

    def _id(self, file: Path) -> str:
        if (status := _status(file)) is None:
            return ""
        return self.blob_id(file.read_bytes()) if stat.S_ISREG(status.st_mode) else NO_FILE

    def _file(self, path: str, *, make: bool = False) -> Path:
        """Where a file is, or would be. Raises WriteError if it is no part of the work tree."""
        if is_outside(path) or "\0" in path:
            raise WriteError(f"{path!r} is not the path of a file", hint=LEAVE_OUT)
        for name in reversed(PurePosixPath(path).parents[:-1]):
            folder = self.place.root / name
            if make and not _status(folder):
                folder.mkdir()
            if (status := _status(folder)) and not stat.S_ISDIR(status.st_mode):
                raise WriteError(f"{name} is a symbolic link, or no folder", hint=LEAVE_OUT)
            if _status(folder / ".git"):
                raise WriteError(f"{name} is a repository of its own", hint=LEAVE_OUT)
        return self.place.root / path


def _status(path: Path) -> os.stat_result | None:
    with suppress(FileNotFoundError):
        return path.lstat()
    return None


def _join(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\0" for line in lines).encode()
