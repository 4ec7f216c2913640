"""Cut a changed file into passages: its hunks with the functions around them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, takewhile

from msgspec import Struct

from reviewbot.checks.project import Project
from reviewbot.context.functions import CONSTRUCTORS, Block, Outline, innermost, parse
from reviewbot.git.change import ChangedFile, Hunk, Line
from reviewbot.text.files import classify
from reviewbot.text.hidden import visible
from reviewbot.text.secrets import BASE64_RUN, redact

MAX_LINE = 400  # characters
# Lines: a function that is shown whole, and what is shown around a change in a longer one.
MAX_FUNCTION, AROUND = 120, 20
MAX_CONSTRUCTOR, MAX_IMPORTS, MAX_BACKGROUND = 40, 60, 120  # lines
MAX_USED = 30  # lines: a function or constant that a changed line names is shown whole
SHORTEST_NAME = 4  # of what is looked for; shorter names are those of much else
WORD = re.compile(r"\b(?!(?:import|from|as|use|const|require|include)\b)[A-Za-z_]\w*")
CALLED = re.compile(r"(\w+)\(")
# A constant at the top of a file, and what follows on its first line.
CONSTANT = re.compile(r"(?:(?:export|const|let|var|static) )*([A-Za-z_]\w*)\b[^=(]*=(?!=)")
INNER = re.compile(r"[ \t)\]}]")
NEAR = 2  # passages with at most so many lines between them are one
UNREAD, MAX_UNREAD = frozenset({"generated", "vendored", "data", "fixture"}), 60
MAX_CHANGED = 20_000  # lines: nobody wrote them
# Methods that are called by the name of their class, or by what has one.
BY_CLASS = CONSTRUCTORS - {"new", "initialize"} | {"__call__"}

# Lines with their texts as they are shown.
Run = Sequence[tuple[Line, str]]


class Excerpt(Struct, frozen=True, kw_only=True):
    """What is shown of a changed file, and why nothing is (`omission`).

    Attributes:
        background: lines at head that are not near the change.
        functions: names of those that changed, each with a changed line.
    """

    file: ChangedFile
    runs: Sequence[Run] = ()
    heading: str = ""
    background: Sequence[Run] = ()
    functions: Sequence[tuple[str, Line]] = ()
    omission: str = ""


def excerpt_of(file: ChangedFile, project: Project, *, is_whole: bool = True) -> Excerpt:
    """Where a grammar knows the language, functions are whole if wanted, else there are hunks."""
    changed = [line for hunk in file.hunks for line in hunk.lines if line.is_changed]
    kind, added = classify(file.path), sum(line.base is None for line in changed)
    if not file.hunks:
        return Excerpt(file=file, omission="binary or too large" if file.is_binary else file.status)
    if len(changed) > (MAX_UNREAD if kind in UNREAD else MAX_CHANGED):
        counts = f"{added} lines added, {len(changed) - added} removed"
        return Excerpt(file=file, omission=f"{kind}, {counts}")
    heading = file.hunks[0].heading
    heading = "" if BASE64_RUN.search(heading) else clipped(shown(heading))  # a line of a key
    base = "" if file.old_mode == "000000" else project.base_texts.get(file.old_path)
    head = "" if file.mode == "000000" else project.head_texts.get(file.path)
    texts = (base.split("\n"), head.split("\n")) if base is not None and head is not None else None
    whole = _whole(file.hunks, *texts) if texts else None
    if whole is None or base is None or head is None:
        runs = []
        for hunk in file.hunks:
            text = shown("\n".join(line.text for line in hunk.lines))
            runs.append(list(zip(hunk.lines, map(clipped, text.split("\n")), strict=True)))
        return Excerpt(file=file, runs=runs, heading=heading)

    lines, hunks = whole
    outline = parse(file.path, head)
    # The number of each line at head, and of a removed one a number between two.
    places, last = [], 0
    for line in lines:
        last = line.head or last
        places.append(last if line.head else last + 0.5)
    spans = _spans(lines, hunks, places, outline if is_whole else Outline())
    at_head = {place: line for place, line in zip(places, lines, strict=True) if line.is_changed}
    functions: list[tuple[str, Line]] = []
    if kind == "source":
        functions += _functions(outline, at_head)
        # Of a function that is gone or has another name, no line is in the body of one.
        around = ((p, innermost(outline.functions, p)) for p in at_head if p != int(p))
        if any(block is None or place < block.head_end for place, block in around):
            removed: dict[float, Line] = {n.base: n for n in lines if n.base and n.head is None}
            functions += _functions(parse(file.old_path, base), removed)
    taken = {number for span in spans for number in span}
    used = [(lines[number].is_changed, lines[number].text) for number in sorted(taken)]
    wanted = set[int]()
    if file.status != "added":
        wanted = _background(outline, head.split("\n"), sorted(at_head), used)
    left = [n for n, line in enumerate(lines) if line.head in wanted and n not in taken]
    shown_base, shown_head = shown(base).split("\n"), shown(head).split("\n")
    rows = []
    for line in lines:
        text = shown_head[line.head - 1] if line.head else shown_base[(line.base or 0) - 1]
        rows.append((line, clipped(text)))
    return Excerpt(
        file=file,
        runs=[rows[span.start : span.stop] for span in spans],
        heading="" if outline.functions or outline.classes else heading,
        # In a run of consecutive numbers, they grow like their count.
        background=[
            [rows[number] for _, number in run]
            for _, run in groupby(enumerate(left), key=lambda pair: pair[1] - pair[0])
        ],
        functions=functions,
    )


def shown(text: str | bytes) -> str:
    """A text without secrets, with hidden characters made visible. It keeps its lines."""
    text = text if isinstance(text, str) else text.decode("utf-8", "replace")
    return visible(redact(text)[0])


def clipped(text: str, most: int = MAX_LINE) -> str:
    more = len(text) - most
    return text if more <= 0 else f"{text[:most]} … [{more} more characters]"


def _whole(
    hunks: Sequence[Hunk], base: Sequence[str], head: Sequence[str]
) -> tuple[list[Line], list[range]] | None:
    """All lines of both sides, and the places of the hunks in them; None if they do not fit."""
    lines: list[Line] = []
    places: list[range] = []
    at_base = at_head = 1
    end = Line("", len(base) + (base[-1] != ""), len(head) + (head[-1] != ""))
    for part in (*(hunk.lines for hunk in hunks), (end,)):
        first = part[0]
        gap = first.base - at_base if first.base else (first.head or 0) - at_head
        numbers = range(min(gap, len(head) - at_head + 1))
        lines += (Line(head[at_head + n - 1], at_base + n, at_head + n) for n in numbers)
        at_base += gap + sum(line.base is not None for line in part)
        at_head += gap + sum(line.head is not None for line in part)
        places.append(range(len(lines), len(lines) + len(part)))
        lines += part
    lines.pop()
    for line in lines:
        for number, texts in ((line.base, base), (line.head, head)):
            if number is not None and (number > len(texts) or texts[number - 1] != line.text):
                return None
    return lines, places[:-1]


def _spans(
    lines: Sequence[Line], hunks: Sequence[range], places: Sequence[float], outline: Outline
) -> list[range]:
    """What is shown of the lines: hunks, with the functions around their changed lines."""
    index = {line.head: number for number, line in enumerate(lines) if line.head}
    whole: list[Block] = []
    for block in outline.functions:
        # A closure is part of the function around it.
        if len(block.lines) <= MAX_FUNCTION and not (whole and whole[-1].contains(block.start)):
            whole.append(block)
    spans: list[range] = []
    for hunk in hunks:
        start, end = hunk.start, hunk.stop
        for number in (number for number in hunk if lines[number].is_changed):
            at = bisect_right(whole, places[number], key=lambda block: block.start) - 1
            if at >= 0 and whole[at].contains(places[number]):
                start = min(start, index[whole[at].start])
                end = max(end, index[whole[at].end] + 1)
            elif large := innermost(outline.functions, places[number]):
                start = min(start, max(index[large.start], number - AROUND))
                end = max(end, min(index[large.end], number + AROUND) + 1)
        while spans and start <= spans[-1].stop + NEAR:
            start, end = min(start, spans[-1].start), max(end, spans.pop().stop)
        spans.append(range(start, end))
    return spans


def _touched(blocks: Sequence[Block], changed: Sequence[float]) -> Iterator[tuple[Block, float]]:
    """Blocks with the first changed place in them; the places are sorted."""
    for block in blocks:
        at = bisect_left(changed, block.start)
        if at < len(changed) and changed[at] <= block.end:
            yield block, changed[at]


def _background(
    outline: Outline,
    texts: Sequence[str],
    changed: Sequence[float],
    used: Sequence[tuple[bool, str]],
) -> set[int]:
    """What changed lines belong to, and what is used where they are: numbers of lines at head.

    Imports; classes with their constructors, and their bases; heads of long functions; constants,
    functions and classes that changed lines name.

    Args:
        used: the lines that are shown, each with whether it is changed.
    """
    wanted: list[int] = []
    words = set(WORD.findall("\n".join(text for _, text in used)))
    for first, last in outline.imports:
        lines = range(first, last + 1)
        inner = [n for n in lines if not words.isdisjoint(WORD.findall(texts[n - 1]))]
        wanted += [first, *inner] if inner and (inner[-1] > first or first == last) else []
    wanted = wanted[:MAX_IMPORTS]
    added = "\n".join(text for is_changed, text in used if is_changed)
    named = {word for word in WORD.findall(added) if len(word) >= SHORTEST_NAME}
    touched = [function for function, _ in _touched(outline.functions, changed)]
    called = named.intersection(CALLED.findall(added)) - BY_CLASS - {f.name for f in touched}
    around = [class_ for class_, _ in _touched(outline.classes, changed)]
    heads = {word for c in around for n in c.head for word in WORD.findall(texts[n - 1])}
    for class_ in (*around, *(c for c in outline.classes if c.name in heads)):
        wanted += class_.head
        constructor = outline.constructor_of(class_)
        if constructor and len(constructor.lines) <= MAX_CONSTRUCTOR:
            wanted += constructor.lines
    wanted += (n for f in touched if len(f.lines) > MAX_FUNCTION for n in f.head)
    for number, text in enumerate(texts, 1):
        if (constant := CONSTANT.match(text)) and constant[1] in named:
            more = takewhile(INNER.match, texts[number : number + MAX_USED])
            wanted += range(number, number + 1 + sum(1 for _ in more))
    for function in outline.functions:
        if function.name in called:
            wanted += function.lines if len(function.lines) <= MAX_USED else function.head
    wanted += (n for c in outline.classes if c.name in named for n in c.head)
    return set(wanted[:MAX_BACKGROUND])


def _functions(outline: Outline, changed: Mapping[float, Line]) -> Iterator[tuple[str, Line]]:
    """Names by which functions around changed lines are called. Closures are not called."""
    last: Block | None = None
    for block, place in _touched(outline.functions, sorted(changed)):
        if not block.name or (last and last.contains(block.start)):
            continue
        last = block
        class_ = innermost(outline.classes, block.start) if block.name in BY_CLASS else None
        if class_ or not block.name.startswith("__"):
            yield class_.name if class_ else block.name, changed[place]
