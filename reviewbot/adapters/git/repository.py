"""A repository with a work tree, read through git. Nothing that it names is run, and nothing of it is changed."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from reviewbot.adapters.git import grafting, search, snapshot
from reviewbot.adapters.git import place as places
from reviewbot.adapters.git.objects import ObjectStore
from reviewbot.adapters.git.place import Place
from reviewbot.domain.change import Revisions
from reviewbot.domain.target import Target, TargetKind
from reviewbot.errors import GitError, RepositoryError, RevisionError
from reviewbot.ports import Hit, RawDiff, TreeEntry

if TYPE_CHECKING:
    from reviewbot.domain.repair import Edit

_DIFF = (
    "diff-tree",
    "-r",
    "-z",
    "--raw",
    "--numstat",
    "--patch",
    "--no-abbrev",
    "--full-index",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--unified=3",
    "--find-renames",
    "--find-copies",
    "-l400",
    "--end-of-options",
)
_REMOTE = re.compile(r"(?:(?:https?|ssh|git)://[^/]+/|[^/:]+:(?!//))(?:.*/)?([^/:]+/[^/:]+?)(?:\.git)?/?")
_DEEPEN = "fetch more history: `git fetch --deepen=50`, or `fetch-depth: 0` in actions/checkout"


@dataclass(frozen=True, slots=True)
class _Commit:
    """The tree and the parents that a commit names, whether or not they are here."""

    tree: str
    parents: tuple[str, ...]


class GitRepo:
    """A repository with a work tree: the ports ``Repo``, ``Objects``, ``Search`` and ``Trees``.

    ``scratch`` is a folder of the caller's, outside of the repository: objects that are made on the way are kept there.
    """

    def __init__(self, place: Place, index: Path) -> None:
        self._place = place
        self._index = index
        self._objects = ObjectStore(place.bare)

    @classmethod
    def open(cls, directory: Path, scratch: Path, *, environment: Mapping[str, str], index: Path | None = None) -> Self:
        """The repository around ``directory``.

        Of ``environment`` only such names as ``PATH`` and ``HOME`` are used; a hook hands its ``GIT_INDEX_FILE`` as
        ``index``. Raises RepositoryError.
        """
        # Several repositories may share one scratch folder.
        own = Path(tempfile.mkdtemp(prefix="repository-", dir=scratch))
        place = places.find(directory.absolute(), own.absolute(), environment)
        return cls(place, place.index if index is None else place.toplevel / index)

    def close(self) -> None:
        """End the process that reads objects."""
        self._objects.close()

    @property
    def place(self) -> Place:
        """Where it is, for who writes into it."""
        return self._place

    @property
    def toplevel(self) -> Path:
        """The folder of the work tree."""
        return self._place.toplevel

    def resolve(self, target: Target) -> Revisions:
        """Find both ends. Raises RevisionError, RepositoryError."""
        match target.kind:
            case TargetKind.RANGE:
                base, head = self._revision(target.base or "HEAD"), self._revision(target.head or "HEAD")
                return self._between(target.kind, base, head)
            case TargetKind.MERGE_BASE:
                return self._since_fork(target.base or "HEAD", target.head or "HEAD")
            case TargetKind.COMMIT | TargetKind.ALL:
                commit = self._revision(target.head or target.base or "HEAD")
                return self._whole_tree(commit) if target.kind is TargetKind.ALL else self._against_parent(target.kind, commit)
            case TargetKind.STAGED:
                return self._uncommitted(target.kind, snapshot.staged(self._place, self._index))
            case TargetKind.WORKTREE:
                return self._worktree()
            case TargetKind.AUTO:
                return self._whatever_is_new()
            case TargetKind.PATCH:
                raise RepositoryError("a patch is read without a repository", hint="give it to `changeset.diff.read`")

    def diff(self, revisions: Revisions) -> RawDiff:
        """What differs between both ends; of a tree that is audited, all of it. Raises GitError."""
        if revisions.base_tree is None or revisions.head_tree is None:
            raise GitError("a change without trees cannot be compared")
        older = self._place.empty_tree if revisions.is_audit else revisions.base_tree
        return _split(self._place.bare.run(*_DIFF, older, revisions.head_tree))

    def blob(self, object_id: str) -> bytes:
        """A blob's bytes. Raises GitError where it is not there."""
        return self._objects.blob(object_id)

    def entries(self, tree: str) -> tuple[TreeEntry, ...]:
        """Every file below a tree."""
        return self._objects.entries(tree)

    def export(self, tree: str, into: Path) -> tuple[str, ...]:
        """Write a tree's files below ``into``. Returns notes of what was left out."""
        return self._objects.export(tree, into)

    def find(self, tree: str, words: tuple[str, ...], *, whole: bool, most: int) -> tuple[Hit, ...]:
        """Lines of a tree that hold any of ``words``. Raises GitError."""
        return search.find(self._place.bare, tree, words, whole=whole, most=most)

    def graft(self, tree: str, edits: tuple[Edit, ...]) -> str:
        """The tree with these files in it. Raises GitError."""
        return grafting.graft(self._place, tree, edits)

    def apply(self, tree: str, patch: bytes) -> str:
        """The tree with the patch in it, exactly. Raises PatchError."""
        return grafting.apply(self._place, tree, patch)

    def between(self, old: str, new: str) -> RawDiff:
        """What differs between two trees, without renames. Raises GitError."""
        return _split(grafting.between(self._place, old, new))

    def file_at(self, tree: str, path: str) -> bytes | None:
        """A regular file's bytes in a tree or commit, ``None`` where there is none. Symbolic links are not followed."""
        listing = self._place.bare.ask("ls-tree", "-z", "--full-tree", "--end-of-options", tree, "--", path)
        if not listing.ok or not listing.stdout:
            return None
        mode, kind, object_id = listing.stdout.partition(b"\t")[0].decode("ascii").split(" ")
        return self.blob(object_id) if kind == "blob" and mode != "120000" else None

    def is_private(self, path: str) -> bool:
        """A path below the top folder is ignored by git and not tracked."""
        ignored = self._place.real.ask("check-ignore", "--quiet", "--no-index", "--", path)
        tracked = self._place.real.ask("ls-files", "--error-unmatch", "--", path)
        return ignored.ok and not tracked.ok

    def head_config(self, path: str) -> bytes | None:
        """A file as it is committed at ``HEAD``, ``None`` where there is none: configuration for uncommitted work."""
        head = self._head()
        return None if head is None else self.file_at(head, path)

    def remote_name(self) -> str | None:
        """``owner/name`` of the remote ``origin``, as far as its address says one."""
        answer = self._place.real.ask("config", "--null", "--get", "remote.origin.url")
        found = _REMOTE.fullmatch(answer.text.rstrip("\0")) if answer.ok else None
        return found[1] if found else None

    def _revision(self, name: str) -> str:
        """The commit that ``name`` names, or else the tree."""
        if name.startswith("-") or "\0" in name or not name.strip():
            raise RevisionError(f"{name!r} is not the name of a revision", hint="see `git log --oneline`")
        for kind in ("commit", "tree"):
            answer = self._place.real.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{{kind}}}")
            if answer.ok:
                return answer.text.splitlines()[-1]
        if name == "HEAD":
            raise RevisionError("there is no commit yet", hint="commit something, or use --staged or --worktree")
        hint = _DEEPEN if self._place.shallow else "see `git log --oneline` and `git branch --all`"
        raise RevisionError(f"git knows no revision {name!r}", hint=hint)

    def _head(self) -> str | None:
        answer = self._place.real.ask("rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD^{commit}")
        return answer.text if answer.ok else None

    def _commit(self, object_id: str) -> _Commit | None:
        """What a commit names, ``None`` where there is no such commit here."""
        answer = self._place.bare.ask("cat-file", "commit", object_id)
        if not answer.ok:
            return None
        header = answer.stdout.split(b"\n\n", 1)[0].decode("utf-8", "replace")
        named = [line.split(" ") for line in header.split("\n")]
        return _Commit(named[0][1], tuple(words[1] for words in named if words[0] == "parent"))

    def _tree(self, object_id: str) -> str:
        commit = self._commit(object_id)
        return object_id if commit is None else commit.tree

    def _between(self, kind: TargetKind, base: str, head: str) -> Revisions:
        return Revisions(kind.value, base, head, self._tree(base), self._tree(head))

    def _whole_tree(self, head: str) -> Revisions:
        tree = self._tree(head)
        return Revisions(TargetKind.ALL.value, self._place.empty_tree, head, tree, tree)

    def _since_fork(self, base: str, head: str) -> Revisions:
        one, other = self._revision(base), self._revision(head)
        answer = self._place.real.ask("merge-base", "--", one, other)
        if not answer.ok:
            hint = _DEEPEN if self._place.shallow else f"compare them directly: {base}..{head}"
            raise RevisionError(f"{base} and {head} have no commit in common", hint=hint)
        return self._between(TargetKind.MERGE_BASE, answer.text.splitlines()[0], other)

    def _against_parent(self, kind: TargetKind, object_id: str) -> Revisions:
        commit = self._commit(object_id)
        if commit is None:
            raise RevisionError(f"{object_id} is not a commit", hint="name two ends, as in A..B")
        if not commit.parents:
            empty = self._place.empty_tree
            notes: tuple[str, ...] = ("the first commit is compared with nothing",)
            return Revisions(kind.value, empty, object_id, empty, commit.tree, notes)
        parent = self._commit(commit.parents[0])
        if parent is None:
            raise RevisionError(f"the parent of {object_id[:12]} is not here: the clone is shallow", hint=_DEEPEN)
        notes = ("a merge is compared with its first parent",) if len(commit.parents) > 1 else ()
        return Revisions(kind.value, commit.parents[0], object_id, parent.tree, commit.tree, notes)

    def _worktree(self) -> Revisions:
        tree, notes = snapshot.worktree(self._place, self._index)
        return self._uncommitted(TargetKind.WORKTREE, tree, notes=notes)

    def _uncommitted(self, kind: TargetKind, tree: str, *, notes: tuple[str, ...] = ()) -> Revisions:
        base = self._head() or self._place.empty_tree
        shown = "index" if kind is TargetKind.STAGED else "worktree"
        return Revisions(kind.value, base, shown, self._tree(base), tree, notes)

    def _whatever_is_new(self) -> Revisions:
        revisions = self._worktree()
        if revisions.base_tree != revisions.head_tree:
            return revisions
        head = self._head()
        if head is None:
            raise RevisionError("there is nothing to review: no commit yet and no file", hint="write something first")
        return self._against_parent(TargetKind.COMMIT, head)


def _split(output: bytes) -> RawDiff:
    """The parts of ``--raw --numstat --patch -z``: records that begin with a colon, records that do not, a NUL, text."""
    at = 0
    while output[at : at + 1] == b":":
        letter = output.rindex(b" ", at, output.index(b"\0", at)) + 1
        paths = 2 if output[letter : letter + 1] in (b"R", b"C") else 1
        at = _after(output, at, fields=1 + paths)
    start = at
    while output[at : at + 1] not in (b"", b"\0"):
        end = output.index(b"\0", at)
        at = _after(output, at, fields=3 if output[end - 1 : end] == b"\t" else 1)
    return RawDiff(output[:start], output[start:at], output[at + 1 :])


def _after(output: bytes, at: int, *, fields: int) -> int:
    """The index behind so many fields that end with a NUL."""
    for _ in range(fields):
        at = output.index(b"\0", at) + 1
    return at
