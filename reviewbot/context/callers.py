"""Where changed functions are called elsewhere in the repository, found by the look of lines."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from msgspec import Struct

from reviewbot.git.repository import Match, Repository
from reviewbot.text.files import LANGUAGES, classify, language_of
from reviewbot.text.hidden import visible
from reviewbot.text.secrets import redact

MAX_NAMES = 100  # functions of one brief
MAX_LINES, MIN_TESTS, MAX_ALL_LINES = 5, 2, 30  # of a function, and of all
# A name that is called more often says too little about which function is meant.
MAX_CALLS = 40
MAX_TEXT = 160  # characters that are shown of a line
MAX_LENGTH = 1_000  # of a line; longer ones are generated
# Languages that call each other's functions.
FAMILIES = (("javascript", "typescript"), ("c", "cpp"), ("java", "kotlin", "scala"))
NO_CALL = re.compile(r"\s*(?:#(?!\{)|//|/\*|\*|--\s|import\b|from\b|use\b|using\b|require\b)")
# What stands before the name where a function is declared: a keyword; a type, which is words but
# none that begins an expression; or modifiers, if a block follows.
KEYWORD = re.compile(r"\b(?:def|func|function|fn|fun|class|struct)\b[^=]*$")
TYPED = frozenset({"c", "cpp", "java", "csharp"})
TYPE = re.compile(
    r"\s*(?!(?:.*\s)?(?:return|new|throw|await|yield|else|case|co_\w+)\s)\w[\w\s<>\[\],.*&:?]*[\s*&]$"
)
MODIFIERS = re.compile(r"\s*(?:(?:async|static|get|set|public|private|protected)\s+)*$")
BLOCK = re.compile(r"[^()]*\)[^=(]*\{\s*$")


class Call(Struct, frozen=True):
    """A line that calls a function.

    Attributes:
        line: None in a file that another brief is about: if lines move there, this brief stays
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


async def find_callers(
    repository: Repository,
    tree: str,
    functions: Sequence[tuple[str, str]],
    shown: Collection[tuple[str, int]],
    elsewhere: Collection[str],
) -> tuple[Callers, ...]:
    """The calls of functions, which are given with the path of their file.

    Args:
        shown: lines that are shown anyway, by path and number.
        elsewhere: paths of files that other briefs are about.
    """
    by_family: dict[tuple[str, ...], list[str]] = {}
    for path, name in functions:
        names = by_family.setdefault(_family_of(path), [])
        if name not in names and len(names) < MAX_NAMES:
            names.append(name)
    callers: list[Callers] = []
    room = MAX_ALL_LINES
    for family, names in by_family.items():
        matches = await _search(repository, tree, names, family)
        for name in names:
            found = [match for match in matches if _calls(match, name)]
            others = [match for match in found if (match.path, match.line) not in shown]
            is_common = len(found) > MAX_CALLS
            listed = [] if is_common else _tests_first(others)[:room]
            room -= len(listed)
            if listed or is_common:
                calls = tuple(_call(match, match.path in elsewhere) for match in listed)
                callers.append(Callers(function=name, count=len(others), calls=calls))
    return tuple(callers)


def _family_of(path: str) -> tuple[str, ...]:
    language = language_of(path) or ""
    return next((family for family in FAMILIES if language in family), (language,))


async def _search(
    repository: Repository, tree: str, names: Sequence[str], family: Sequence[str]
) -> list[Match]:
    endings = [ending for language in family for ending in LANGUAGES[language][1].split()]
    pattern = rf"(^|[^A-Za-z0-9_])({'|'.join(map(re.escape, names))}) ?\("
    globs = [f"*{ending}" for ending in endings if ending.startswith(".")]
    return [
        match
        for match in await repository.search(tree, pattern, globs)
        if classify(match.path) in ("source", "test") and len(match.text) <= MAX_LENGTH
        if not NO_CALL.match(match.text)
    ]


def _calls(match: Match, name: str) -> bool:
    place = re.search(rf"(?<!\w){re.escape(name)} ?\(", match.text)
    if place is None:
        return False
    before, after = match.text[: place.start()], match.text[place.end() :]
    is_typed = language_of(match.path) in TYPED and TYPE.match(before)
    is_method = MODIFIERS.match(before) and BLOCK.match(after)
    return not (KEYWORD.search(before) or is_typed or is_method)


def _tests_first(calls: Sequence[Match]) -> list[Match]:
    tests = [match for match in calls if classify(match.path) == "test"]
    others = [match for match in calls if classify(match.path) != "test"]
    return [*tests[: max(MIN_TESTS, MAX_LINES - len(others))], *others][:MAX_LINES]


def _call(match: Match, is_elsewhere: bool) -> Call:
    text = visible(redact(match.text.strip())[0])[:MAX_TEXT]
    return Call(match.path, None if is_elsewhere else match.line, text)
