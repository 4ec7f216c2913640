"""git in the repository of the user, with the user's configuration.

It runs no hook and no program that signs. `stage` would run a filter: ask `attributes` first.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

from reviewbot.errors import GitError, WriteError
from reviewbot.git.place import Place
from reviewbot.git.process import Git, decode_name, user_environment
from reviewbot.git.work_tree import RACE_HINT

SETTINGS = (
    *("-c", "core.fsync=all"),
    *("-c", "core.splitIndex=false"),
    *("-c", "index.sparse=false"),
    *("-c", "i18n.commitEncoding=UTF-8"),
    *("-c", "user.useConfigOnly=true"),  # else git makes up an address
)
# Name, old and new value of a ref; "" stands for none.
RefChange = tuple[str, str, str]
# These say with exit code 1 that there is none.
MAY_FIND_NONE = ("config", "rev-parse", "symbolic-ref")
PRINT_NOTHING = ("update-index", "update-ref")


class UserGit:
    """Calling it runs a command and returns what it prints.

    The programs that write hold the lock too, because they may outlive this process.
    """

    def __init__(self, place: Place, scratch: Path, lock: BinaryIO) -> None:
        self._root = place.root
        self._lock = lock
        self.zero = "0" * len(place.empty_tree)
        self.directory = place.git_directory
        self._scratch = scratch / "index"
        # Who commits and what git converts is what the user's configuration says.
        self._environment = user_environment() | {
            "GIT_DIR": str(place.git_directory),
            "GIT_WORK_TREE": str(place.root),
            "GIT_LITERAL_PATHSPECS": "1",
        }
        del self._environment["GIT_ATTR_NOSYSTEM"]

    async def line(self, *arguments: str) -> str:
        return os.fsdecode(await self(*arguments)).removesuffix("\n")

    async def find_commit(self, ref: str) -> str:
        return await self.line("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")

    async def head(self) -> tuple[str, str]:
        """Its commit, and the ref of its branch, "" if it is detached."""
        return await self.find_commit("HEAD"), await self.line("symbolic-ref", "--quiet", "HEAD")

    async def refs(self, prefix: str, *options: str) -> list[tuple[str, str]]:
        """Names and what they point to, the last name first."""
        command = ("for-each-ref", "--sort=-refname", "--format=%(refname) %(objectname)")
        words = (await self.line(*command, *options, prefix)).split()
        return list(zip(words[::2], words[1::2], strict=True))

    async def entries(
        self, paths: Collection[str], index: Path | None = None
    ) -> dict[str, tuple[str, str, str]]:
        """Tags of git-ls-files(1), modes and ids of entries of the index."""
        lines = await self("ls-files", "-z", "-v", "--stage", "--", *paths, index=index)
        entries = {}
        for about, _, path in (line.partition("\t") for line in _split(lines)):
            tag, mode, id, _ = about.split()
            entries[path] = tag, mode, id
        return entries

    async def attributes(self, paths: Iterable[str], names: Iterable[str]) -> list[tuple[str, str]]:
        """Paths and names of attributes that are set for them."""
        command = ("check-attr", "-z", "--stdin", *names)
        fields = iter(_split(await self(*command, stdin=_join(paths))))
        found = zip(fields, fields, fields, strict=True)
        return [(path, name) for path, name, at in found if at not in ("unspecified", "unset")]

    async def stage(self, paths: Collection[str]) -> dict[str, str]:
        """Ids of the blobs that `git add` would make of files. The index stays as it is."""
        head = await self.find_commit("HEAD")
        await self("read-tree", head or "--empty", index=self._scratch)
        command = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
        await self(*command, stdin=_join(paths), index=self._scratch)
        entries = await self.entries(paths, self._scratch)
        return {path: id for path, (_, _, id) in entries.items()}

    async def commit(
        self,
        parent: str,
        files: Mapping[str, tuple[str, bytes | None]],
        message: str,
        who: Mapping[str, str] = {},
    ) -> str:
        """A commit that no ref names yet. `files` are modes and contents; None removes one."""
        entries = {path: f"0 {self.zero}" for path in files}
        for path, (mode, content) in files.items():
            if content is not None:
                blob = await self("hash-object", "-w", "--stdin", stdin=content)
                entries[path] = f"{mode} {blob.decode().strip()}"
        lines = _join(f"{entry}\t{path}" for path, entry in entries.items())
        await self("read-tree", parent or "--empty", index=self._scratch)
        await self("update-index", "-z", "--index-info", stdin=lines, index=self._scratch)
        tree = (await self("write-tree", "--missing-ok", index=self._scratch)).decode().strip()
        parents = ("-p", parent) if parent else ()
        text = message.replace("\0", "").encode("utf-8", "replace")
        command = ("commit-tree", "--no-gpg-sign", *parents, "-F", "-", tree)
        return (await self(*command, stdin=text, environment=who)).decode().strip()

    async def changed_entries(self, commit: str, paths: Collection[str]) -> set[str]:
        """Paths whose entry in the index is not that of a commit."""
        command = ("diff-index", "--cached", "-z", "--name-only", commit, "--")
        return set(_split(await self(*command, *paths)))

    async def reset_entries(self, paths: Collection[str], before: str) -> None:
        """Set entries that are those of the commit `before` to those of HEAD."""
        staged = await self.changed_entries(before, paths)
        if kept := [path for path in paths if path not in staged]:
            gone = _join(f"0 {self.zero}\t{path}" for path in kept)
            entries = await self("ls-tree", "-r", "-z", "--full-tree", "HEAD", "--", *kept)
            await self("update-index", "-z", "--index-info", stdin=gone + entries)

    async def update_refs(self, refs: Iterable[RefChange]) -> None:
        """All of them or none. Raises WriteError."""
        orders = _join(
            f"update {name}\0{new or self.zero}\0{old or self.zero}" for name, old, new in refs
        )
        try:
            await self("update-ref", "-m", "reviewbot fix", "-z", "--stdin", stdin=orders)
        except GitError as error:
            raise WriteError(f"a branch cannot be moved: {error}", hint=RACE_HINT) from error

    async def __call__(
        self,
        *arguments: str,
        stdin: bytes = b"",
        index: Path | None = None,
        environment: Mapping[str, str] = {},
    ) -> bytes:
        """Run git. Exit code 1 says "none" for some commands."""
        variables = {"GIT_INDEX_FILE": str(index or self.directory / "index"), **environment}
        git = Git(self._root, environment=self._environment | variables, options=SETTINGS)
        exit_codes = (0, 1) if arguments[0] in MAY_FIND_NONE else (0,)
        stdout = self._lock if arguments[0] in PRINT_NOTHING else None
        return await git(*arguments, stdin=stdin, stdout=stdout, exit_codes=exit_codes)


def _join(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\0" for line in lines).encode()


def _split(output: bytes) -> list[str]:
    return decode_name(output).split("\0")[:-1]
