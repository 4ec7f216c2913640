"""What stands where something shall be written, and whether that is what was reviewed. Nothing is changed here."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from reviewbot.adapters.git import snapshot
from reviewbot.adapters.git.place import Place
from reviewbot.adapters.git.writing.ground import Ground, Standing, is_safe
from reviewbot.adapters.git.writing.index import IndexCopy, Named
from reviewbot.adapters.git.writing.journal import Entry
from reviewbot.adapters.git.writing.store import Store
from reviewbot.domain.target import TargetKind
from reviewbot.errors import GitError, WriteError
from reviewbot.ports.writing import WritePlan

Complaint = tuple[str, str]
"""What stands in the way, and what to do about it."""

MOST_TOLD = 5
REGULAR = (0o100644, 0o100755)
UNCOMMITTED = (TargetKind.WORKTREE, TargetKind.STAGED)
_AGAIN = "review it again"
_BY_HAND = "write this fix by hand: `reviewbot fix --write-patch FILE`"
_UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "sequencer": "a cherry-pick or revert",
}
"""Refs and folders of the git folder, and what they say is under way."""
_UNSURE = ("filter", "working-tree-encoding")
"""Attributes by which the file in the work tree is made by a program, or from other bytes than the ones that were proven."""


class Form(Enum):
    """How the file in the work tree comes from what git keeps: the same bytes, or CR LF at the end of every line. ``OPEN``: it
    has no line by which to tell, or there is none; git decides."""

    SAME = "same"
    CRLF = "crlf"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Site:
    """One file: what was ``reviewed``, what the index has (``named``), what stands there and in which form (``None``: in none
    that can be told)."""

    path: str
    reviewed: Entry | None
    named: Entry | None
    standing: Standing | None
    form: Form | None


@dataclass(frozen=True, slots=True)
class Scene:
    """The repository as it stands: ``head`` is the commit at ``HEAD`` and ``branch`` the ref that it names, ``index`` a copy."""

    head: str | None
    branch: str | None
    index: IndexCopy
    sites: Mapping[str, Site]


def blob_id(content: bytes, like: str) -> str:
    """The id that these bytes have as a blob, in the algorithm of the id ``like``."""
    made = hashlib.new("sha1" if len(like) == 40 else "sha256", usedforsecurity=False)
    made.update(b"blob %d\0" % len(content))
    made.update(content)
    return made.hexdigest()


def survey(plan: WritePlan, store: Store, ground: Ground, *, index: IndexCopy, real_index: Path) -> Scene:
    """What stands at every path of the plan. Raises WriteError where something forbids to write there."""
    paths = tuple(dict.fromkeys(edit.path for step in plan.steps for edit in step.edits))
    expect((f"{path!r} is no path of a file in a work tree", _AGAIN) for path in paths if not is_safe(path))
    head, branch = store.value("HEAD"), store.branch()
    expect_resolved(index)
    if plan.commit:
        expect_branch(store.place, head, branch)
        store.expect_identity()
    if plan.commit or plan.kind is TargetKind.STAGED:
        expect_free(real_index)
    if head is not None and plan.kind not in UNCOMMITTED and store.tree(head) != plan.head_tree:
        raise WriteError("nothing was written: HEAD is not what was reviewed", hint=f"switch to what was reviewed, or {_AGAIN}")
    reviewed = _reviewed(plan, store, real_index, paths=paths)
    named = index.named(paths)
    expect(_hidden(paths, named, sparse=store.is_on("core.sparseCheckout")))
    expect(_converted(store.place, paths))
    sites = _sites(ground, paths, reviewed=reviewed, named=named)
    expect((obstacle, "make it writable, or leave this fix out") for path in paths if (obstacle := ground.obstacle(path)))
    seen = index.copied(store.scratch / "look").look(paths)
    committed = store.listed(head, paths) if plan.commit and head else None
    expect(one for site in sites.values() for one in _differences(site, plan.kind, seen=seen, committed=committed))
    return Scene(head, branch, index, sites)


def expect(complaints: Iterable[Complaint], what: str = "nothing was written") -> None:
    """Raises WriteError with the first complaints, if there are any."""
    found = list(complaints)
    if found:
        more = f", and {len(found) - MOST_TOLD} more" if len(found) > MOST_TOLD else ""
        raise WriteError(f"{what}: {', '.join(said for said, _ in found[:MOST_TOLD])}{more}", hint=found[0][1])


def expect_resolved(index: IndexCopy) -> None:
    """There is no conflict. Raises WriteError."""
    if index.conflicts():
        raise WriteError("the index has unresolved conflicts", hint="resolve them and `git add` the files first")


def expect_branch(place: Place, head: str | None, branch: str | None) -> None:
    """There is a branch to commit to, and nothing under way on it. Raises WriteError."""
    for name, what in _UNDER_WAY.items():
        named = name.endswith("_HEAD") and place.real.ask("rev-parse", "--verify", "--quiet", name).ok
        if named or (place.git_dir / name).exists():
            raise WriteError(f"{what} is in progress", hint="end or abort it first")
    if head is None:
        raise WriteError("there is no commit yet on this branch", hint="make the first one")
    if branch is None:
        raise WriteError("HEAD is on no branch", hint="go to one first: `git switch --create NAME`")


def expect_free(index: Path) -> None:
    """There is an index, and no other git is about to write it: `git commit --all` hands its hooks the very lock. Raises
    WriteError."""
    lock = index if index.suffix == ".lock" else Path(f"{index}.lock")
    if lock.exists():
        hint = f"wait for it; where none is running, remove {lock}"
        raise WriteError("another git is at work: the index is locked", hint=hint)
    if not index.is_file():
        raise WriteError("there is no index", hint="see what `git status` says")


def _reviewed(plan: WritePlan, store: Store, real_index: Path, *, paths: tuple[str, ...]) -> dict[str, Entry]:
    """What was reviewed. The tree of uncommitted work may have been made in a run that is over: then it is made again."""
    try:
        found = store.listed(plan.head_tree, paths)
    except GitError:
        if plan.kind not in UNCOMMITTED or _made_again(plan, store.place, real_index) != plan.head_tree:
            raise WriteError("nothing was written: something changed since the review", hint=_AGAIN) from None
        found = store.listed(plan.head_tree, paths)
    expect((f"{path} is no regular file", "leave this fix out") for path, one in found.items() if one.mode not in REGULAR)
    return found


def _made_again(plan: WritePlan, place: Place, real_index: Path) -> str:
    if plan.kind is TargetKind.STAGED:
        return snapshot.staged(place, real_index)
    return snapshot.worktree(place, real_index)[0]


def _hidden(paths: tuple[str, ...], named: Mapping[str, Named], *, sparse: bool) -> Iterator[Complaint]:
    """Files at which git does not look, or that are none to it."""
    for path in paths:
        one = named.get(path)
        if one is None:
            if sparse:
                yield f"{path} would be new in a sparse checkout", "`git sparse-checkout disable`, or leave this fix out"
        elif one.skipped:
            yield f"{path} is left out of this sparse checkout", "`git sparse-checkout disable`, or leave this fix out"
        elif one.assumed:
            yield f"{path} is marked as unchanged", f"`git update-index --no-assume-unchanged {path}`"
        elif one.entry.mode not in REGULAR:
            yield f"{path} is no regular file in the index", "leave this fix out"


def _converted(place: Place, paths: tuple[str, ...]) -> Iterator[Complaint]:
    """Files that a program makes from what git keeps, or that has to be written in another encoding."""
    lines = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)
    output = place.real.run("check-attr", "-z", "--stdin", *_UNSURE, stdin=lines)
    fields = iter(output.decode("utf-8", "surrogateescape").split("\0"))
    for path, attribute, value in zip(fields, fields, fields, strict=False):
        if value not in ("unspecified", "unset"):
            yield f"{path} has the attribute {attribute}={value}", _BY_HAND


def _sites(
    ground: Ground, paths: tuple[str, ...], *, reviewed: Mapping[str, Entry], named: Mapping[str, Named]
) -> dict[str, Site]:
    found: dict[str, Site] = {}
    for path in paths:
        standing, entry = ground.look(path), named.get(path)
        form = _form(standing, reviewed.get(path))
        found[path] = Site(path, reviewed.get(path), entry.entry if entry else None, standing, form)
    return found


def _form(standing: Standing | None, reviewed: Entry | None) -> Form | None:
    if standing is None or reviewed is None or not standing.content:
        return Form.OPEN
    content, wanted = standing.content, reviewed.object_id
    if blob_id(content, wanted) == wanted:
        return Form.SAME if b"\n" in content else Form.OPEN
    ends, bare = content.count(b"\r\n"), content.count(b"\n")
    return Form.CRLF if ends == bare and blob_id(content.replace(b"\r\n", b"\n"), wanted) == wanted else None


def _differences(
    site: Site, kind: TargetKind, *, seen: Mapping[str, Entry], committed: Mapping[str, Entry] | None
) -> Iterator[Complaint]:
    """The first way in which a file is not what was reviewed."""
    path, reviewed = site.path, site.reviewed
    if reviewed is None and site.standing is not None:
        yield f"{path} is there already, and was not reviewed", f"move it away, or {_AGAIN}"
    elif committed is not None and (committed.get(path) != reviewed or site.named != reviewed):
        yield f"{path} has changes that are not committed", "commit them first, or leave --commit out"
    elif kind is not TargetKind.WORKTREE and site.named != reviewed:
        yield f"{path} is not staged as it was reviewed", _AGAIN
    elif seen.get(path) != reviewed:
        if kind is TargetKind.WORKTREE:
            yield f"{path} is not as it was reviewed", _AGAIN
        else:
            yield f"{path} has unstaged changes", "stage them (`git add`) and review it again, or put them away (`git stash`)"
    elif site.form is None:
        yield f"{path} is converted in a way that cannot be repeated surely", _BY_HAND
