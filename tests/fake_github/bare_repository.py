"""The code of a repository: a real bare git repository, and what git says about it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Commits are dated one second after another from here, so that ids are the same in every run.
FIRST_DATE = 1_767_323_045
HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
DIFF = ("-c", "core.quotepath=false", "diff", "--no-color", "--no-ext-diff", "--no-textconv")
DIFF = (*DIFF, "-M", "--full-index")
CONFIG = {
    "uploadpack.allowAnySHA1InWant": "true",
    "uploadpack.allowFilter": "true",
    "gc.auto": "0",
    "maintenance.auto": "false",
}

Files = Mapping[str, str | bytes | None]


@dataclass(frozen=True)
class Hunk:
    """The lines of both sides that a hunk shows, and its text."""

    left: range
    right: range
    text: str

    def lines(self, side: str) -> range:
        return self.left if side == "LEFT" else self.right


@dataclass(frozen=True)
class ChangedFile:
    """`previous` is where a renamed file was. There are no hunks where git shows none."""

    path: str
    previous: str
    hunks: list[Hunk]


@dataclass
class BareRepository:
    """`path` is created where it does not exist."""

    path: Path
    commits: int = 0
    cache: dict[tuple[str, ...], Any] = field(default_factory=dict, repr=False)
    known: set[str] = field(default_factory=set, repr=False)

    def __post_init__(self) -> None:
        self.path.mkdir(parents=True)
        self.git("init", "-q", "--bare", "-b", "main", "--template=")
        sections = [f"[{k.split('.')[0]}]\n{k.split('.')[1]} = {v}\n" for k, v in CONFIG.items()]
        with (self.path / "config").open("a") as config:
            config.write("".join(sections))

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.path.parent),
            "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def run(self, *arguments: str, stdin: bytes = b"", check: bool = True) -> bytes:
        ended = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *arguments],
            cwd=self.path,
            env=self.environment,
            input=stdin,
            capture_output=True,
            check=False,
        )
        if check and ended.returncode:
            raise AssertionError(f"git {arguments} failed: {ended.stderr.decode(errors='replace')}")
        return ended.stdout

    def git(self, *arguments: str) -> str:
        return self.run(*arguments).decode("utf-8", "replace").rstrip("\n")

    def once(self, *arguments: str) -> str:
        """The output of a command that names objects by id, so that it never changes."""
        if arguments not in self.cache:
            output = self.run(*arguments, check=False).decode("utf-8", "replace")
            self.cache[arguments] = output.rstrip("\n")
        return str(self.cache[arguments])

    def sha(self, name: str) -> str | None:
        """The commit that a name stands for."""
        # Nearly every ref is a loose file, which is faster to read than to ask git for.
        if name.startswith("refs/") and ".." not in name and (self.path / name).is_file():
            return (self.path / name).read_text().strip()
        if name in self.known:
            return name
        command = ("rev-parse", "--verify", "-q", "--end-of-options", f"{name}^{{commit}}")
        sha = self.run(*command, check=False).decode().strip()
        self.known |= {sha} - {""}  # commits are never removed
        return sha or None

    def commit(
        self,
        branch: str,
        files: Files,
        message: str,
        *,
        author: str,
        parent: str | None,
        modes: Mapping[str, str],
    ) -> str:
        """Commit on a branch: write `files`, None deletes one, over `parent` or its tip."""
        self.commits += 1
        ref = f"refs/heads/{branch}"
        parent = parent or self.sha(ref)
        who = f"{author} <{author}@users.example.org> {FIRST_DATE + self.commits} +0000"
        header = f"commit {ref}\nauthor {who}\ncommitter {who}\n"
        stream = header.encode() + import_data(message.encode())
        stream += f"from {parent}\n".encode() if parent else b""
        for path, content in files.items():
            stream += import_file(path, content, modes.get(path, "100644"))
        self.run("fast-import", "--quiet", "--force", stdin=stream)
        sha = self.sha(ref)
        assert sha
        return sha

    def merge_base(self, one: str, other: str) -> str | None:
        return self.once("merge-base", one, other) or None

    def log(self, base: str | None, head: str) -> list[str]:
        """The commits of `head` that `base` does not have, oldest first."""
        without = [f"^{base}"] if base else []
        return self.once("rev-list", "--reverse", "--topo-order", head, *without).split()

    def message(self, sha: str) -> str:
        return self.once("show", "-s", "--format=%B", sha)

    def files(self, base: str, head: str) -> list[ChangedFile]:
        """The files of a diff between two commit ids, in git's order."""
        if ("files", base, head) not in self.cache:
            self.cache["files", base, head] = self._compare(base, head)
        return list(self.cache["files", base, head])

    def _compare(self, base: str, head: str) -> list[ChangedFile]:
        raw = self.run(*DIFF, "--name-status", "-z", base, head)
        text = self.run(*DIFF, base, head).decode("utf-8", "replace")
        patches = iter(re.split(r"^(?=diff --git )", text, flags=re.MULTILINE)[1:])
        files, words = [], iter(raw.decode("utf-8", "surrogateescape").split("\0"))
        for letter in filter(None, words):
            previous = next(words)
            path = next(words) if letter[0] in "RC" else previous
            patch = next(patches) + (next(patches) if letter == "T" else "")
            files.append(ChangedFile(path, previous, parse_hunks(patch)))
        return files

    def moves(self, path: str, old: str, new: str) -> list[Hunk]:
        """How the lines of one file changed between two commit ids, without context."""
        return parse_hunks(self.once(*DIFF, "-U0", old, new, "--", f":(literal){path}"))

    def entry(self, sha: str, path: str) -> tuple[str, str, str] | None:
        """Mode, kind and id of what a commit has at a path."""
        line = self.once("ls-tree", sha, "--", f":(literal){path}")
        mode, kind, oid = line.split("\t")[0].split() if line else ("", "", "")
        return (mode, kind, oid) if line else None


def parse_hunks(patch: str) -> list[Hunk]:
    headers = list(HUNK.finditer(patch))
    ends = [match.start() for match in headers[1:]] + [len(patch)]
    return [
        Hunk(
            range(int(m[1]), int(m[1]) + int(m[2] or "1")),
            range(int(m[3]), int(m[3]) + int(m[4] or "1")),
            patch[m.start() : end].rstrip("\n"),
        )
        for m, end in zip(headers, ends, strict=True)
    ]


def import_file(path: str, content: str | bytes | None, mode: str) -> bytes:
    """A file of a commit in the format of git fast-import."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    name = b'"' + escaped.encode("utf-8", "surrogateescape") + b'"'
    if content is None:
        return b"D " + name + b"\n"
    raw = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    return b"M %s inline %s\n%s" % (mode.encode(), name, import_data(raw))


def import_data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)
