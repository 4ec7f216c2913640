"""Where changed functions are called elsewhere in the repository, found by the look of lines."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.concurrency import run_all
from reviewbot.context.passages import clipped, shown
from reviewbot.git.repository import Match, Repository
from reviewbot.text.files import LANGUAGES, classify, language_of

MAX_NAMES = 100  # of functions, in one search
MAX_LISTED, MIN_TESTS, MAX_ALL = 5, 2, 30  # calls of a function, in tests, and of all
# A name that is called more often says too little about which function is meant.
MAX_CALLS = 40
MAX_TEXT = 160  # characters that are shown of a line
MAX_LENGTH = 1_000  # of a line; longer ones are generated
# Languages that call each other's functions.
FAMILIES: Sequence[tuple[str, ...]] = (
    ("javascript", "typescript"),
    ("c", "cpp"),
    ("java", "kotlin", "scala"),
)
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


# The language of a function, with those that call each other's functions, and its name.
Key = tuple[tuple[str, ...], str]


async def find_calls(
    repository: Repository, tree: str, functions: Iterable[tuple[str, str]]
) -> dict[Key, list[Call]]:
    """The calls of functions, which are given with the path of their file."""
    by_family: dict[tuple[str, ...], list[str]] = {}
    for family, name in dict.fromkeys(_key(*function) for function in functions):
        by_family.setdefault(family, []).append(name)
    searches = [
        (family, names[start : start + MAX_NAMES])
        for family, names in by_family.items()
        for start in range(0, len(names), MAX_NAMES)
    ]
    found = await run_all(*(_search(repository, tree, names, family) for family, names in searches))
    return {
        (family, name): calls
        for (family, _), by_name in zip(searches, found, strict=True)
        for name, calls in by_name.items()
    }


def callers_of(
    functions: Iterable[tuple[str, str]],
    calls: Mapping[Key, Sequence[Call]],
    shown_lines: Collection[tuple[str, int]],
    elsewhere: Collection[str],
) -> tuple[Callers, ...]:
    """What one brief says of the calls of its functions.

    Args:
        shown_lines: those that are shown anyway, by path and number.
        elsewhere: paths of files that other briefs are about.
    """
    callers: list[Callers] = []
    room = MAX_ALL
    for key in dict.fromkeys(_key(*function) for function in functions):
        others = [call for call in calls[key] if (call.path, call.line) not in shown_lines]
        if not room or not others:
            continue
        is_common = len(calls[key]) > MAX_CALLS
        listed = () if is_common else tuple(_tests_first(others)[:room])
        room -= len(listed) or 1
        listed = tuple(replace(c, line=None) if c.path in elsewhere else c for c in listed)
        callers.append(Callers(function=key[1], count=len(others), calls=listed))
    return tuple(callers)


def _key(path: str, name: str) -> Key:
    language = language_of(path) or ""
    return next((family for family in FAMILIES if language in family), (language,)), name


async def _search(
    repository: Repository, tree: str, names: Sequence[str], family: Sequence[str]
) -> dict[str, list[Call]]:
    endings = [ending for language in family for ending in LANGUAGES[language][1].split()]
    globs = [f"*{ending}" for ending in endings if ending.startswith(".")]
    any_name = "|".join(map(re.escape, names))
    called = re.compile(rf"(?<!\w)({any_name}) ?\(")
    calls: dict[str, list[Call]] = {name: [] for name in names}
    for match in await repository.search(tree, rf"(^|[^A-Za-z0-9_])({any_name}) ?\(", globs):
        if len(match.text) > MAX_LENGTH or NO_CALL.match(match.text):
            continue
        places = called.finditer(match.text)
        # Most lines are declarations, and hiding secrets takes ten times as long as all else.
        called_here = {place[1]: None for place in places if not _is_declaration(match, place)}
        if not called_here or classify(match.path) not in ("source", "test"):
            continue
        call = Call(match.path, match.line, clipped(shown(match.text.strip()), MAX_TEXT))
        for name in called_here:
            calls[name].append(call)
    return calls


def _is_declaration(match: Match, name: re.Match[str]) -> bool:
    before, after = match.text[: name.start()], match.text[name.end() :]
    return bool(
        KEYWORD.search(before)
        or (language_of(match.path) in TYPED and TYPE.match(before))
        or (MODIFIERS.match(before) and BLOCK.match(after))
    )


def _tests_first(calls: Sequence[Call]) -> list[Call]:
    tests = [call for call in calls if classify(call.path) == "test"]
    others = [call for call in calls if classify(call.path) != "test"]
    return [*tests[: max(MIN_TESTS, MAX_LISTED - len(others))], *others][:MAX_LISTED]
