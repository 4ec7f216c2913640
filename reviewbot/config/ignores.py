"""What is not reported: inline ignores, and the patterns of `review.ignore`.

An inline ignore is `# reviewbot: ignore[rule] reason` at the end of a line, or alone above it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from reviewbot.errors import ConfigError
from reviewbot.text.files import LANGUAGES, language_of


class InlineIgnore(Struct, frozen=True):
    """A comment in `comment_line` that asks not to report some rules for `line`, both from 1."""

    rules: tuple[str, ...]
    reason: str
    line: int
    comment_line: int


def find_ignores(path: str, text: str) -> tuple[InlineIgnore, ...]:
    """The ignores of a file that name rules and a reason.

    Lines are not parsed: what looks like a comment within a string counts, unless the string begins
    with it.
    """
    language = language_of(path)
    if "reviewbot:" not in text or language is None:
        return ()
    marks = "|".join(map(re.escape, LANGUAGES[language][0].split()))
    comment = re.compile(
        rf"""(?<![\w"'`])(?:{marks})[^\w\s"'`]*\s*reviewbot:\s*ignore\[([^\]]*)\](.*)"""
    )
    ignores: list[InlineIgnore] = []
    for number, line in enumerate(text.split("\n"), 1):
        if marks and (match := comment.search(line)):
            rules = tuple(rule.strip() for rule in match[1].split(",") if rule.strip())
            reason = match[2].strip().removesuffix("*/").removesuffix("-->").strip()
            is_alone = not line[: match.start()].strip()
            if rules and reason:
                ignores.append(InlineIgnore(rules, reason, number + is_alone, number))
    return tuple(ignores)


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
