"""Names of files: whether one is what it looks like, on every file system, and what others it could be taken for."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache

from reviewbot.screen import hidden

LONGEST_PART, LONGEST = 255, 1_024
"""Bytes of a name between slashes (ext4, APFS, NTFS), and of a whole path, far enough below PATH_MAX for any folder above it."""

_IGNORABLE = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
"""Characters that HFS+ leaves out when it compares names, and the other default ignorable ones (Unicode, UAX #44)."""
_SHORT_NAME = re.compile(r"[^.]{1,8}~\d+(?:\..{0,3})?", re.DOTALL)
"""NTFS answers to ``GIT~1`` for ``.git``, and in the same way for every longer name."""
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?:\..*)?", re.IGNORECASE | re.DOTALL)
_DOUBLES = """
    aаɑα bƅЬь cсϲ dԁժ eеҽ gɡց hһհ iіıι jјϳ kкκ lӏ mм nոп oоοօ pрρ qԛ rг sѕ tтτ uυս vѵν wԝѡ xхχ yуүγʏ /∕⁄⧸ .․ -‐‑‒–—− ~∼
"""
"""The letter that is meant, and those of other scripts that look like it (after https://www.unicode.org/reports/tr39/)."""
_SIMPLE = {ord(double): letters[0] for letters in _DOUBLES.split() for double in letters[1:]}

_RUNNERS = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "coverage", "hypothesis", "ruff", "mypy", "packaging"})
"""Packages that run or hold up the checks of a candidate. A module of that name in the tree could speak for them."""


def faults(path: str) -> Iterator[str]:
    """Why a name is not what it looks like, or not the same everywhere."""
    if unicodedata.normalize("NFC", path) != path:
        yield "its name is not in Unicode's composed form (NFC)"
    if not path.isprintable() or _IGNORABLE.search(path) or any(hidden.find(path)):
        yield "its name has characters that are not seen, or are none"
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        yield "its name leads elsewhere"
    if any(mark in path for mark in "\\:"):
        yield "its name has a character that parts names on other systems"
    if any(part[-1:] in (".", " ") for part in parts if part not in (".", "..")):
        yield "its name ends with a dot or a blank, which Windows leaves out"
    if any(_SHORT_NAME.fullmatch(part) or _DEVICE.fullmatch(part) for part in parts):
        yield "its name means something else on Windows"
    raw = path.encode("utf-8", "surrogatepass")
    if len(raw) > LONGEST or any(len(part) > LONGEST_PART for part in raw.split(b"/")):
        yield "its name is longer than some file systems can hold"


def folded(path: str) -> tuple[str, ...]:
    """The parts of a path as the most careless reader takes them: without case, width, what is not seen, streams, and what
    Windows leaves out at the end; letters of other scripts as those they look like."""
    text = path.replace("\\", "/").lower()
    if not path.isascii():
        for _ in range(2):  # what is left out may have kept letters apart that are composed now
            text = unicodedata.normalize("NFKC", _IGNORABLE.sub("", text).casefold())
        text = text.translate(_SIMPLE).replace("i\u0307", "i")
    return tuple(part.partition(":")[0].rstrip(". ") or part for part in text.split("/"))


def lookalike(path: str, names: Iterable[str]) -> str | None:
    """A file or folder among ``names`` that a new file at ``path``, or a folder above it, could be taken for."""
    part = cache(folded)
    wanted = {tuple(step for name in above for step in part(name)): above for above in _ways(path)}
    for name in names:
        for known in _ways(name):
            mine = wanted.get(tuple(step for other in known for step in part(other)))
            if mine is not None and mine != known:
                return "/".join(known)
    return None


def shadowed(path: str, names: Iterable[str]) -> str | None:
    """The module that Python would no longer find, or find elsewhere, with a new file at ``path``: one of the standard library,
    or of what runs tests. Inside of a package, where modules have longer names, there is none."""
    *folders, name = path.split("/")
    stem, _, ending = name.partition(".")
    if ending not in ("py", "pyi", "so", "pyd", "pyc"):
        return None
    if stem == "__init__" and folders:
        stem = folders.pop()
    known = stem in _RUNNERS or stem in sys.stdlib_module_names
    inside = "/".join((*folders, "__init__.py"))
    return stem if known and not (folders and inside in set(names)) else None


def _ways(path: str) -> Iterator[tuple[str, ...]]:
    """A path and every folder above it, in parts."""
    parts = tuple(path.split("/"))
    return (parts[:depth] for depth in range(1, len(parts) + 1))
