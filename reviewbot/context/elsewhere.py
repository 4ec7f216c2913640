"""What other files have to do with a change: calls of what it changes, and what it uses of them.

Both are found in the whole repository, by the look of lines.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, takewhile
from pathlib import PurePosixPath

from msgspec.structs import replace

from reviewbot.checks.project import Project
from reviewbot.concurrency import run_all
from reviewbot.context.brief import Call, Callers, Passage
from reviewbot.context.passages import (
    CONSTANT,
    INNER,
    MAX_USED,
    TYPE,
    WORD,
    Excerpt,
    Outline,
    clipped,
    innermost,
    parse,
)
from reviewbot.git.repository import Repository
from reviewbot.text.files import LANGUAGES, classify, language_of
from reviewbot.text.secrets import shown

MAX_NAMES = 100  # in one search
MAX_LISTED, MIN_TESTS, MAX_ALL = 5, 2, 30  # calls of a function, in tests, and of all
# A name that is called more often says too little about which function is meant.
MAX_CALLS = 40
MAX_DECLARED = 3  # files that declare a name
MAX_TEXT, MAX_LENGTH = 160, 1_000  # shown of a line, in characters; longer ones are generated
# Languages that call each other's functions count as one.
FAMILY = {"typescript": "javascript", "cpp": "c", "kotlin": "java", "scala": "java"}
TYPES = r"((::)?<[^()]*>|\[[^()]*\])?"  # between the name and the arguments of a call
CALL = re.compile(rf"(?<!\w)(\w+[?!]?){TYPES} ?\(")
NO_CALL = re.compile(
    r"""\s*(?:#(?!\{)|//|/\*|\*|--\s|"{3}|'{3}|import\b|from\b|use\b|using\b|require\b)"""
)
COMMENT = re.compile(r"\s(?://|#)\s.*")  # at the end of a line
# Where a name is declared, also for git: after a keyword, as a constant, or before a block.
DECLARED = r"""
(^|[^A-Za-z0-9_])(def|class|func|function|fn|fun|interface|type|struct|enum|trait|record|object)
\*? +(\([^()]*\) *)?{names}([^A-Za-z0-9_]|$)
|^((export|pub|const|let|var|val|static|final) +)*{names}([ :][^=(]*)?=([^=]|$)
|[ :*&]{names} ?\([^()]*\)[^=(]*\{{$
""".replace("\n", "")
CONTROL = re.compile(r"[\s}]*(?:if|else|for|while|until|switch|match|return|await)\b")
MAX_FIRST = 12  # lines that are shown of a longer declaration than MAX_USED
MAX_SHOWN = 6_000  # characters of all declarations that a brief shows
INDEX = frozenset({"__init__", "index", "lib", "main", "mod"})  # files called by their folder
# The language of a function, or that of its family, and its name.
Key = tuple[str, str]


async def find_calls(
    repository: Repository, tree: str, functions: Iterable[tuple[str, str]]
) -> dict[Key, list[Call]]:
    """The calls of functions, which are given with the path of their file.

    Of a name that many files declare, only those in the file of the function: the others may call
    anything.
    """
    own = _files_of(functions)
    calls: dict[Key, list[Call]] = {key: [] for key in own}
    names = sorted({name for _, name in calls})
    globs = globs_of(family for family, _ in calls)
    patterns = (
        rf"(^|[^A-Za-z0-9_])({'|'.join(map(re.escape, names[n : n + MAX_NAMES]))}){TYPES} ?\("
        for n in range(0, len(names), MAX_NAMES)
    )
    declared: dict[Key, set[str]] = {key: set() for key in calls}
    matches = await run_all(*(repository.search(tree, pattern, globs) for pattern in patterns))
    for match in dict.fromkeys(chain.from_iterable(matches)):
        if len(match.text) > MAX_LENGTH or NO_CALL.match(match.text):
            continue
        # Most lines are declarations, and hiding secrets takes ten times as long as all else.
        keys = set[Key]()
        code = COMMENT.sub("", match.text)
        for place in CALL.finditer(code):
            key = _key(match.path, place[1])
            if key in calls and _declared(code, re.escape(place[1])):
                declared[key].add(match.path)
            elif key in calls:
                keys.add(key)
        if keys and classify(match.path) in ("source", "test"):
            call = Call(match.path, match.line, clipped(shown(match.text.strip()), MAX_TEXT))
            for key in keys:
                calls[key].append(call)
    return {
        key: [c for c in found if c.path in own[key] or len(declared[key]) <= MAX_DECLARED]
        for key, found in calls.items()
    }


async def find_used(
    repository: Repository, tree: str, excerpts: Sequence[Excerpt], project: Project
) -> dict[tuple[str, str], Passage]:
    """What one other file declares of what added lines use, by their path and the name.

    A name with two declarations says too little about which one is meant. So does a method, unless
    the file that calls it names its class or its file.
    """
    in_order = sorted(excerpts, key=lambda e: classify(e.file.path) == "test")
    uses = [(e.file.path, name) for e in in_order for name in e.used]
    places: dict[Key, set[tuple[str, int]]] = {_key(*use): set() for use in uses[:MAX_NAMES]}
    names = "|".join(sorted({name for _, name in places}))
    globs = globs_of(family for family, _ in places)
    pattern = DECLARED.format(names=f"({names})")
    for match in await repository.search(tree, pattern, globs) if places else ():
        if len(match.text) <= MAX_LENGTH and classify(match.path) == "source":
            for key in {_key(match.path, n) for n in _declared(match.text, names)} & {*places}:
                places[key].add((match.path, match.line))
    clear = {key: found.pop() for key, found in places.items() if len(found) == 1}
    texts = await repository.read_files(tree, {path for path, _ in clear.values()})
    outlines: dict[str, tuple[Outline, list[str]]] = {}
    for path, content in texts.items():
        text = shown(content.decode("utf-8", "replace"))
        outlines[path] = parse(path, text), list(map(clipped, text.split("\n")))
    used: dict[tuple[str, str], Passage] = {}
    for use in uses:
        path, line = clear.get(_key(*use), ("", 0))
        if path not in outlines:
            continue
        outline, rows = outlines[path]
        class_, file = innermost(outline.classes, line), PurePosixPath(path)
        owners = file.parent.name if file.stem in INDEX else file.stem, class_ and class_.name
        words = {*WORD.findall(project.head_texts.get(use[0]) or "")}
        if use[1][0] != "." or not words.isdisjoint(owners):
            head = {number: rows[number - 1] for number in _declaration(outline, rows, line)}
            lines = tuple(f"{number} {row}" for number, row in head.items())
            used[use] = Passage(path=path, old_path=path, heading="", head=head, rows=lines)
    return used


def _declared(line: str, names: str) -> set[str]:
    """What a line declares, among other words that are no names."""
    found = None if CONTROL.match(line) else re.search(DECLARED.format(names=f"({names})"), line)
    return {name for name in found.groups() if name} if found else set()


def _declaration(outline: Outline, rows: Sequence[str], line: int) -> range:
    """The lines of what is declared on a line: all of them, or the first; none if nothing is."""
    blocks = (*outline.functions, *outline.classes)
    if block := next((block for block in blocks if block.head_end == line), None):
        is_short = len(block.lines) <= MAX_USED
        return block.lines if is_short else range(block.head.start, block.head.start + MAX_FIRST)
    if CONSTANT.match(rows[line - 1]) or TYPE.match(rows[line - 1]):
        more = takewhile(INNER.match, rows[line : line + MAX_USED])
        return range(line, line + 1 + sum(1 for _ in more))
    return range(0)


def globs_of(families: Iterable[str]) -> list[str]:
    """Which files are of some languages and of those that call each other's functions."""
    wanted = {*families}
    return [
        f"*{ending}"
        for language in LANGUAGES
        if FAMILY.get(language, language) in wanted
        for ending in LANGUAGES[language][1].split()
        if ending.startswith(".")
    ]


def declared_for(
    uses: Collection[tuple[str, str]],
    used: Mapping[tuple[str, str], Passage],
    shown_lines: Collection[tuple[str, int]],
    elsewhere: Collection[str],
) -> tuple[Passage, ...]:
    """What one brief shows of what it uses, without what is shown anyway."""
    found, room, taken = list[Passage](), MAX_SHOWN, {*shown_lines}
    for passage in (passage for use, passage in used.items() if use in uses):
        size, lines = sum(map(len, passage.rows)), {(passage.path, line) for line in passage.head}
        if 0 < size <= room and not lines & taken and passage.path not in elsewhere:
            found.append(passage)
            taken |= lines
            room -= size
    return tuple(sorted(found, key=lambda passage: (passage.path, min(passage.head))))


def callers_of(
    functions: Iterable[tuple[str, str]],
    calls: Mapping[Key, Sequence[Call]],
    shown_lines: Collection[tuple[str, int]],
    elsewhere: Collection[str],
) -> tuple[Callers, ...]:
    """What one brief says of the calls of its functions.

    It leaves out lines that are shown anyway; `elsewhere` are files that other briefs are about.
    """
    callers: list[Callers] = []
    room = MAX_ALL
    for key, own in _files_of(functions).items():
        others = [call for call in calls.get(key, ()) if (call.path, call.line) not in shown_lines]
        if not room or not others:
            continue
        meant = [c for c in others if c.path in own or len(calls[key]) <= MAX_CALLS]
        meant.sort(key=lambda call: call.path not in own)
        tests = [call for call in meant if classify(call.path) == "test"]
        rest = [call for call in meant if classify(call.path) != "test"]
        first = tests[: max(MIN_TESTS, MAX_LISTED - len(rest))]
        listed = tuple([*first, *rest][: min(MAX_LISTED, room)])
        room -= len(listed) or 1
        listed = tuple(replace(c, line=None) if c.path in elsewhere else c for c in listed)
        callers.append(Callers(function=key[1], count=len(others), calls=listed))
    return tuple(callers)


def _files_of(functions: Iterable[tuple[str, str]]) -> dict[Key, set[str]]:
    """The files of functions, by what they are called."""
    files: dict[Key, set[str]] = {}
    for path, name in functions:
        files.setdefault(_key(path, name), set()).add(path)
    return files


def _key(path: str, name: str) -> Key:
    language = language_of(path) or ""
    return FAMILY.get(language, language), name.lstrip(".")
