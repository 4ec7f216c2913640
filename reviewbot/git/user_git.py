"""git in the repository of the user, with the user's configuration: objects, refs and the index.

It runs no hook, no filter and no program that signs. The index is read and written as a copy, and
replaced as a whole under git's own lock.
"""

from __future__ import annotations

import os
import pwd
import shutil
import stat
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from reviewbot.errors import GitError, WriteError
from reviewbot.git.process import ENVIRONMENT, Git, decode_name
from reviewbot.git.work_tree import RACE_HINT, blob_id

SETTINGS = (
    "core.fileMode=false",  # the index keeps its modes; nobody here changes one
    "core.fsync=all",
    "core.splitIndex=false",
    "index.sparse=false",
    "i18n.commitEncoding=UTF-8",
    "user.useConfigOnly=true",  # else git makes up an address
)
NOBODY: Mapping[str, str] = {}
# These say with exit code 1 that there is none.
MAY_FIND_NONE = ("config", "rev-parse", "symbolic-ref")


# The lock is handed on to these, which may outlive this process.
PRINT_NOTHING = ("update-index", "update-ref")


class IndexChange(Struct, frozen=True, kw_only=True):
    """An entry of the index, as "100644 ID"; "" for none."""

    path: str
    before: str
    after: str


class RefChange(Struct, frozen=True, kw_only=True):
    """A ref. "" stands for none."""

    name: str
    before: str
    after: str


class UserGit:
    """Entries of the index are written as "100644 ID", and "" if there is none.

    Args:
        lock: a file that is locked while anything is written. The programs that write hold it too,
            because they may outlive this process.
    """

    def __init__(self, root: Path, git_directory: Path, lock: BinaryIO) -> None:
        self._root = root
        self._lock = lock
        self.directory = git_directory
        self.name = decode_name(os.fsencode(git_directory))
        self.index = git_directory / "index"
        self.copy = git_directory / "reviewbot.index"
        self.scratch = git_directory / "reviewbot.index.scratch"
        self.index_lock = git_directory / "index.lock"
        self._environment = ENVIRONMENT | {
            "GIT_DIR": str(git_directory),
            "GIT_WORK_TREE": str(root),
            "GIT_LITERAL_PATHSPECS": "1",
        }
        # Who commits and what git converts is what the user's configuration says.
        for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_ATTR_NOSYSTEM"):
            del self._environment[name]
        with suppress(KeyError):  # in a container, the user may have no entry
            self._environment["HOME"] = pwd.getpwuid(os.getuid()).pw_dir
        self._settings: tuple[str, ...] = SETTINGS

    async def open(self) -> None:
        # The last value is the one that Git sets.
        question = ("config", "--null", "--type=path", "--get-all", "core.attributesFile")
        values = (await self(*question)).split(b"\0")[:-2]
        home = self._environment.get("HOME", "")
        attributes = os.fsdecode(values[-1]) if values else f"{home}/.config/git/attributes"
        self._settings += (f"core.attributesFile={attributes}",)
        self.object_format = await self.line("rev-parse", "--show-object-format")

    def clean(self) -> None:
        for path in self.directory.glob("reviewbot.index*"):
            path.unlink()

    def id(self, content: bytes | None) -> str:
        return "" if content is None else blob_id(content, self.object_format)

    async def find_commit(self, ref: str) -> str:
        return await self.line("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")

    async def branch(self) -> str:
        """The ref that HEAD names, "" if it is detached."""
        return await self.line("symbolic-ref", "--quiet", "HEAD")

    async def line(self, *arguments: str, index: Path | None = None) -> str:
        return os.fsdecode(await self(*arguments, index=index)).removesuffix("\n")

    async def content(self, blob: str) -> bytes:
        return await self("cat-file", "blob", blob)

    async def head_entries(self, paths: Sequence[str], head: str) -> dict[str, str]:
        """Entries of HEAD by path, as "100644 ID"."""
        if not head:
            return {}
        lines = await self("ls-tree", "-z", "--full-tree", head, "--", *paths)
        parts = (line.partition(b"\t") for line in lines.split(b"\0")[:-1])
        return {
            decode_name(path): about.decode().replace(" blob ", " ") for about, _, path in parts
        }

    async def entries(self, paths: Sequence[str], index: Path | None = None) -> dict[str, str]:
        """Entries of the copy of the index by path, as "100644 ID"."""
        if not paths:  # git would list all
            return {}
        lines = await self("ls-files", "-z", "--stage", "--", *paths, index=index)
        parts = (line.partition(b"\t") for line in lines.split(b"\0")[:-1])
        entries = {decode_name(path): about.decode()[:-2] for about, _, path in parts}
        return {path: entries[path] for path in paths if path in entries}

    async def tags(self, paths: Sequence[str]) -> dict[str, str]:
        """Letters of git-ls-files(1): "S" is skip-worktree, a small one assume-unchanged."""
        lines = await self("ls-files", "-z", "-v", "--", *paths)
        return {decode_name(line[2:]): line[:1].decode() for line in lines.split(b"\0")[:-1]}

    async def stage(self, paths: Sequence[str]) -> dict[str, str]:
        """Entries as `git add` would make them, in the copy of the index."""
        names = "".join(f"{path}\0" for path in paths).encode()
        await self("update-index", "--add", "--remove", "-z", "--stdin", stdin=names)
        return await self.entries(paths)

    async def set_entries(self, entries: Mapping[str, str], index: Path) -> None:
        zero = f"0 {'0' * len(self.id(b''))}"
        lines = "".join(f"{entry or zero}\t{path}\0" for path, entry in entries.items()).encode()
        await self("update-index", "-z", "--index-info", stdin=lines, index=index)

    def copy_index(self, to: Path | None = None) -> bytes:
        """As old as the index, see `snapshot`. Returns its content."""
        to = to or self.copy
        to.unlink(missing_ok=True)
        with suppress(FileNotFoundError):
            shutil.copy2(self.index, to)
            return to.read_bytes()
        return b""

    async def lock_index(
        self, changes: Sequence[IndexChange], written: Collection[str] = ()
    ) -> None:
        """Make the index that shall be, and git's own lock of it.

        Args:
            written: paths of files that are what the entries say. git need not look at them again.
        """
        copied = self.copy_index()
        paths = [change.path for change in changes]
        staged = await self.entries(paths)
        if any(staged.get(change.path, "") != change.before for change in changes):
            raise WriteError("the index was changed meanwhile", hint=RACE_HINT)
        wanted = {change.path: change.after for change in changes}
        await self.set_entries(wanted, self.copy)
        seen = await self.stage([path for path in paths if path in written])
        if any(seen[path] != wanted[path] for path in seen):
            raise WriteError("the files were changed meanwhile", hint=RACE_HINT)
        self.copy.chmod(stat.S_IMODE(self.index.stat().st_mode))
        with self.copy.open("rb") as file:
            os.fsync(file.fileno())
        try:
            self.index_lock.hardlink_to(self.copy)
        except FileExistsError:
            hint = f"wait for it; if there is none, remove {self.index_lock}"
            raise WriteError("another git is at work: the index is locked", hint=hint) from None
        if self.index.read_bytes() != copied:
            self.index_lock.unlink()
            raise WriteError("the index was changed meanwhile", hint=RACE_HINT)

    def has_lock(self) -> bool:
        with suppress(FileNotFoundError):
            return self.index_lock.samefile(self.copy)
        return False

    async def write_tree(self) -> str:
        """The tree of the scratch index."""
        return await self.line("write-tree", "--missing-ok", index=self.scratch)

    async def commit_tree(
        self, tree: str, parents: Iterable[str], message: str, who: Mapping[str, str] = NOBODY
    ) -> str:
        words = [word for parent in parents for word in ("-p", parent)]
        text = message.replace("\0", "").encode("utf-8", "replace")
        command = ("commit-tree", "--no-gpg-sign", *words, "-F", "-", tree)
        return (await self(*command, stdin=text, environment=who)).decode("ascii").strip()

    async def update_refs(self, refs: Iterable[RefChange]) -> None:
        """All of them or none."""
        zero = "0" * len(self.id(b""))
        orders = "".join(
            f"update {ref.name}\0{ref.after or zero}\0{ref.before or zero}\0" for ref in refs
        ).encode()
        if not orders:
            return
        command = ("update-ref", "-m", "reviewbot fix", "-z", "--stdin")
        try:
            await self(*command, stdin=orders)
        except GitError as error:
            raise WriteError(f"a branch cannot be moved: {error}", hint=RACE_HINT) from error

    async def __call__(
        self,
        *arguments: str,
        stdin: bytes = b"",
        index: Path | None = None,
        environment: Mapping[str, str] = NOBODY,
    ) -> bytes:
        """Run git with a copy of the index. Exit code 1 says "none" for some commands."""
        variables = self._environment | {"GIT_INDEX_FILE": str(index or self.copy)}
        options = tuple(word for setting in self._settings for word in ("-c", setting))
        git = Git(self._root, environment={**variables, **environment}, options=options)
        exit_codes = (0, 1) if arguments[0] in MAY_FIND_NONE else (0,)
        stdout = self._lock if arguments[0] in PRINT_NOTHING else None
        return await git(*arguments, stdin=stdin, stdout=stdout, exit_codes=exit_codes)
