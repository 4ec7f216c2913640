"""The ready workflows of ``docs/workflows`` as they are shipped, and filled in: whose action runs, with which keys."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

from reviewbot.errors import UsageError

#: What is asked for by one word: the files that it takes.
SETS = {
    "review": ("review.yml",),
    "forks": ("review-collect.yml", "review-publish.yml"),
    "commands": ("commands.yml",),
    "autofix": ("autofix.yml",),
    "audit": ("audit.yml",),
}
#: A provider, and the repository's secret that holds its key. The Action's input is the secret's name in small letters.
SECRETS = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai": "OPENAI_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
}
PLACE = ".github/workflows"
PLACEHOLDER = f"OWNER/reviewbot@{'0' * 40}"
NAME_A_COMMIT = "name it as OWNER/REPO@COMMIT, with all 40 digits of a commit that you have looked at"
WIDTH = 128

_REFERENCE = re.compile(r"(?P<slug>[A-Za-z0-9][\w-]*/[\w.-]+)@(?P<commit>[0-9a-f]{40})")
_COPY_IT = re.compile(
    r"Copy (?:it|both) to \.github/workflows/.*? in place of OWNER and the zeros(?:\.|, and (?=set the repository))\s*"
)
_KEY_LINES = re.compile(r"(?P<indent>^ *)anthropic_api_key: .*\n(?: *\w+_api_key: .*\n)*", re.MULTILINE)
_EMPTY_WITH = re.compile(r"^(?P<indent> *)with:\n(?!(?P=indent) )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Action:
    """A reviewbot that GitHub can fetch: ``owner/name`` on a host, at one commit."""

    slug: str
    commit: str
    host: str = "github.com"

    def __str__(self) -> str:
        return f"{self.slug}@{self.commit}"

    @property
    def url(self) -> str:
        """Where git and pre-commit clone it from."""
        return f"https://{self.host}/{self.slug}"


def action(text: str) -> Action:
    """What was typed as ``OWNER/REPO@COMMIT``. A tag or a branch is refused: it may be moved. Raises UsageError."""
    found = _REFERENCE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{text.strip()[:80]!r} names no action at a commit", hint=NAME_A_COMMIT)
    if str(Action(found["slug"], found["commit"])) == PLACEHOLDER or not found["commit"].strip("0"):
        raise UsageError(f"{text.strip()[:80]!r} is a placeholder", hint=NAME_A_COMMIT)
    return Action(found["slug"], found["commit"])


def names(wanted: tuple[str, ...]) -> tuple[str, ...]:
    """The files of these words, in the order of the table."""
    return tuple(name for word, files in SETS.items() if word in wanted for name in files)


def filled(text: str, uses: Action | None, secrets: tuple[str, ...] | None, *, prepares_fixes: bool = False) -> str:
    """A shipped workflow as it is to be written.

    Without ``uses`` the placeholder stays, and so do the words that say so. ``secrets`` are providers whose keys are handed over,
    ``None`` leaves them as they are shipped. ``prepares_fixes``: the review also makes fixes, for a workflow that commits them.
    """
    if uses is not None:
        page = f"{uses.url}/blob/{uses.commit}/docs/github.md"
        text = _without_advice(text).replace(PLACEHOLDER, str(uses)).replace(" docs/github.md", f" {page}")
    if secrets is not None:
        text = _EMPTY_WITH.sub("", _KEY_LINES.sub(lambda block: _keys(block["indent"], secrets), text))
    if prepares_fixes:
        text = text.replace("          sarif_file: ${{ runner", "          autofix: suggest\n          sarif_file: ${{ runner", 1)
    return text


def shipped(name: str) -> str:
    """A workflow's text: inside the installed package, or of the source tree."""
    package = Path(__file__).parents[1]
    inside = package / "workflows"
    return ((inside if inside.is_dir() else package.parent / "docs" / "workflows") / name).read_text(encoding="utf-8")


def _keys(indent: str, secrets: tuple[str, ...]) -> str:
    """The lines that hand keys to the Action."""
    return "".join(f"{indent}{name.lower()}: ${{{{ secrets.{name} }}}}\n" for word, name in SECRETS.items() if word in secrets)


def _without_advice(text: str) -> str:
    """The comment at the top without the advice to copy it and to put something in."""
    lines = text.splitlines(keepends=True)
    head = next(number for number, line in enumerate(lines) if not line.startswith("#"))
    paragraphs = "".join(line.removeprefix("#").removeprefix(" ") for line in lines[:head]).split("\n\n")
    kept = [_COPY_IT.sub("", " ".join(paragraph.split())) for paragraph in paragraphs]
    wrapped = (textwrap.wrap(paragraph[:1].upper() + paragraph[1:], WIDTH) for paragraph in kept if paragraph)
    comment = "\n#\n".join("\n".join(f"# {line}" for line in paragraph) for paragraph in wrapped)
    return f"{comment}\n{''.join(lines[head:])}"
