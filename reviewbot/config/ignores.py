"""What is not reported: inline ignores, and the patterns of `review.ignore`.

An inline ignore is `# reviewbot: ignore[rule] reason` at the end of a line, or alone above it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from reviewbot.errors import ConfigError
from reviewbot.text.files import LANGUAGES, classify, language_of


class InlineIgnore(Struct, frozen=True):
    """A comment in `comment_line` that asks not to report some rules for `line`, both from 1."""

    rules: tuple[str, ...]
    reason: str
    line: int
    comment_line: int


def find_ignores(path: str, text: str, *, complete: bool = True) -> tuple[InlineIgnore, ...]:
    """The ignores of a file that name rules and a reason, or those that do not.

    Lines are not parsed: what looks like a comment within a string counts, unless the string begins
    with it.
    """
    language = language_of(path)
    if "reviewbot:" not in text or language is None:
        return ()
    marks = "|".join(map(re.escape, LANGUAGES[language][0].split()))
    comment = re.compile(
        rf"""(?<![\w"'`])(?:{marks})[^\w\s"'`]*\s*reviewbot:\s*ignore\b(?:\[([^\]]*)\])?(.*)"""
    )
    ignores: list[InlineIgnore] = []
    for number, line in enumerate(text.split("\n"), 1):
        if marks and (match := comment.search(line)):
            rules = tuple(rule.strip() for rule in (match[1] or "").split(",") if rule.strip())
            reason = match[2].strip().removesuffix("*/").removesuffix("-->").strip()
            is_alone = not line[: match.start()].strip()
            if bool(rules and reason) is complete:
                ignores.append(InlineIgnore(rules, reason, number + is_alone, number))
    return tuple(ignores)


def find_incomplete(path: str, text: str) -> Iterator[str]:
    """Where an ignore does not count, and what it lacks. None in documentation or a string."""
    for found in find_ignores(path, text, complete=False):
        lacks = ["rules in brackets"] * (not found.rules) + ["a reason"] * (not found.reason)
        is_text = classify(path) == "documentation" or re.search(r"""["`]|'(?!\w)""", found.reason)
        if not is_text:
            yield f"{path}:{found.comment_line} (lacks {' and '.join(lacks)})"


def ignored(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Whether a path matches, as in a .gitignore at the root. Raises ConfigError.

    Unlike git, `!docs/keep` re-includes a file below an ignored `docs/`.
    """
    if not patterns:
        return lambda _: False
    from pathspec import GitIgnoreSpec  # its import takes as long as a whole review of a small file

    try:
        return GitIgnoreSpec.from_lines(patterns).match_file
    except ValueError as error:
        raise ConfigError(f"review.ignore: {error}") from error
