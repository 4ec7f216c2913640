"""Inline ignores: `# reviewbot: ignore[rule] reason` at the end of a line, or alone above it."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator

from msgspec import Struct

from reviewbot.text.files import comment_marks, language_of


class InlineIgnore(Struct, frozen=True):
    """A comment that asks not to report some rules for a line.

    Attributes:
        rules: empty if `problem` says that there are none.
        line: the line it applies to, from 1.
        comment_line: the line where it stands.
        problem: why it ignores nothing, or "".
    """

    rules: tuple[str, ...]
    reason: str
    line: int
    comment_line: int
    problem: str = ""


# At the start of a comment, or after a second mark, as in `# type: x  # reviewbot: ignore[y] z`.
IGNORE = re.compile(r"(?:^|\s)[^\w\s`'\"]{1,4}\s*reviewbot:\s*ignore\b(?:\[([^\]]*)\])?(.*)")
COMMENT_END = re.compile(r"\s*(?:\*/|-->)\s*$")
NEEDS_SPACE = ("#", "--", ";")


def find_ignores(path: str, text: str) -> tuple[InlineIgnore, ...]:
    """The ignores of a file; those without rules or reason have a `problem`."""
    if "reviewbot:" not in text:
        return ()
    language = language_of(path)
    lines = text.split("\n")
    try:
        comments = list(
            _python_comments(text) if language == "python" else _comments(lines, language)
        )
    except (tokenize.TokenError, SyntaxError):
        comments = list(_comments(lines, language))
    matches = {number: (column, IGNORE.search(text)) for number, column, text in comments}
    found = {number: (column, match) for number, (column, match) in matches.items() if match}
    alone = {
        number for number, (column, _) in found.items() if not lines[number - 1][:column].strip()
    }
    ignores = []
    for number, (_, match) in found.items():
        line = number
        while line in alone:
            line += 1
        ignores.append(_ignore(match, line, number))
    return tuple(ignores)


def _ignore(match: re.Match[str], line: int, comment_line: int) -> InlineIgnore:
    rules = tuple(rule.strip() for rule in (match[1] or "").split(",") if rule.strip())
    reason = COMMENT_END.sub("", match[2]).strip()
    problem = ""
    if not rules:
        problem = "name the rules in brackets: reviewbot: ignore[rule] reason"
    elif not reason:
        problem = f"give a reason: reviewbot: ignore[{', '.join(rules)}] reason"
    return InlineIgnore(rules, reason, line, comment_line, problem)


def _python_comments(text: str) -> Iterator[tuple[int, int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield *token.start, token.string


def _comments(lines: list[str], language: str | None) -> Iterator[tuple[int, int, str]]:
    """(line, column, text) of the first comment of each line that mentions reviewbot.

    A line is read on its own: text in a string of several lines is taken for code.
    """
    marks = comment_marks(language)
    quotes = '"' if language == "rust" else "\"'`"  # 'a is a lifetime in Rust
    for number, line in enumerate(lines, 1):
        if marks and "reviewbot:" in line and (column := _comment(line, marks, quotes)) is not None:
            yield number, column, line[column:]


def _comment(line: str, marks: tuple[str, ...], quotes: str) -> int | None:
    quote = ""
    escaped = False
    for column, sign in enumerate(line):
        if escaped:
            escaped = False
        elif sign == "\\":
            escaped = True
        elif quote:
            quote = "" if sign == quote else quote
        elif mark := next((mark for mark in marks if line.startswith(mark, column)), ""):
            if mark not in NEEDS_SPACE or not line[:column] or line[column - 1].isspace():
                return column
        elif sign in quotes:
            quote = sign
    return None
