"""What stands in a file after a patch that did not stand there before: marks of a conflict, secrets, hidden characters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from reviewbot.screen import hidden, secrets, shown

MOST_TOLD = 60
"""Characters of a file that a reason quotes."""

_CONFLICT = re.compile(r"^(?:<{7}|>{7}|\|{7})(?=[ \t\r\n]|\Z)", re.MULTILINE)
"""``=======`` alone underlines headings in prose; in a conflict it has one of these beside it."""
_PLACEHOLDER = re.compile("«secret:|⟨U\\+|⟨\\d+ more characters⟩")
_LINE_END = re.compile(r"\r?\n")


@dataclass(frozen=True)
class Texts:
    """A file that a patch changes, before and after. ``old`` is ``None`` where it is new."""

    path: str
    old: str | None
    new: str

    @cached_property
    def fresh(self) -> str:
        """The lines that are there more often after the patch."""
        return _more(self.new, self.old or "")

    @cached_property
    def gone(self) -> str:
        """The lines that are there less often."""
        return _more(self.old or "", self.new)

    def more(self, pattern: re.Pattern[str]) -> Counter[str]:
        """What a pattern finds in lines more often after the patch, by its text without blanks."""
        return _found(pattern, self.fresh) - _found(pattern, self.gone)


def text(data: bytes) -> str | None:
    """A file's text, ``None`` where it is none."""
    try:
        return None if b"\0" in data else data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def quoted(said: str) -> str:
    """A piece of a file as it may be said to anybody."""
    line = " ".join(shown.text(said).split())
    return line if len(line) <= MOST_TOLD else f"{line[: MOST_TOLD - 1]}…"


def faults(texts: Texts) -> Iterator[str]:
    """What a patch may not bring into a file."""
    if texts.more(_CONFLICT):
        yield "it has marks of a merge that was not finished"
    if found := texts.more(_PLACEHOLDER):
        yield f"{min(found)!r} stands only where something is not shown: in a file it would replace what is there"
    if unseen := _hidden(texts.new) - _hidden(texts.old or ""):
        yield f"it brings a character that nobody sees (U+{min(unseen):04X})"
    if texts.old and _line_ends(texts.new) - _line_ends(texts.old):
        yield "it brings line ends that the file did not have"


def leaks(texts: Texts) -> Iterator[str]:
    """Secrets that a patch brings, by the name of their format."""
    for name, _ in sorted(_secrets(texts.new) - _secrets(texts.old or "")):
        yield f"it brings what looks like a secret ({name})"


def _more(one: str, other: str) -> str:
    left = Counter(one.split("\n")) - Counter(other.split("\n"))
    return "\n".join(left.elements())


def _found(pattern: re.Pattern[str], where: str) -> Counter[str]:
    return Counter("".join(match[0].split()) for match in pattern.finditer(where))


def _hidden(where: str) -> Counter[int]:
    return Counter(one.codepoint for one in hidden.find(where))


def _secrets(where: str) -> set[tuple[str, str]]:
    return {(secret.name, where[secret.start : secret.end]) for secret in secrets.find(where)}


def _line_ends(where: str) -> set[str]:
    return set(_LINE_END.findall(where))
