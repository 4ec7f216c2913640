"""Where changed functions are called elsewhere in the repository, found by the look of lines."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.concurrency import run_all
from reviewbot.context.passages import clipped, shown
from reviewbot.git.repository import Repository
from reviewbot.text.files import LANGUAGES, classify, language_of

MAX_NAMES = 100  # of functions, in one search
MAX_LISTED, MIN_TESTS, MAX_ALL = 5, 2, 30  # calls of a function, in tests, and of all
# A name that is called more often says too little about which function is meant.
MAX_CALLS = 40
MAX_DECLARED = 3  # files that declare a name
MAX_TEXT = 160  # characters that are shown of a line
MAX_LENGTH = 1_000  # of a line; longer ones are generated
# Languages that call each other's functions count as one.
FAMILY = {"typescript": "javascript", "cpp": "c", "kotlin": "java", "scala": "java"}
CALL = re.compile(r"(?<!\w)(\w+[?!]?) ?\(")
NO_CALL = re.compile(r"\s*(?:#(?!\{)|//|/\*|\*|--\s|import\b|from\b|use\b|using\b|require\b)")
# A function is declared after a keyword, or after words alone if a block follows.
KEYWORD = re.compile(r"\b(?:def|func|function|fn|fun|class|struct)\b[^=]*$")
WORDS = re.compile(r"[\w\s<>\[\],*&:]*$")
BLOCK = re.compile(r"[^()]*\)[^=(]*\{\s*$")


class Call(Struct, frozen=True):
    """A line that calls a function.

    It has no number in a file that another brief is about: if lines move there, this brief stays
    the same, so that nothing about it is asked again.
    """

    path: str
    line: int | None
    text: str

    def __str__(self) -> str:
        return self.path if self.line is None else f"{self.path}:{self.line}"


class Callers(Struct, frozen=True, kw_only=True):
    """Who calls a changed function. Of `count` calls some are listed, tests first."""

    function: str
    count: int
    calls: tuple[Call, ...] = ()


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
    families = {family for family, _ in calls}
    globs = [
        f"*{ending}"
        for language in LANGUAGES
        if FAMILY.get(language, language) in families
        for ending in LANGUAGES[language][1].split()
        if ending.startswith(".")
    ]
    patterns = (
        rf"(^|[^A-Za-z0-9_])({'|'.join(map(re.escape, names[start : start + MAX_NAMES]))}) ?\("
        for start in range(0, len(names), MAX_NAMES)
    )
    declared: dict[Key, set[str]] = {key: set() for key in calls}
    matches = await run_all(*(repository.search(tree, pattern, globs) for pattern in patterns))
    for match in dict.fromkeys(chain.from_iterable(matches)):
        if len(match.text) > MAX_LENGTH or NO_CALL.match(match.text):
            continue
        # Most lines are declarations, and hiding secrets takes ten times as long as all else.
        keys = set[Key]()
        for place in CALL.finditer(match.text):
            key = _key(match.path, place[1])
            before, after = match.text[: place.start()], match.text[place.end() :]
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
        others = [call for call in calls[key] if (call.path, call.line) not in shown_lines]
        if not room or not others:
            continue
        is_common = len(calls[key]) > MAX_CALLS
        meant = [call for call in others if call.path in own or not is_common]
        listed = tuple(_tests_first(sorted(meant, key=lambda call: call.path not in own))[:room])
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


def _tests_first(calls: Sequence[Call]) -> list[Call]:
    tests = [call for call in calls if classify(call.path) == "test"]
    others = [call for call in calls if classify(call.path) != "test"]
    return [*tests[: max(MIN_TESTS, MAX_LISTED - len(others))], *others][:MAX_LISTED]
