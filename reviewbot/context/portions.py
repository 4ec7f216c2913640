"""Write what panelists read, and share a large change out among several briefs."""

import asyncio
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count, groupby

from msgspec.structs import replace

from reviewbot.checks.project import Project
from reviewbot.concurrency import run_all
from reviewbot.context.brief import Brief, Call, Passage
from reviewbot.context.elsewhere import Key, callers_of, declared_for, find_calls, find_used
from reviewbot.context.passages import WORD, Excerpt, Run, clipped, excerpt_of
from reviewbot.git.change import Change, describe
from reviewbot.git.repository import Repository
from reviewbot.text.files import classify
from reviewbot.text.secrets import shown

MAX_BRIEF = 90_000  # characters, about 30,000 tokens
RESERVED = 24_000  # of these, for what other files have, linters, and the frame of the prompt
# A portion that is filled so far ends where the content says so, at one of BORDERS places.
FILLED, BORDERS = 0.6, 4
MAX_INSTRUCTIONS, MAX_ALL_INSTRUCTIONS, MAX_DESCRIPTION = 6_000, 18_000, 6_000
ROW, HEADING = 5, 80  # characters of a row beside its text, of a passage beside path and heading


async def write_briefs(
    change: Change,
    project: Project,
    repository: Repository | None = None,
    instructions: Sequence[str] = (),
) -> tuple[Brief, ...]:
    """At least one brief. Where one ends hardly depends on edits in the files of others.

    Files at base, `instructions`, say what the repository asks of reviewers.
    """
    asked: dict[str, str] = {}
    if repository and change.base_tree and instructions:
        files = await repository.read_files(change.base_tree, instructions)
        most = min(MAX_INSTRUCTIONS, MAX_ALL_INSTRUCTIONS // len(instructions))
        texts = {path: files.get(path, b"").decode("utf-8", "replace") for path in instructions}
        asked = {path: clipped(shown(text.strip()), most) for path, text in texts.items() if text}
    versions = tuple(map(shown, project.versions_for([file.path for file in change.files])))
    size = MAX_DESCRIPTION + sum(map(len, (*asked, *asked.values(), *versions)))
    in_order = sorted(change.files, key=lambda file: file.path)
    excerpts = []
    for file in in_order:
        await asyncio.sleep(0)  # linters are started and read meanwhile
        excerpts.append(excerpt_of(file, project))
    room = MAX_BRIEF - RESERVED - size
    portions = list(_share_out(excerpts, room))
    if len(portions) > 1:  # what tests check is read in the code that they test
        excerpts = [
            excerpt_of(e.file, project, is_whole=False) if classify(e.file.path) == "test" else e
            for e in excerpts
        ]
        portions = list(_share_out(excerpts, room))
    calls: Mapping[Key, Sequence[Call]] = {}
    used: Mapping[tuple[str, str], Passage] = {}
    if repository and change.head_tree:
        pieces = chain.from_iterable(portions)
        functions = ((piece.file.path, name) for piece in pieces for name, _ in piece.functions)
        calls, used = await run_all(
            find_calls(repository, change.head_tree, functions),
            find_used(repository, change.head_tree, excerpts, project),
        )
    briefs: list[Brief] = []
    for portion in portions:
        path = portion[0].file.path if len(portions) > 1 else ""
        taken = {brief.name for brief in briefs}
        names = chain([path], (f"{path} {number}" for number in count(2)))
        said = change.title, change.description
        if len(portions) > 1 and change.messages:
            # A commit that is pushed later says nothing to those who read other files.
            paths = {path for part in portion for path in (part.file.path, part.file.old_path)}
            said = describe([message.text for message in change.messages if message.paths & paths])
        title, description = clipped(shown(said[0])), clipped(shown(said[1]), MAX_DESCRIPTION)
        passages = tuple(make_passage(part, run) for part in portion for run in part.runs)
        background = tuple(make_passage(part, run) for part in portion for run in part.background)
        own = [(part.file.path, name) for part in portion for name, _ in part.functions]
        uses = [(part.file.path, name) for part in portion for name in part.used]
        shown_lines = {(p.path, line) for p in (*passages, *background) for line in p.head}
        elsewhere = {file.path for file in in_order} - {part.file.path for part in portion}
        background += declared_for(uses, used, shown_lines, elsewhere)
        texts_shown = (title, description, *(row for passage in passages for row in passage.rows))
        brief = Brief(
            name=next(name for name in names if name not in taken),
            title=title,
            description=description,
            instructions=asked,
            versions=versions,
            passages=passages,
            background=background,
            callers=callers_of(own, calls, shown_lines, elsewhere),
            omissions={part.file.path: part.omission for part in portion if part.omission},
            secrets=sum(text.count("«secret:") for text in texts_shown),
        )
        briefs.append(brief)
    return tuple(briefs)


def make_passage(excerpt: Excerpt, run: Run) -> Passage:
    return Passage(
        path=excerpt.file.path,
        old_path=excerpt.file.old_path,
        heading=excerpt.headings.get(run[0][0], ""),
        base={line.base: text for line, text in run if line.base is not None},
        head={line.head: text for line, text in run if line.head is not None},
        added=frozenset(line.head for line, _ in run if line.head and line.base is None),
        docstrings=excerpt.docstrings & {line.head for line, _ in run if line.head},
        removed=frozenset(line.base for line, _ in run if line.base and line.head is None),
        rows=tuple(f"{line.head or line.base}{line.marker}{text}" for line, text in run),
    )


def _share_out(excerpts: Sequence[Excerpt], room: int) -> Iterator[list[Excerpt]]:
    """In the order of paths. A file that is too large alone is cut, and shares no portion."""
    if sum(map(_size, excerpts)) <= room:
        yield list(excerpts)
        return
    for is_large, group in groupby(excerpts, key=lambda excerpt: _size(excerpt) > room):
        if is_large:
            yield from ([piece] for excerpt in group for piece in _pieces(excerpt, room))
        else:
            files = list(group)
            borders = [_is_border(excerpt.file.path) for excerpt in files]
            for start, end in _cut(list(map(_size, files)), borders, room):
                yield files[start:end]


def _pieces(excerpt: Excerpt, room: int) -> Iterator[Excerpt]:
    """Parts of a file. They end between hunks, and within a long one before a paragraph."""
    if _size(excerpt, excerpt.background) > room // 4:
        excerpt = replace(excerpt, background=())
    room -= _size(excerpt, excerpt.background)
    runs: list[Run] = []
    for run in excerpt.runs:
        sizes = [len(text) + ROW for _, text in run]
        texts = [text for _, text in run]
        borders = [
            not before.strip() and bool(text.strip()) and _is_border(text)
            for before, text in zip(["x", *texts], texts, strict=False)
        ]
        is_long = _size(excerpt, [run]) > room
        cuts = _cut(sizes, borders, room - HEADING * 8) if is_long else [(0, len(run))]
        runs += (run[start:end] for start, end in cuts)
    firsts = (next((text for line, text in run if line.is_changed), "") for run in runs)
    borders = list(map(_is_border, firsts))
    for start, end in _cut([_size(excerpt, [run]) for run in runs], borders, room):
        part = runs[start:end]
        lines = {line for run in part for line, _ in run}
        own = [(name, line) for name, line in excerpt.functions if line in lines]
        words = {*WORD.findall("\n".join(text for run in part for _, text in run))}
        used = [name for name in excerpt.used if name.lstrip(".") in words]
        yield replace(excerpt, runs=part, functions=own, used=used)


def _cut(sizes: Sequence[int], borders: Sequence[bool], room: float) -> Iterator[tuple[int, int]]:
    """From where to before where each portion goes."""
    start = size = 0
    for number, (own, is_border) in enumerate(zip(sizes, borders, strict=True)):
        is_filled = is_border and size >= FILLED * room
        if number > start and (is_filled or size + own > room):
            yield start, number
            start, size = number, 0
        size += own
    if sizes:
        yield start, len(sizes)


def _size(excerpt: Excerpt, runs: Sequence[Run] | None = None) -> int:
    """The most characters that an excerpt, or some runs of it, have in a prompt."""
    runs = (*excerpt.runs, *excerpt.background) if runs is None else runs
    rows = sum(len(text) + ROW for run in runs for _, text in run)
    file = excerpt.file
    said = sum(len(excerpt.headings.get(run[0][0], "")) for run in runs)
    return rows + said + (len(file.path) + len(file.old_path) + HEADING) * max(1, len(runs))


def _is_border(text: str) -> bool:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()[0] % BORDERS == 0
