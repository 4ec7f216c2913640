"""What is not reported: dismissed findings, inline ignores, and the patterns of `review.ignore`.

An inline ignore is `# reviewbot: ignore[rule] reason` at the end of a line, or alone above it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from reviewbot.config.load import validate
from reviewbot.errors import ConfigError
from reviewbot.text.files import LANGUAGES, language_of

DISMISSALS = ".reviewbot/dismissed.yml"  # in a work tree
HEADER = """\
# Findings that reviewbot does not report again, and why. `reviewbot dismiss FINDING --reason TEXT`
# adds one, `reviewbot dismiss FINDING --undo` removes it. Entries count once they are in the base.
"""


class Dismissal(Struct, frozen=True, kw_only=True):
    """A finding that somebody dismissed, in `.reviewbot/dismissed.yml` or in the state.

    The key identifies it across commits, and copies those that were reported with it; title, path,
    person and date are for people.
    """

    key: Annotated[str, Meta(min_length=1)]
    reason: Annotated[str, Meta(min_length=1)]
    title: str = ""
    path: str = ""
    by: str = ""
    date: str = ""
    copies: tuple[str, ...] = ()


class InlineIgnore(Struct, frozen=True):
    """A comment in `comment_line` that asks not to report some rules for `line`, both from 1."""

    rules: tuple[str, ...]
    reason: str
    line: int
    comment_line: int


def read_dismissals(content: bytes, name: str) -> dict[str, Dismissal]:
    """The entries of a file by their keys. Raises ConfigError, with the line."""
    from reviewbot.config.yaml import read_yaml  # only where there is something to parse

    document = read_yaml(content, name, max_bytes=512 * 1024)
    kind = tuple[Dismissal, ...]
    entries = validate(document.value or [], kind, (), lambda key: f"{name}:{document.line(key)}")
    found = msgspec.convert(entries, kind)
    return {key: e for e in found for key in e.copies} | {e.key: e for e in found}


def write_dismissals(dismissals: Mapping[str, Dismissal]) -> bytes:
    """The file, sorted by path, so that two branches rarely write in one place."""
    lines = [HEADER]
    entries = (entry for key, entry in dismissals.items() if key == entry.key)
    for entry in sorted(entries, key=lambda entry: (entry.path, entry.key)):
        fields = {name: value for name, value in msgspec.structs.asdict(entry).items() if value}
        text = "".join(f"  {name}: {_quoted(value)}\n" for name, value in fields.items())
        lines.append(f"- {text[2:]}")
    return ("".join(lines) if dismissals else f"{HEADER}[]\n").encode()


def _quoted(text: str | tuple[str, ...]) -> str:
    """Scalars in double quotes (YAML 1.2 §7.3.1), which hold any text in one line."""
    if isinstance(text, tuple):
        return f"[{', '.join(map(_quoted, text))}]"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').encode("utf-8", "replace").decode()
    signs = (sign if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in escaped)
    return f'"{"".join(signs)}"'


def find_ignores(path: str, text: str) -> Iterator[InlineIgnore]:
    """The ignores of a file that name rules and a reason.

    Lines are not parsed: what looks like a comment in a string counts, unless it begins the string.
    """
    language = language_of(path)
    marks = LANGUAGES[language][0].split() if language else []
    if "reviewbot:" not in text or not marks:
        return
    comment = re.compile(
        rf"""(?<![\w"'`])(?:{"|".join(map(re.escape, marks))})[^\w\s"'`]{{0,20}}\s{{0,20}}"""
        r"reviewbot:\s*ignore\[([^\]]*)\](.*)"
    )
    for number, line in enumerate(text.split("\n"), 1):
        if match := comment.search(line):
            rules = tuple(rule.strip() for rule in match[1].split(",") if rule.strip())
            reason = match[2].strip().removesuffix("*/").removesuffix("-->").strip()
            is_alone = not line[: match.start()].strip()
            if rules and reason:
                yield InlineIgnore(rules, reason, number + is_alone, number)


def ignored(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Whether a path matches, as in a .gitignore at the root. Raises ConfigError.

    Unlike git, `!docs/keep` re-includes a file below an ignored `docs/`.
    """
    if not patterns:
        return lambda _: False
    from pathspec import GitIgnoreSpec  # its import takes as long as a whole review of a small file

    try:
        return GitIgnoreSpec.from_lines(patterns).match_file
    except (ValueError, re.error) as error:
        raise ConfigError(f"review.ignore: {error}") from error
