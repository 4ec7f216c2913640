"""What will be written, made out before anything is: bytes, commits, the backup, the journal."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reviewbot.adapters.git.writing import backup as backups
from reviewbot.adapters.git.writing.backup import Backup
from reviewbot.adapters.git.writing.carry import Change
from reviewbot.adapters.git.writing.ground import Ground, Shape, Standing
from reviewbot.adapters.git.writing.journal import Entry, Journal, Move, RefMove, Slot, Stood
from reviewbot.adapters.git.writing.standing import REGULAR, Form, Scene, Site, blob_id
from reviewbot.adapters.git.writing.store import Store
from reviewbot.domain.target import TargetKind
from reviewbot.ports.writing import WritePlan


@dataclass(frozen=True, slots=True)
class Prepared:
    """A change that is ready, ``None`` where there is nothing to do, and the commits with the subjects that they are for."""

    change: Change | None
    commits: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def prepared(plan: WritePlan, scene: Scene, store: Store, *, ground: Ground) -> Prepared:
    """The plan, made out. New objects are in the repository then, and nobody knows of them."""
    ids = store.blobs(_contents(plan, scene))
    commits, notes = _commits(plan, scene, store, ids=ids) if plan.commit else ((), ())
    last = {edit.path: edit.content for step in plan.steps for edit in step.edits}
    entries = {path: _entry(scene.sites[path], content, ids) for path, content in last.items()}
    paths = sorted(path for path, entry in entries.items() if entry != scene.sites[path].reviewed)
    if not paths and not commits:
        return Prepared(None, (), notes)
    shapes = tuple(_shape(scene.sites[path], last[path], entries[path], store=store) for path in paths)
    old = tuple(scene.sites[path].standing for path in paths)
    like = store.place.empty_tree
    moves = tuple(move(path, one, shape, like=like) for path, one, shape in zip(paths, old, shapes, strict=True))
    staged = plan.commit or plan.kind is TargetKind.STAGED
    slots = tuple(Slot(path, scene.sites[path].named, entries[path]) for path in paths) if staged else ()
    folders = tuple(dict.fromkeys(folder for path in paths if entries[path] for folder in ground.missing_folders(path)))
    made = tuple(commit for _, commit in commits)
    backup = Backup(backups.where(store), scene.head, scene.branch, moves, slots, folders, made)
    journal = Journal(
        name=secrets.token_hex(8),
        head=scene.head,
        moves=moves,
        folders=folders,
        slots=slots,
        opening=backups.keep(store, scene.index, backup),
        closing=(RefMove(scene.branch, scene.head, made[-1]),) if made and scene.branch else (),
    )
    sure = {path: entries[path] for path in paths}
    return Prepared(Change(journal, old, shapes, sure), commits, notes)


def move(path: str, standing: Standing | None, shape: Shape | None, *, like: str) -> Move:
    """What becomes of a file; ids are of the algorithm of ``like``."""
    before = None
    if standing is not None:
        numbers = (standing.mode, standing.mtime_ns, standing.uid, standing.gid)
        before = Stood(blob_id(standing.content, like), *numbers)
    return Move(path, before, None if shape is None else blob_id(shape.content, like))


def _commits(
    plan: WritePlan, scene: Scene, store: Store, *, ids: Mapping[bytes, str]
) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """One commit for each step that changes something, each on the one before."""
    assert scene.head is not None
    parent, tree = scene.head, store.tree(scene.head)
    made: list[tuple[str, str]] = []
    notes: list[str] = []
    steps = ({edit.path: _entry(scene.sites[edit.path], edit.content, ids) for edit in step.edits} for step in plan.steps)
    for step, grown in zip(plan.steps, store.grow(tree, steps), strict=True):
        if grown == tree:
            notes.append(f"{step.subject}: nothing was left to change, and there is no commit for it")
            continue
        parent, tree = store.commit(grown, [parent], step.message), grown
        made.append((step.subject, parent))
    if made and store.is_on("commit.gpgSign"):
        again = f"git rebase --force-rebase --gpg-sign HEAD~{len(made)}"
        notes.append(f"the commits are not signed, though commit.gpgSign is on; `{again}` signs them")
    return tuple(made), tuple(notes)


def _contents(plan: WritePlan, scene: Scene) -> Iterator[bytes]:
    """All bytes that the commits and the backup name."""
    for step in plan.steps:
        yield from (edit.content for edit in step.edits if edit.content is not None)
    yield from (site.standing.content for site in scene.sites.values() if site.standing)


def _entry(site: Site, content: bytes | None, ids: Mapping[bytes, str]) -> Entry | None:
    if content is None:
        return None
    return Entry(site.reviewed.mode if site.reviewed else REGULAR[0], ids[content])


def _shape(site: Site, content: bytes | None, entry: Entry | None, *, store: Store) -> Shape | None:
    """The file with its line ends as they are in the work tree."""
    if content is None or entry is None:
        return None
    laid = content
    if site.form is Form.CRLF:
        laid = content.replace(b"\n", b"\r\n")
    elif site.form is Form.OPEN:
        laid = store.checked_out(site.path, entry.object_id)
    standing = site.standing
    return Shape(laid) if standing is None else Shape(laid, standing.mode, None, (standing.uid, standing.gid))
