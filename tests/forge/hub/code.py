"""The code of a repository: a real bare git repository, and what git says about it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: What commits begin to be dated with, in seconds: each is one later, so that the ids are the same in every run.
EPOCH = 1_767_323_045
HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
STATUS = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "C": "copied", "T": "changed"}
#: As git finds renames for GitHub, deaf to the configuration of the machine.
DIFF = ("-c", "core.quotepath=false", "diff", "--no-color", "--no-ext-diff", "--no-textconv", "-M", "--full-index")


@dataclass(frozen=True)
class Hunk:
    """Lines of both sides that a hunk shows, ``range`` half open, and its text."""

    left: range
    right: range
    text: str

    def lines(self, side: str) -> range:
        return self.left if side == "LEFT" else self.right


@dataclass(frozen=True)
class ChangedFile:
    """A file of a diff. ``patch`` begins at its first ``@@``, empty where git shows none."""

    path: str
    previous: str | None
    status: str
    blob: str
    patch: str
    header: str

    @property
    def additions(self) -> int:
        return sum(line.startswith("+") for line in self.patch.split("\n"))

    @property
    def deletions(self) -> int:
        return sum(line.startswith("-") for line in self.patch.split("\n"))

    @property
    def hunks(self) -> tuple[Hunk, ...]:
        found = list(HUNK.finditer(self.patch))
        ends = [match.start() for match in found[1:]] + [len(self.patch)]
        return tuple(
            Hunk(
                range(int(m[1]), int(m[1]) + int(m[2] or "1")),
                range(int(m[3]), int(m[3]) + int(m[4] or "1")),
                self.patch[m.start() : end].rstrip("\n"),
            )
            for m, end in zip(found, ends, strict=True)
        )


@dataclass
class Code:
    """``path`` is a bare repository, made where there is none."""

    path: Path
    commits: int = 0
    known: dict[tuple[str | None, ...], Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.path.exists():
            return
        self.path.mkdir(parents=True)
        self.git("init", "-q", "--bare", "-b", "main")
        for name, value in (
            ("uploadpack.allowAnySHA1InWant", "true"),
            ("uploadpack.allowFilter", "true"),
            ("http.receivepack", "true"),
            ("gc.auto", "0"),
            ("maintenance.auto", "false"),
            ("receive.denyDeletes", "false"),
        ):
            self.git("config", name, value)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.path.parent),
            "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def once(self, *args: str) -> str:
        """What git says about objects named by their ids: it never changes."""
        if args not in self.known:
            self.known[args] = self.run(*args, check=False).decode("utf-8", "replace").rstrip("\n")
        return str(self.known[args])

    def run(self, *args: str, stdin: bytes = b"", check: bool = True) -> bytes:
        command = ["git", "-c", "protocol.file.allow=always", *args]
        done = subprocess.run(command, cwd=self.path, env=self.environment, input=stdin, capture_output=True, check=False)
        if check and done.returncode:
            raise AssertionError(f"git {args!r} failed: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def git(self, *args: str) -> str:
        return self.run(*args).decode("utf-8", "replace").rstrip("\n")

    def sha(self, name: str) -> str | None:
        """The commit a name stands for. A ref that lies loose, as all do here but after a push with many, is read from its file."""
        if name.startswith("refs/") and ".." not in name and (self.path / name).is_file():
            return (self.path / name).read_text().strip()
        return (
            self.run("rev-parse", "--verify", "-q", "--end-of-options", f"{name}^{{commit}}", check=False).decode().strip()
            or None
        )

    def kind(self, sha: str) -> str | None:
        return self.run("cat-file", "-t", sha, check=False).decode().strip() or None

    def commit(
        self,
        branch: str,
        files: Mapping[str, str | bytes | None],
        message: str,
        *,
        author: tuple[str, str],
        committer: tuple[str, str] | None = None,
        parent: str | None = None,
        modes: Mapping[str, str] | None = None,
    ) -> str:
        """Commit on a branch: the files written (``None`` deletes), the rest as in ``parent`` (else the branch's tip). ``modes``
        of files that are no plain ones, by path; a link's content is where it leads, a submodule's its commit."""
        self.commits += 1
        ref = f"refs/heads/{branch}"
        parent = parent or self.sha(ref)
        when = f"{EPOCH + self.commits} +0000"
        name, address = committer or author
        out = [f"commit {ref}\n", f"author {author[0]} <{author[1]}> {when}\n", f"committer {name} <{address}> {when}\n"]
        stream = "".join(out).encode() + data(message.encode())
        stream += f"from {parent}\n".encode() if parent else b""
        for path, content in files.items():
            stream += written(path, content, (modes or {}).get(path, "100644"))
        self.run("fast-import", "--quiet", "--force", stdin=stream)
        made = self.sha(ref)
        assert made
        return made

    def merge_base(self, one: str, other: str) -> str | None:
        return self.once("merge-base", one, other) or None

    def log(self, base: str | None, head: str) -> list[str]:
        """The commits of ``head`` that ``base`` has not, the oldest first."""
        return self.once("rev-list", "--reverse", "--topo-order", head, *([f"^{base}"] if base else [])).split()

    def told(self, sha: str) -> dict[str, str]:
        """A commit's tree, parents, people, dates and message."""
        keys = ("tree", "parents", "author", "email", "date", "committer", "committer_email", "committed", "message")
        text = self.once("show", "-s", "--format=%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B", sha)
        return dict(zip(keys, text.rstrip("\n").split("\0"), strict=True))

    def diff(self, base: str, head: str) -> str:
        """The unified diff, as GitHub's ``diff`` media type has it."""
        return self.run(*DIFF, base, head).decode("utf-8", "replace")

    def files(self, base: str, head: str) -> list[ChangedFile]:
        """The files of a diff in git's order, of two commits named by their ids."""
        if ("files", base, head) not in self.known:
            self.known["files", base, head] = self.compared(base, head)
        return list(self.known["files", base, head])

    def compared(self, base: str, head: str) -> list[ChangedFile]:
        raw = self.run(*DIFF, "--raw", "--no-abbrev", "-z", base, head).decode("utf-8", "surrogateescape").split("\0")
        patches = re.split(r"^(?=diff --git )", self.diff(base, head), flags=re.MULTILINE)[1:]
        found, at = [], 0
        words = iter(raw)
        for word in words:
            if not word.startswith(":"):
                continue
            *_, blob, letter = word.split()
            previous = next(words)
            path = next(words) if letter[0] in "RC" else previous
            pieces = patches[at : at + (2 if letter[0] == "T" else 1)]
            at += len(pieces)
            text = "".join(pieces)
            start = HUNK.search(text)
            patch = text[start.start() :].rstrip("\n") if start else ""
            header = text[: start.start()] if start else text
            found.append(ChangedFile(path, previous if path != previous else None, STATUS[letter[0]], blob, patch, header))
        return found

    def moved(self, path: str, *, old: str, new: str) -> list[Hunk]:
        """How the lines of one file changed between two commits, without context."""
        text = self.once(*DIFF, "-U0", old, new, "--", path)
        start = HUNK.search(text)
        return list(ChangedFile(path, None, "modified", "", text[start.start() :], "").hunks) if start else []

    def blob(self, sha: str, path: str) -> bytes | None:
        """The bytes of a file at a commit."""
        if self.kind(f"{sha}:{path}") != "blob":
            return None
        return self.run("cat-file", "blob", f"{sha}:{path}")

    def entry(self, sha: str, path: str) -> tuple[str, str, str] | None:
        """Mode, kind and id of what a commit has at a path."""
        line = self.once("ls-tree", sha, "--", f":(literal){path}") if path.strip("/") == path and path else ""
        return tuple(line.split("\t")[0].split()) if line else None  # type: ignore[return-value]

    def tree(self, name: str, *, recursive: bool = False) -> list[tuple[str, str, str, str]]:
        """The entries of a tree: mode, kind, id, path."""
        lines = (
            self.run("ls-tree", "-z", *(["-r", "-t"] if recursive else []), name).decode("utf-8", "surrogateescape").split("\0")
        )
        return [(*line.split("\t")[0].split(), line.split("\t", 1)[1]) for line in lines if line]  # type: ignore[misc]


def written(path: str, content: str | bytes | None, mode: str) -> bytes:
    """A file of a commit, as ``git fast-import`` reads it."""
    if content is None:
        return b"D " + quoted(path) + b"\n"
    raw = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    if mode == "160000":
        return b"M 160000 %s %s\n" % (raw, quoted(path))
    return b"M %s inline %s\n%s" % (mode.encode(), quoted(path), data(raw))


def data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def quoted(path: str) -> bytes:
    """A path as ``git fast-import`` reads it."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return b'"' + escaped.encode("utf-8", "surrogateescape") + b'"'
