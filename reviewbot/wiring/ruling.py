"""By which rules a change is read: files of its base commit. What the change itself does to them has no effect on its review."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from reviewbot.changeset import listing
from reviewbot.changeset.globs import Globs
from reviewbot.config import Configuration, Source, nested
from reviewbot.context import rules
from reviewbot.domain.change import Revisions
from reviewbot.ports import Objects, RawDiff, Repo, Rule, TreeEntry
from reviewbot.wiring.options import rules_for

Files = tuple[tuple[str, bytes], ...]
"""Files of the base commit: their names and bytes."""


@dataclass(frozen=True, slots=True)
class Base:
    """What a change stands on: the regular files of its base commit, and the paths that it changes: as they are at head, or were
    where they are gone."""

    objects: Objects
    files: Mapping[str, TreeEntry]
    paths: tuple[str, ...]

    def read(self, path: str) -> bytes:
        """A file's bytes."""
        return self.objects.blob(self.files[path].object_id)


def base_of(repo: Repo, objects: Objects, revisions: Revisions) -> Base | None:
    """The base of a change; ``None`` where there is only a patch. Raises GitError."""
    if revisions.base_tree is None:
        return None
    files = {entry.path: entry for entry in objects.entries(revisions.base_tree) if rules.is_regular(entry)}
    return Base(objects, files, changed(repo.diff(revisions)))


def changed(raw: RawDiff) -> tuple[str, ...]:
    """The paths of a change by git's own list."""
    return tuple(entry.path for entry in listing.entries(raw.raw))


def configured(configuration: Configuration, base: Base) -> Configuration:
    """``configuration`` with what the folders around changed files say at base."""
    return nested.within(configuration, _sources(base))


def configured_by(configuration: Configuration, files: Files, paths: Collection[str]) -> Configuration:
    """The same by files that were ``handed`` over."""
    held = dict(files)
    return nested.within(configuration, (Source(name, held[name]) for name in nested.wanted(held, paths)))


def handed(configuration: Configuration, base: Base) -> Files:
    """What rules a change, for where there is no repository: files with rules, and those that configure folders.
    ``configuration`` is the one of ``configured``."""
    return (*_files(configuration, base)[0], *((source.name, source.data) for source in _sources(base)))


def ruled(configuration: Configuration, base: Base) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """The rules for a change, the nearest last, and what is to be said of files with rules that were not read."""
    files, left_out = _files(configuration, base)
    notes = tuple(f"{path} is not read: at most {rules.MOST_FILES} files with rules are" for path in left_out)
    return ruled_by(configuration, files, base.paths), notes


def ruled_by(configuration: Configuration, files: Files, paths: Collection[str]) -> tuple[Rule, ...]:
    """The rules by files that were ``handed`` over: those that are configured come first, then those of the top, of folders, of
    folders in these, then rules for some paths."""
    held = dict(files)
    first = [(name, _text(held[name])) for name in configuration.texts("review.instructions") if name in held]
    named = dict(_of_folders(configuration))
    known = {name for name in held if rules.folder_of(name) is not None} if _by_name(configuration) else set()
    apart = {name for name, _ in first}
    found: list[tuple[tuple[int, str, int, str], Rule]] = []
    for name in sorted((known | (named.keys() & held.keys())) - apart):
        if name in named:
            folder = named[name]
            rank = (folder.count("/") + 1, folder, len(rules.NAMES) + 1, name)
            found.append((rank, Rule(rules.scoped(name, folder), _text(held[name]))))
        elif rule := rules.read(name, held[name], paths, matches=_matches):
            found.append((rules.rank(name), rule))
    near = [(rule.source, rule.text) for _, rule in sorted(found, key=lambda pair: pair[0])]
    return rules_for(configuration, [*first, *near])


def _files(configuration: Configuration, base: Base) -> tuple[Files, tuple[str, ...]]:
    """The files with rules, and the paths of those that are too many. Those that are configured at the top always count."""
    named = [name for name, _ in _of_folders(configuration) if name in base.files]
    chosen = rules.chosen(base.files.values(), base.paths) if _by_name(configuration) else rules.Chosen(())
    names = (*configuration.texts("review.instructions"), *named[: rules.MOST_FILES], *(entry.path for entry in chosen.files))
    read = {name: base.read(name)[: rules.MOST_BYTES] for name in names if name in base.files}
    return tuple(read.items()), tuple(name for name in (*named[rules.MOST_FILES :], *chosen.left_out) if name not in read)


def _sources(base: Base) -> Iterator[Source]:
    return (Source(name, base.read(name)) for name in nested.wanted(base.files, base.paths))


def _of_folders(configuration: Configuration) -> Iterator[tuple[str, str]]:
    """Names of files with rules that folders name, each with its folder."""
    return ((name, folder.path) for folder in configuration.folders for name in folder.instructions)


def _by_name(configuration: Configuration) -> bool:
    return configuration.get("review.rule_files", bool)


def _matches(globs: tuple[str, ...], path: str) -> bool:
    return Globs(globs).match(path)


def _text(data: bytes) -> str:
    return data[: rules.MOST_BYTES].decode("utf-8", "replace")
