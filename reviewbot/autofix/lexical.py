"""Tests of languages that are not parsed here, told by words. Less sure than a syntax tree, and on the careful side."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from reviewbot.autofix.content import Texts, quoted
from reviewbot.autofix.dialects import BY_ENDING, Dialect


@dataclass(frozen=True, slots=True)
class _Words:
    """What is found in a file: how often each test, how many assertions each has, and what keeps tests from being run."""

    tests: Counter[str]
    assertions: Counter[str]
    keeping: Counter[str]


def faults(texts: Texts, *, is_test: bool) -> Iterator[str]:
    """How the tests of a file are less than they were. ``is_test``: by its name it holds nothing else."""
    dialect = BY_ENDING.get("." + texts.path.rpartition(".")[2].lower())
    if dialect is None or not (is_test or dialect.among):
        return
    among = None if is_test else dialect.among
    old, new = _read(texts.old or "", dialect, among), _read(texts.new, dialect, among)
    for said in sorted(new.keeping - old.keeping):
        yield f"it brings {quoted(said)!r}, which keeps tests from being run or from failing"
    for name in sorted(old.tests - new.tests):
        yield f"it removes the test {quoted(name)!r}"
    for name, count in sorted(old.assertions.items()):
        left = new.assertions[name]
        if left < count and (not name or name in new.tests):
            yield f"it removes assertions from {quoted(name)!r}: {count} were there, {left} are left"


def _read(source: str, dialect: Dialect, among: re.Pattern[str] | None) -> _Words:
    bare = dialect.comment.sub(_without_comment, source)
    if among is not None:
        first = among.search(bare)
        bare = bare[first.start() :] if first else ""
    begins = [(0, ""), *((match.start(), _name(match)) for match in dialect.test.finditer(bare))]
    ends = [start for start, _ in begins[1:]] + [len(bare)]
    assertions: Counter[str] = Counter()
    for (start, name), end in zip(begins, ends, strict=True):
        assertions[name] += sum(1 for _ in dialect.asserting.finditer(bare, start, end))
    keeping = Counter("".join(match[0].split()) for match in dialect.keeping.finditer(bare))
    return _Words(Counter(name for _, name in begins if name), assertions, keeping)


def _name(match: re.Match[str]) -> str:
    return next((group for group in reversed(match.groups()) if group), match[0])


def _without_comment(match: re.Match[str]) -> str:
    """A comment is left out, and text of several lines; text on one line is kept, as names of tests are such."""
    kept = match["text"]
    if kept is not None and "\n" not in kept:
        return kept
    return ('""' if kept else " ") + "\n" * match[0].count("\n")
