"""What a review is about: the change, what of it is in scope, and what may be read beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice

from reviewbot.changeset import diff, excerpt, pack, rotate, select
from reviewbot.changeset.rotate import Turn
from reviewbot.changeset.select import Scope
from reviewbot.domain.change import ChangeSet, Contents, FileChange, FileStatus, Revisions
from reviewbot.evidence.migrations import is_migration
from reviewbot.evidence.view import SETTINGS, View, is_python_test
from reviewbot.pipeline.world import Options, Run, World
from reviewbot.ports import Objects, Progress, RawDiff, TreeEntry

MOST_TEST_FILES = 400
LARGEST_TEST_FILE = 300_000
LARGEST_SETTINGS_FILE = 300_000
MOST_SETTINGS_FILES = 100
"""Test files (count, bytes) that are read to find out which of them import what changed."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A change, what of it is in scope, and both sides of the files in scope. ``shown`` are the files that the panel reads: those
    in scope, of a whole tree those whose turn it is."""

    change: ChangeSet
    scope: Scope
    contents: Mapping[str, Contents]
    shown: tuple[FileChange, ...]

    @property
    def names(self) -> Mapping[str, str]:
        """The path at base of every changed file, by its path at head."""
        return {file.path: file.base_path or file.path for file in self.change.files}


@dataclass(frozen=True, slots=True)
class Material:
    """What a review is about: what of the change is in scope, and what checks may read of it."""

    chosen: Chosen
    view: View
    blobs: Mapping[str, str]

    @property
    def change(self) -> ChangeSet:
        """The whole change."""
        return self.chosen.change

    @property
    def scope(self) -> Scope:
        """What of it is looked at."""
        return self.chosen.scope


def chosen(found: RawDiff, revisions: Revisions, objects: Objects | None, *, options: Options) -> Chosen:
    """What of a change is looked at, with both sides of its files."""
    change = diff.read(found, revisions)
    scope = select.scope(change, options.selection)
    contents = _contents(scope, objects)
    scope = select.refine(scope, contents, options.selection)
    turn = _turn(scope, revisions, options)
    scope = turn.scope
    return Chosen(change, replace(scope, notes=(*scope.notes, *excerpt.unshown(scope.files))), contents, turn.shown)


def _turn(scope: Scope, revisions: Revisions, options: Options) -> Turn:
    """What fits before the panel. Checks look at the whole of a tree that is audited."""
    if revisions.is_audit:
        return rotate.turn(scope, options.budget_tokens, options.rotation)
    fitted = pack.fit(scope, options.budget_tokens)
    return Turn(fitted, fitted.files)


def read(revisions: Revisions, run: Run) -> Material:
    """What changed, and what of it is looked at."""
    world = run.world
    found = world.repo.diff(revisions)
    if world.session.recall("evidence") is None:
        world.worker.expect(len(found.patch))
    known = chosen(found, revisions, world.objects, options=run.options)
    change, scope = known.change, known.scope
    files = "1 file" if len(change.files) == 1 else f"{len(change.files)} files"
    world.observer.saw(Progress("changeset", f"{files} changed, {len(scope.files)} in scope"))
    head = change.revisions.head_tree
    entries = world.objects.entries(head) if world.objects is not None and head is not None else ()
    blobs = {entry.path: entry.object_id for entry in entries if entry.size >= 0}
    return Material(known, _view(known, entries=entries, world=world), blobs)


def _contents(scope: Scope, objects: Objects | None) -> Mapping[str, Contents]:
    """Both sides of every file in scope. From a patch alone only what it adds whole is known."""
    if objects is None:
        return {file.path: Contents(None, excerpt.rebuilt(file)) for file in scope.files}

    def side(object_id: str | None) -> bytes | None:
        return objects.blob(object_id) if object_id else None

    return {
        file.path: Contents(
            None if file.status is FileStatus.ADDED else side(file.old_id),
            None if file.status is FileStatus.DELETED else side(file.new_id),
        )
        for file in scope.files
    }


def _view(known: Chosen, *, entries: tuple[TreeEntry, ...], world: World) -> View:
    """What checks may read: the change, the names in the head tree, and its test files."""
    found = [entry for entry in entries if is_python_test(entry.path) and 0 <= entry.size <= LARGEST_TEST_FILE]
    tests = {entry.path: world.objects.blob(entry.object_id) for entry in found[:MOST_TEST_FILES] if world.objects}
    paths, room = tuple(entry.path for entry in entries), world.sandbox
    return View(
        known.change,
        known.scope.files,
        known.contents,
        paths,
        tests,
        settings=_settings(known.change, world.objects),
        sandbox=room.level,
        sandbox_notes=room.notes,
    )


def _settings(change: ChangeSet, objects: Objects | None) -> Mapping[str, bytes]:
    """The base's files that say which tools the project uses, and its migrations, whose words tell the database."""
    tree = change.revisions.base_tree
    if objects is None or tree is None:
        return {}
    small = (entry for entry in objects.entries(tree) if 0 <= entry.size <= LARGEST_SETTINGS_FILE)
    known = sorted(
        (entry for entry in small if entry.path in SETTINGS or is_migration(entry.path)),
        key=lambda entry: entry.path not in SETTINGS,
    )
    return {entry.path: objects.blob(entry.object_id) for entry in islice(known, MOST_SETTINGS_FILES)}
