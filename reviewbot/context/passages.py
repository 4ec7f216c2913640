"""Cut a changed file into passages: its hunks with the functions around them, by its grammar."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from reviewbot.checks.project import Project
from reviewbot.checks.scans import is_slow_to_parse
from reviewbot.git.change import ChangedFile, Hunk, Line
from reviewbot.text.files import classify, language_of
from reviewbot.text.secrets import BASE64_RUN, shown

if TYPE_CHECKING:
    from ast_grep_py import Rule, SgNode

MAX_LINE = 400  # characters
# Lines: a function that is shown whole, one of a test, and what is shown around a change in others.
MAX_FUNCTION, MAX_TEST, AROUND = 250, 120, 20
MAX_CONSTRUCTOR, MAX_IMPORTS, MAX_BACKGROUND = 40, 60, 120  # lines
MAX_USED = 30  # lines: a function or constant that a changed line names is shown whole
MAX_SAME = 3  # in a file: a name that more have says too little about which one is meant
SHORTEST_NAME = 4  # of what is looked for; shorter names are those of much else
WORD = re.compile(r"\b(?!(?:import|from|as|use|const|require|include)\b)[A-Za-z_]\w*")
CALLED = re.compile(r"\b(\w+)\(")
# A constant or a type at the top of a file, and what follows on its first line.
CONSTANT = re.compile(r"(?:(?:export|pub|const|let|var|static) )*([A-Za-z_]\w*)\b[^=(]*=(?!=)")
TYPE = re.compile(r"(?:(?:export|declare|pub) )*(?:type|struct|enum|interface) (\w+)")
INNER = re.compile(r"[ \t)\]}]")
NEAR = 2  # passages with at most so many lines between them are one
MAX_HEAD = 5  # lines above and with the name of a function
UNREAD, MAX_UNREAD = frozenset({"generated", "vendored", "data", "fixture"}), 60
MAX_CHANGED = 20_000  # lines: nobody wrote them
# Of a file that is parsed: characters, and nodes. ast-grep finds the place of a node from the top:
# 15,000 functions inside each other take 3 s.
MAX_LENGTH, MAX_NODES = 400_000, 5_000
KINDS = Path(__file__).with_name("kinds.txt").read_text("utf-8").splitlines()
KINDS_OF = {
    language: [kinds.split() for kinds in row.split("|")]
    for language, _, row in (line.partition(": ") for line in KINDS if line[0] != "#")
}
# Patterns of imports, for the kinds that much else is as well.
IMPORT = {"call": "^require", "lexical_declaration": r"^[^\n]*\brequire\("}
CONSTRUCTORS = frozenset({"__init__", "constructor", "initialize", "__construct", "init", "new"})
# What begins where its function should: a decorator, `export`, `const`, a test with its name.
WRAPPERS = frozenset(
    {
        *("decorated_definition", "export_statement", "lexical_declaration", "pair"),
        *("variable_declaration", "variable_declarator", "assignment_expression"),
        *("expression_statement", "field_definition", "public_field_definition"),
        *("arguments", "call_expression", "call", "template_declaration"),
    }
)
BEFORE_PARENTHESIS = re.compile(r"(?<![\w~])([\w~]+)\s*\(")
# Lines above a function that are about it: comments, and attributes of Rust and C#.
ABOVE = re.compile(r"\s*(?:#[\s\[]|//|/\*|\*|\[\w)")
NO_CODE = re.compile(r"\s*(?:#\s|//|/\*|\*[\s/]|$)")  # a comment: it uses and changes nothing
# Methods that are called by the name of their class, or by what has one.
BY_CLASS = CONSTRUCTORS - {"new", "initialize"} | {"__call__"}

# Lines with their texts as they are shown.
Run = Sequence[tuple[Line, str]]


class Block(Struct, frozen=True):
    """A function or class; a closure has no name, which stands on the line `head_end`.

    It starts with the comments, attributes and decorators above it.
    """

    name: str
    start: int
    head_end: int
    end: int

    @property
    def lines(self) -> range:
        return range(self.start, self.end + 1)

    @property
    def head(self) -> range:
        """The lines up to the name, at most MAX_HEAD."""
        return range(max(self.start, self.head_end - MAX_HEAD + 1), self.head_end + 1)

    def contains(self, place: float) -> bool:
        return self.start <= place <= self.end


class Outline(Struct, frozen=True):
    """The blocks of a file, outer ones first, and the first and last line of each import.

    So of each docstring of Python; those of other languages are comments.
    """

    functions: tuple[Block, ...] = ()
    classes: tuple[Block, ...] = ()
    imports: tuple[tuple[int, int], ...] = ()
    docstrings: tuple[tuple[int, int], ...] = ()

    def constructor_of(self, class_: Block) -> Block | None:
        names = {*CONSTRUCTORS, class_.name}
        inside = (f for f in self.functions if class_.contains(f.start) and f.name in names)
        return next((f for f in inside if innermost(self.classes, f.start) == class_), None)


class Excerpt(Struct, frozen=True, kw_only=True):
    """What is shown of a changed file, and why nothing is (`omission`).

    `background` is at head and not near the change. In `functions`, more changed than comments.
    `headings` are what git says of hunks, by their first lines. `docstrings` are lines at head.
    """

    file: ChangedFile
    runs: Sequence[Run] = ()
    headings: Mapping[Line, str] = {}
    docstrings: frozenset[int] = frozenset()
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
    headings = {
        hunk.lines[0]: clipped(shown(hunk.heading))
        for hunk in file.hunks
        if not BASE64_RUN.search(hunk.heading)  # a line of a key
    }
    base = "" if file.old_mode == "000000" else project.base_texts.get(file.old_path)
    head = "" if file.mode == "000000" else project.head_texts.get(file.path)
    texts = (base.split("\n"), head.split("\n")) if base is not None and head is not None else None
    whole = _whole(file.hunks, *texts) if texts else None
    if whole is None or base is None or head is None:
        runs = []
        for hunk in file.hunks:
            text = shown("\n".join(line.text for line in hunk.lines))
            runs.append(list(zip(hunk.lines, map(clipped, text.split("\n")), strict=True)))
        return Excerpt(file=file, runs=runs, headings=headings)

    lines, hunks = whole
    outline = parse(file.path, head)
    # The number of each line at head, and of a removed one a number between two.
    places, last = [], 0
    for line in lines:
        last = line.head or last
        places.append(last if line.head else last + 0.5)
    longest = MAX_TEST if kind == "test" else MAX_FUNCTION
    spans = _spans(lines, hunks, places, outline if is_whole else Outline(), longest)
    touched = [n for n, line in enumerate(lines) if line.is_changed]
    code = {n: lines[n] for n in touched if not NO_CODE.match(lines[n].text)}
    functions: list[tuple[str, Line]] = []
    if kind == "source":
        functions += _functions(outline, {places[n]: line for n, line in code.items()})
        # Of a function that is gone or has another name, no line is in the body of one.
        gone = (places[n] for n, line in code.items() if line.base)
        around = ((place, innermost(outline.functions, place)) for place in gone)
        if any(block is None or place < block.head_end for place, block in around):
            removed = {float(line.base): line for line in code.values() if line.base}
            functions += _functions(parse(file.old_path, base), removed)
    taken = {number for span in spans for number in span}
    wanted = set[int]()
    if file.status != "added" and kind not in (*UNREAD, "documentation"):
        used = [(n in code, lines[n].text) for n in sorted(taken)]
        wanted = _background(outline, head.split("\n"), [places[n] for n in touched], used, longest)
    left = [n for n, line in enumerate(lines) if line.head in wanted and n not in taken]
    shown_base, shown_head = shown(base).split("\n"), shown(head).split("\n")
    rows = []
    for line in lines:
        text = shown_head[line.head - 1] if line.head else shown_base[(line.base or 0) - 1]
        rows.append((line, clipped(text)))
    return Excerpt(
        file=file,
        runs=[rows[span.start : span.stop] for span in spans],
        docstrings=frozenset(n for span in outline.docstrings for n in range(span[0], span[1] + 1)),
        headings={} if outline.functions or outline.classes else headings,
        # In a run of consecutive numbers, they grow like their count.
        background=[
            [rows[number] for _, number in run]
            for _, run in groupby(enumerate(left), key=lambda pair: pair[1] - pair[0])
        ],
        functions=functions,
    )


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
    lines: Sequence[Line],
    hunks: Sequence[range],
    places: Sequence[float],
    outline: Outline,
    longest: int,
) -> list[range]:
    """What is shown of the lines: hunks, with the functions around their changed lines."""
    index = {line.head: number for number, line in enumerate(lines) if line.head}
    whole, others = list[Block](), list[Block]()
    for block in outline.functions:
        # A closure is part of the function around it.
        is_inner = whole and whole[-1].contains(block.start)
        (others if is_inner or len(block.lines) > longest else whole).append(block)
    spans: list[range] = []
    for hunk in hunks:
        start, end = hunk.start, hunk.stop
        for number in (number for number in hunk if lines[number].is_changed):
            at = bisect_right(whole, places[number], key=lambda block: block.start) - 1
            if at >= 0 and whole[at].contains(places[number]):
                start = min(start, index[whole[at].start])
                end = max(end, index[whole[at].end] + 1)
            elif large := innermost(others, places[number]):
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
    longest: int,
) -> set[int]:
    """What changed lines belong to, and what is used where they are: numbers of lines at head.

    Imports; classes with their constructors, and their bases; heads of long functions; constants,
    types, functions and classes that changed lines name. `used` are the lines that are shown, each
    with whether it is changed.
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
    counts = Counter(block.name for block in (*outline.functions, *outline.classes))
    clear = {name for name, count in counts.items() if count <= MAX_SAME}
    called = named.intersection(CALLED.findall(added), clear - BY_CLASS - {f.name for f in touched})
    around = [class_ for class_, _ in _touched(outline.classes, changed)]
    own = {class_.name for class_ in around}  # in Rust, of all that is implemented for a type
    heads = {word for c in around for n in c.head for word in WORD.findall(texts[n - 1])} - own
    for class_ in (*around, *(c for c in outline.classes if c.name in heads)):
        wanted += class_.head
        if (made := outline.constructor_of(class_)) and len(made.lines) <= MAX_CONSTRUCTOR:
            wanted += made.lines
    wanted += (n for f in touched if len(f.lines) > longest for n in f.head)
    for number, text in enumerate(texts, 1):
        if (found := TYPE.match(text) or CONSTANT.match(text)) and found[1] in named | own:
            more = takewhile(INNER.match, texts[number : number + MAX_USED])
            wanted += range(number, number + 1 + sum(1 for _ in more))
    for function in (function for function in outline.functions if function.name in called):
        wanted += function.lines if len(function.lines) <= MAX_USED else function.head
    wanted += (n for c in outline.classes if c.name in named & clear - own for n in c.head)
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


def innermost(blocks: Sequence[Block], place: float) -> Block | None:
    """The last of the blocks that contain a place: they are in order, outer ones first."""
    before = blocks[: bisect_right(blocks, place, key=lambda block: block.start)]
    return next((block for block in reversed(before) if block.end >= place), None)


def parse(path: str, text: str) -> Outline:
    """The outline of a file; empty for other languages and what is too large.

    Blocks with errors are left out: where they end is not certain.
    """
    # A header may be of C++, whose grammar reads C as well.
    language = {".tsx": "tsx", ".h": "cpp"}.get(path[path.rfind(".") :], language_of(path) or "")
    if language not in KINDS_OF or len(text) > MAX_LENGTH or is_slow_to_parse(text):
        return Outline()
    from ast_grep_py import SgRoot

    functions, classes, imports = KINDS_OF[language]
    rules: list[Rule] = [{"kind": kind} for kind in (*functions, *classes)]
    rules += [{"kind": kind, "regex": IMPORT.get(kind, "")} for kind in imports]
    if language == "python":
        rules.append({"kind": "string", "inside": {"kind": "expression_statement"}})
    root = SgRoot(text, language).root()
    nodes, broken = root.find_all(any=rules), root.find_all(kind="ERROR")
    if len(nodes) + len(broken) > MAX_NODES:
        return Outline()
    errors = [_span(node) for node in broken]
    lines = text.split("\n")
    blocks, imported, docstrings = [], [], []
    for node in nodes:
        start, end = _span(node)
        if node.kind() in imports:
            imported.append((start, end))
        elif node.kind() == "string":
            docstrings.append((start, end))
        elif not any(first <= end and start <= last for first, last in errors):
            blocks.append((_block(node, lines), node.kind() in classes))
    blocks.sort(key=lambda pair: (pair[0].start, -pair[0].end))
    found = tuple(block for block, is_class in blocks if not is_class)
    outer = found if language == "go" else ()  # what a function declares is its own there
    return Outline(
        found,
        tuple(b for b, is_class in blocks if is_class and not innermost(outer, b.start)),
        tuple(span for span in sorted(imported) if not any(f.contains(span[0]) for f in found)),
        tuple(docstrings),
    )


def _span(node: SgNode) -> tuple[int, int]:
    """The first and last line. A node that ends with a line feed ends on the line before."""
    span = node.range()
    end = span.end.line + (1 if span.end.column or span.end.line == span.start.line else 0)
    return span.start.line + 1, end


def _block(node: SgNode, lines: Sequence[str]) -> Block:
    (start, end), name = _span(node), _name_of(node)
    parent = node.parent()
    while parent is not None and parent.kind() in WRAPPERS:
        start, end = _span(parent)[0], max(end, _span(parent)[1])
        name, parent = name or _name_of(parent), parent.parent()
    head_end = name.range().start.line + 1 if name else start
    while start > 1 and ABOVE.match(lines[start - 2]):
        start -= 1
    # Of `int Shop::total(int x)`, `total`.
    text = name.text()[:200] if name else ""
    called = BEFORE_PARENTHESIS.search(text)
    words = re.findall(r"\w+[?!]?", called[1] if called else text.partition("<")[0])
    return Block(words[-1] if words else "", start, max(start, head_end), end)


def _name_of(node: SgNode) -> SgNode | None:
    fields = ("name", "declarator", "left", "key", "property")
    for field in ("type",) if node.kind() == "impl_item" else fields:
        if found := node.field(field):
            return found
    kinds = ("simple_identifier", "type_identifier")  # of Kotlin and Swift, without a field
    return next((child for child in node.children() if child.kind() in kinds), None)
