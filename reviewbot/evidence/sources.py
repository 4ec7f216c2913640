"""The checks that only read: each analyser over both ends of every file in scope."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reviewbot.domain.change import Contents, FileChange, FileKind
from reviewbot.domain.evidence import ANALYSERS, CheckRun, EvidenceStatus, Result, Side
from reviewbot.evidence.analysers import BY_TEXT, BY_TREE, complexity
from reviewbot.evidence.analysers.source import Source
from reviewbot.evidence.match import Heard, Mark, Sides
from reviewbot.evidence.statements import parse
from reviewbot.evidence.view import View


@dataclass(frozen=True, slots=True)
class Ends:
    """A file in scope, with as much of its two ends as is known: all of it, or what the hunks show."""

    base_path: str | None
    head_path: str | None
    contents: Contents
    removed: tuple[tuple[int, bytes], ...] = ()
    added: tuple[tuple[int, bytes], ...] = ()


def ends(view: View) -> tuple[Ends, ...]:
    """What there is to read."""
    return tuple(_ends(file, view.contents_of(file)) for file in view.files if file.kind is FileKind.TEXT)


def hear(files: Sequence[Ends]) -> Heard:
    """What the analysers say of all files in scope. A pure function of values that can be sent to another process."""
    base: list[Result] = []
    head: list[Result] = []
    marks: list[Mark] = []
    for file in files:
        older, newer = _sources(file)
        base += _read(older)
        head += _read(newer)
        marks += (Mark(EvidenceStatus.NEW, Side.HEAD, result) for result in complexity.grown(older, newer))
    new = bool(head)
    return Heard(Sides(tuple(base), tuple(head)), tuple(marks), (CheckRun(ANALYSERS, ran=True, failed=new or bool(marks)),))


def unheard(reason: str) -> Heard:
    """They were begun and came to no end."""
    return Heard(runs=(CheckRun(ANALYSERS, ran=False, reason=reason, cut_short=True),))


def _read(source: Source | None) -> Iterator[Result]:
    if source:
        for analyse in BY_TEXT:
            yield from analyse(source)
        for analyse_tree in BY_TREE if source.tree else ():
            yield from analyse_tree(source)


def _ends(file: FileChange, contents: Contents) -> Ends:
    if contents.base is None and contents.head is None:
        removed = tuple((number, text) for hunk in file.hunks for number, text in hunk.removed())
        return Ends(file.base_path, file.head_path, contents, removed, tuple(file.added_lines()))
    return Ends(file.base_path, file.head_path, contents)


def _sources(file: Ends) -> tuple[Source | None, Source | None]:
    """Both ends; without whole contents, what the hunks show of them."""
    if file.contents.base is None and file.contents.head is None:
        return Source.of_lines(file.base_path, file.removed), Source.of_lines(file.head_path, file.added)
    return _whole(file.base_path, file.contents.base), _whole(file.head_path, file.contents.head)


def _whole(path: str | None, data: bytes | None) -> Source | None:
    if path is None or data is None:
        return None
    return Source.of_bytes(path, data, tree=parse(data) if path.endswith(".py") else None)
