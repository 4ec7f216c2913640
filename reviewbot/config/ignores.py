"""What is not reported: inline ignores, and the patterns of `review.ignore`.

An inline ignore is `# reviewbot: ignore[rule] reason` at the end of a line, or alone above it.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from msgspec import Struct

from reviewbot.errors import ConfigError
from reviewbot.text.files import LANGUAGES, language_of

MAX_PATTERN = 256


class InlineIgnore(Struct, frozen=True):
    """A comment in `comment_line` that asks not to report some rules for `line`, both from 1."""

    rules: tuple[str, ...]
    reason: str
    line: int
    comment_line: int


# At the start of a comment, or after a second mark, as in `# type: x  # reviewbot: ignore[y] z`.
IGNORE = re.compile(r"(?:^|\s)[^\w\s`'\"]{1,4}\s*reviewbot:\s*ignore\[([^\]]*)\](.*)")
NEEDS_SPACE = ("#", "--", ";")


def find_ignores(path: str, text: str) -> tuple[InlineIgnore, ...]:
    """The ignores of a file that name rules and a reason."""
    if "reviewbot:" not in text:
        return ()
    language = language_of(path)
    lines = text.split("\n")
    comments = list(_comments(lines, language))
    if language == "python":
        with suppress(tokenize.TokenError, SyntaxError):
            tokens = tokenize.generate_tokens(io.StringIO(text).readline)
            comments = [(*t.start, t.string) for t in tokens if t.type == tokenize.COMMENT]
    ignores: list[InlineIgnore] = []
    line_of: dict[int, int] = {}
    for number, column, comment in reversed(comments):
        if match := IGNORE.search(comment):
            rules = tuple(rule.strip() for rule in match[1].split(",") if rule.strip())
            reason = match[2].strip().removesuffix("*/").removesuffix("-->").strip()
            is_alone = not lines[number - 1][:column].strip()
            line_of[number] = line_of.get(number + 1, number + 1) if is_alone else number
            if rules and reason:
                ignores.append(InlineIgnore(rules, reason, line_of[number], number))
    return tuple(reversed(ignores))


def ignored(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Whether a path matches, as in a .gitignore at the root. Raises ConfigError.

    Unlike git, `!docs/keep` re-includes a file below an ignored `docs/`.
    """
    if not patterns:
        return lambda _: False
    from pathspec import GitIgnoreSpec  # its import takes as long as a whole review of a small file

    for pattern in patterns:
        if len(pattern) > MAX_PATTERN:
            raise ConfigError(f"A pattern of review.ignore is longer than {MAX_PATTERN} characters")
        parts = pattern.split("/")
        if parts[:-1].count("**") > 2 or any(part.count("*") > 3 for part in parts):
            # The regular expression takes time to the power of their number.
            raise ConfigError(f"The pattern {pattern!r} of review.ignore has too many wildcards")
    try:
        return GitIgnoreSpec.from_lines(patterns).match_file
    except ValueError as error:
        raise ConfigError(f"review.ignore: {error}") from error


def _comments(lines: list[str], language: str | None) -> Iterator[tuple[int, int, str]]:
    """(line, column, text) of the first comment, or "", of each line that mentions reviewbot.

    A line is read on its own: text in a string of several lines is taken for code.
    """
    marks = [
        rf"(?<!\S){mark}" if mark in NEEDS_SPACE else re.escape(mark)
        for mark in (LANGUAGES[language][0].split() if language else ())
    ]
    quotes = '"' if language == "rust" else "\"'`"  # 'a is a lifetime in Rust
    strings = [rf"{quote}(?:\\.|[^{quote}\\])*{quote}?" for quote in quotes]
    token = re.compile("|".join((r"\\.", *strings, f"({'|'.join(marks)})")))
    for number, line in enumerate(lines, 1):
        if marks and "reviewbot:" in line:
            column = next((match.start() for match in token.finditer(line) if match[1]), len(line))
            yield number, column, line[column:]
