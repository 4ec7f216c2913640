"""What a goal stands on: the tree with what of it may be touched, and how it is laid before the panel."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from reviewbot.changeset import excerpt, kinds, outline
from reviewbot.debate.minutes import Minutes
from reviewbot.debate.papers import Papers
from reviewbot.domain.change import AUDIT, FileChange, FileKind, is_test_path
from reviewbot.domain.event import ReviewRequest
from reviewbot.domain.evidence import Category, Ledger, Severity
from reviewbot.domain.repair import Goal, Repair
from reviewbot.evidence.statements import statements
from reviewbot.pipeline import material
from reviewbot.pipeline.material import Chosen, Material
from reviewbot.pipeline.world import Run
from reviewbot.ports import Dossier, Packet, Passage, Task

REACH = 60
"""Lines before and after a place that are shown of a longer file."""

WHOLE_FILE = 300
"""Lines of a file that is shown whole."""

MOST_LINES = 2_400
"""Of all that is laid before the panel: what a model reads with care, and a third of a portion [design]."""

MOST_FILES = 10


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be made. ``words`` are a report or an instruction, in words that nobody trusts; ``paths`` are files and folders
    that it is about, all where there are none; ``benchmark`` is a command, or the name of a configured one."""

    goal: Goal
    words: str = ""
    paths: tuple[str, ...] = ()
    benchmark: str = ""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is to be made of which files, with which papers. ``left`` is what will not be made, with the reason of each;
    ``failure`` is why the goal cannot be pursued at all."""

    tasks: tuple[Task, ...] = ()
    papers: Papers = Papers(())
    files: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))
    left: tuple[Repair, ...] = ()
    notes: tuple[str, ...] = ()
    failure: str = ""
    ledger: Ledger = Ledger()


Preparing = Generator[Any, Any, Prepared]


@dataclass(frozen=True, slots=True)
class Ground:
    """The tree that is looked at: ``read`` is the change that was named, ``whole`` all of its head."""

    wanted: Wanted
    request: ReviewRequest
    read: Material
    whole: Chosen
    run: Run
    minutes: Minutes

    @property
    def contents(self) -> Mapping[str, bytes]:
        """Every text of the head that is in scope, by path."""
        heads = ((file.path, self.whole.contents[file.path].head) for file in self.whole.scope.files if _is_text(file))
        return {path: head for path, head in heads if head is not None}

    def code(self) -> Iterator[str]:
        """The paths of its programs, without their tests."""
        for path in self.contents:
            if kinds.is_source(path) and not is_test_path(path):
                yield path

    def meant(self, path: str) -> bool:
        """The file is one that the goal is about: one of its paths, or below it."""
        named = [one.strip("/").removeprefix("./") for one in self.wanted.paths]
        return not named or any(one in ("", ".", path) or path.startswith(f"{one}/") for one in named)

    def papers(self, places: Iterable[tuple[str, int]], ledger: Ledger) -> Papers:
        """What lies before the panel: the files around these places, in their order."""
        options = self.run.options
        passages = windows(places, self.contents)
        common = Dossier(passages, ledger, rules=options.rules, title=self.request.title, criteria=options.debate.criteria)
        return Papers((common,))

    def span(self, path: str, line: int) -> tuple[int, int]:
        """First and last line of the function around a line, else the line itself."""
        head = self.contents.get(path)
        around = outline.of(path, head).around(line) if head is not None else None
        return (around.start, around.end) if around else (line, line)

    def body(self, path: str, line: int) -> tuple[int, int]:
        """The same without the lines that run when a module is loaded, of a Python function: what a test runs by calling it."""
        start, end = self.span(path, line)
        inside = [one for one in statements(self.contents.get(path)) if one.function and start <= one.start <= end]
        return (inside[0].start, max(one.end for one in inside)) if start < end and inside else (start, end)


def laid(wanted: Wanted, request: ReviewRequest, read: Material, *, run: Run) -> Ground:
    """The ground of a goal. The whole of the head is read where the goal is not about a change."""
    whole = read.chosen if read.change.revisions.is_audit or wanted.goal is Goal.TESTS else _whole(read, run)
    return Ground(wanted, request, read, whole, run, Minutes(run.world.panel.table.seats))


def _whole(read: Material, run: Run) -> Chosen:
    """All of the head, as an audit sees it."""
    revisions, world = read.change.revisions, run.world
    audited = replace(revisions, kind=AUDIT, base_tree=revisions.head_tree)
    selection = replace(run.options.selection, is_trusted=True)
    options = replace(run.options, selection=selection, budget_tokens=None)
    return material.chosen(world.repo.diff(audited), audited, world.objects, options=options)


def packet(place: tuple[str, int, int], title: str, *, trigger: str = "", consequence: str = "", category: Category) -> Packet:
    """A task as those see it who write and judge. ``place`` is the path with its first and last line."""
    return Packet(*place, "", category, Severity.MEDIUM, title, trigger, consequence, "", ())


def windows(places: Iterable[tuple[str, int]], contents: Mapping[str, bytes]) -> tuple[Passage, ...]:
    """The files around these places as they are shown: small ones whole, of others the lines nearby. What does not fit is left
    out, the last places first."""
    by_path: dict[str, list[int]] = {}
    for path, line in places:
        if path in contents and (path in by_path or len(by_path) < MOST_FILES):
            by_path.setdefault(path, []).append(line)
    found: list[Passage] = []
    left = MOST_LINES
    for path, lines in by_path.items():
        for passage in _around(path, excerpt.shown_lines(contents[path]), lines):
            if passage.lines and len(passage.lines) <= left:
                found.append(passage)
                left -= len(passage.lines)
    return tuple(found)


def _around(path: str, texts: tuple[str, ...], lines: list[int]) -> Iterator[Passage]:
    if len(texts) <= WHOLE_FILE:
        yield Passage(path, 1, texts, frozenset())
        return
    spans: list[tuple[int, int]] = []
    for line in sorted({min(max(line, 1), len(texts)) for line in lines}):
        start, end = max(line - REACH, 1), min(line + REACH, len(texts))
        if spans and start <= spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    yield from (Passage(path, start, texts[start - 1 : end], frozenset()) for start, end in spans)


def _is_text(file: FileChange) -> bool:
    return file.head_path is not None and file.kind is FileKind.TEXT
