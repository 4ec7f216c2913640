"""Write what panelists read, and share a large change out among several briefs.

Calls of what changed are found in the whole repository, by the look of lines.
"""

import asyncio
import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count, groupby

from msgspec.structs import replace

from reviewbot.checks.project import Project
from reviewbot.concurrency import run_all
from reviewbot.context.brief import Brief, Call, Callers, Passage
from reviewbot.context.passages import Excerpt, Run, clipped, excerpt_of
from reviewbot.git.change import Change, describe
from reviewbot.git.repository import Repository
from reviewbot.text.files import LANGUAGES, classify, language_of
from reviewbot.text.secrets import shown

MAX_BRIEF = 90_000  # characters, about 30,000 tokens
RESERVED = 24_000  # of these, for calls, results of linters, and the frame of the prompt
# A portion that is filled so far ends where the content says so, at one of BORDERS places.
FILLED, BORDERS = 0.6, 4
MAX_INSTRUCTIONS, MAX_ALL_INSTRUCTIONS, MAX_DESCRIPTION = 6_000, 18_000, 6_000
ROW, HEADING = 5, 80  # characters of a row beside its text, of a passage beside path and heading

MAX_NAMES = 100  # of functions, in one search
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
# A function is declared after a keyword, or after words alone if a block follows.
KEYWORD = re.compile(r"\b(?:def|func|function|fn|fun|class|struct)\b[^=]*$")
WORDS = re.compile(r"[\w\s<>\[\],*&:]*$")
BLOCK = re.compile(r"[^()]*\)[^=(]*\{\s*$")
# The language of a function, or that of its family, and its name.
Key = tuple[str, str]


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
    if repository and change.head_tree:
        pieces = chain.from_iterable(portions)
        functions = ((piece.file.path, name) for piece in pieces for name, _ in piece.functions)
        calls = await find_calls(repository, change.head_tree, functions)
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
        shown_lines = {(p.path, line) for p in (*passages, *background) for line in p.head}
        elsewhere = {file.path for file in in_order} - {part.file.path for part in portion}
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


async def find_calls(
    repository: Repository, tree: str, functions: Iterable[tuple[str, str]]
) -> dict[Key, list[Call]]:
    """The calls of functions, which are given with the path of their file.

    Of a name that many files declare, only those in the file of the function are known to call it.
    """
    own = _files_of(functions)
    calls: dict[Key, list[Call]] = {key: [] for key in own}
    names = sorted({name for _, name in calls})
    families = {family for family, _ in calls}
    globs = [
        f"*{ending}"
        for language in LANGUAGES
        if FAMILY.get(language, language) in families
        for ending in LANGUAGES[language][1].split()
        if ending.startswith(".")
    ]
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
            before, after = code[: place.start()], code[place.end() :]
            is_declared = KEYWORD.search(before) or (WORDS.match(before) and BLOCK.match(after))
            if key in calls and is_declared:
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
    return FAMILY.get(language, language), name


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
        yield replace(excerpt, runs=part, functions=own)


def _cut(sizes: Sequence[int], borders: Sequence[bool], room: float) -> Iterator[tuple[int, int]]:
    """From where to before where each portion goes."""
    start = size = 0
    for number, (own, is_border) in enumerate(zip(sizes, borders, strict=True)):
        if number > start and (size + own > room or (is_border and size >= FILLED * room)):
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
