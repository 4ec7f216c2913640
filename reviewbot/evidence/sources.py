"""The checks that only read: each analyser over both ends of every file in scope."""

from __future__ import annotations

from collections.abc import Iterator

from reviewbot.domain.change import Contents, FileChange, FileKind
from reviewbot.domain.evidence import ANALYSERS, CheckRun, EvidenceStatus, Result, Side
from reviewbot.evidence.analysers import BY_TEXT, BY_TREE, complexity
from reviewbot.evidence.analysers.source import Source
from reviewbot.evidence.match import Heard, Mark, Sides
from reviewbot.evidence.statements import parse
from reviewbot.evidence.view import View


def hear(view: View) -> Heard:
    """What the analysers say of all files in scope."""
    base: list[Result] = []
    head: list[Result] = []
    marks: list[Mark] = []
    for file in view.files:
        if file.kind is not FileKind.TEXT:
            continue
        older, newer = _ends(file, view.contents_of(file))
        base += _read(older)
        head += _read(newer)
        marks += (Mark(EvidenceStatus.NEW, Side.HEAD, result) for result in complexity.grown(older, newer))
    new = bool(head)
    return Heard(Sides(tuple(base), tuple(head)), tuple(marks), (CheckRun(ANALYSERS, ran=True, failed=new or bool(marks)),))


def _read(source: Source | None) -> Iterator[Result]:
    if source:
        for analyse in BY_TEXT:
            yield from analyse(source)
        for analyse_tree in BY_TREE if source.tree else ():
            yield from analyse_tree(source)


def _ends(file: FileChange, contents: Contents) -> tuple[Source | None, Source | None]:
    """Both ends; without whole contents, what the hunks show of them."""
    if contents.base is None and contents.head is None:
        removed = ((number, text) for hunk in file.hunks for number, text in hunk.removed())
        return Source.of_lines(file.base_path, removed), Source.of_lines(file.head_path, file.added_lines())
    return _whole(file.base_path, contents.base), _whole(file.head_path, contents.head)


def _whole(path: str | None, data: bytes | None) -> Source | None:
    if path is None or data is None:
        return None
    return Source.of_bytes(path, data, tree=parse(data) if path.endswith(".py") else None)
