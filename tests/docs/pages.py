"""The pages, and their fenced blocks as a Markdown parser sees them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

TOP = Path(__file__).parents[2]
LANGUAGES = ("console", "text", "python", "yaml", "yml", "json", "toml", "sh")
"""What a block may be. Each is executed or held against something; a page may show nothing else."""

FILE = "# file: "
"""First line of a block that is written to a file of the page's scratch repository instead of being run."""


@dataclass(frozen=True)
class Block:
    """One fenced block. ``line`` is that of its first line of content; ``language`` is empty where it has none."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def file(self) -> str:
        """The name of the file that this block is; empty where it is none."""
        first = self.text.split("\n", 1)[0]
        return first.removeprefix(FILE).strip() if first.startswith(FILE) else ""


def pages() -> tuple[Path, ...]:
    """The README, and every page below ``docs/``."""
    return (TOP / "README.md", *sorted((TOP / "docs").rglob("*.md")))


def name_of(page: Path) -> str:
    """A page's name in tables and in what tests say."""
    return page.relative_to(TOP).as_posix()


def blocks(page: Path) -> tuple[Block, ...]:
    """All blocks of code of a page, in order; an indented one has no language."""
    found = []
    for token in MarkdownIt().parse(page.read_text(encoding="utf-8")):
        if token.type in ("fence", "code_block"):
            assert token.map is not None
            language = token.info.strip() if token.type == "fence" else ""
            found.append(Block(name_of(page), token.map[0] + (2 if token.type == "fence" else 1), language, token.content))
    return tuple(found)


def every_block(*languages: str) -> list[Block]:
    """The blocks of all pages in these languages, or in any."""
    return [block for page in pages() for block in blocks(page) if not languages or block.language in languages]
