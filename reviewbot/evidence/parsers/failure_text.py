"""What test runners say of a failure, in whatever format: bounded, and searched for its first sentence and its place."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from reviewbot.evidence.parsers.remark import Unreadable

MAX_BYTES = 34_000_000
"""Both streams of a job, as much of them as is kept."""
MAX_TEXT = 20_000
"""Characters of one trial's text. The head says what failed and the tail how it ended; the middle is left out."""
MAX_MESSAGE = 2_000
_PIECES = 2_000
_HALF = (MAX_TEXT - 100) // 2
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_PREAMBLE = re.compile(r"\(?(?:from function|in (?:test )?file) .*, line \d+|● Test suite failed to run")
"""What bats and jest say before they say why."""
_WORD = re.compile(r"\w")
_ENDINGS = (
    "py|pyx|js|mjs|cjs|jsx|ts|mts|cts|tsx|vue|svelte|go|rs|java|kt|kts|scala|groovy|clj|rb|php|pl|pm|t|lua|sh|bash|bats"
    "|c|h|cc|cpp|cxx|hh|hpp|cs|fs|m|mm|swift|zig|nim|hs|ml|ex|exs|erl|dart|sql|r|jl"
)
_PLACE = re.compile(
    rf"(?<![\w./\\@+~-])(?P<path>[\w./\\@+~-]*\w\.(?:{_ENDINGS})):(?P<line>\d{{1,9}})(?!\d)"
    r'|File "(?P<python>[^"\n]{1,500})", line (?P<python_line>\d{1,9})'
    r"|in (?:test )?file (?P<bats>[^,\n]{1,500}), line (?P<bats_line>\d{1,9})"
    r"|\bat (?P<perl>\S{1,500}) line (?P<perl_line>\d{1,9})"
)
_FOREIGN = re.compile(
    r"(?:^|/)(?:node_modules|site-packages|dist-packages|hostedtoolcache|pkg/mod)/"
    r"|^/usr/(?:local/)?(?:lib|share|go)/|^<|/lib/python\d"
    r"|(?:^|/)(?:testing/(?:testing|benchmark)|runtime/\w+|reflect/\w+|time/sleep)\.go$|(?:^|/)_testmain\.go$|^testing\.go$"
)
"""Files of a language or its libraries: a failure passes through them, but its reason is elsewhere."""


@dataclass(slots=True)
class Said:
    """Pieces of a text as they come. Of very many, the first and the last are kept."""

    pieces: list[str] = field(default_factory=list)

    def add(self, piece: str) -> None:
        """One piece more."""
        self.pieces.append(piece)
        if len(self.pieces) > 3 * _PIECES:
            self.pieces[_PIECES : 2 * _PIECES] = ["...\n"]

    def take(self, other: Said) -> None:
        """All pieces of another, which has none then."""
        for piece in other.pieces:
            self.add(piece)
        other.pieces.clear()

    def text(self) -> str:
        """All of it, without colours and NUL."""
        return plain("".join(self.pieces))


def decoded(data: bytes) -> str:
    """A report of lines as text, without byte order mark, colours and NUL; lines end in line feeds alone. Raises Unreadable."""
    if len(data) > MAX_BYTES:
        raise Unreadable(f"{len(data)} bytes are more than the {MAX_BYTES} that are read")
    return plain(data.decode("utf-8", "replace").removeprefix("\ufeff"))


def plain(text: str) -> str:
    """Text without colours and NUL, its lines ended by line feeds alone."""
    return _ESCAPES.sub("", text).replace("\0", "\ufffd").replace("\r\n", "\n")


def clipped(text: str) -> str:
    """The text as a trial keeps it: at most MAX_TEXT characters."""
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[:_HALF]}\n... {len(text) - 2 * _HALF} characters left out ...\n{text[-_HALF:]}"


def message(text: str) -> str:
    """The first line that says something, and the next one too where it ends in a colon; empty where none does."""
    lines = (line.strip() for line in text[:MAX_TEXT].splitlines())
    telling = (line for line in lines if _WORD.search(line) and not _PREAMBLE.match(line))
    first = next(telling, "")
    return (f"{first} {next(telling, '')}" if first.endswith(":") else first).rstrip()[:MAX_MESSAGE]


def place(text: str) -> tuple[str, int]:
    """The first file and line (1-based) named, those of libraries apart; empty and 0 where there is none."""
    for found in _PLACE.finditer(clipped(text)):
        path = next(word for name, word in found.groupdict().items() if word and not name.endswith("line"))
        line = next(word for name, word in found.groupdict().items() if word and name.endswith("line"))
        path = f"/{path.lstrip('/')}" if path.startswith("//") else path
        if not _FOREIGN.search(path) and int(line):
            return path.removeprefix("./"), int(line)
    return "", 0
