"""Whoever follows a link of a page arrives: at a file that is there, and at a heading that it has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.docs.pages import TOP, name_of, pages

SOURCE = re.compile(r'(?:src|srcset|href)="([^"]+)"')
ALSO = (TOP / ".github" / "SECURITY.md", TOP / ".github" / "CONTRIBUTING.md", TOP / "benchmarks" / "README.md")


def links(page: Path) -> list[str]:
    """Where a page points to, without addresses of other hosts."""
    found = []
    for token in _all(MarkdownIt().enable("table").parse(page.read_text(encoding="utf-8"))):
        if token.type == "link_open":
            found.append(str(token.attrs["href"]))
        elif token.type == "image":
            found.append(str(token.attrs["src"]))
        elif token.type in ("html_block", "html_inline"):
            found += SOURCE.findall(token.content)
    return [link for link in found if "://" not in link]


def _all(tokens: list[Token]) -> list[Token]:
    return [one for token in tokens for one in (token, *_all(token.children or []))]


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*pages(), *ALSO], ids=name_of)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    lost = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(link)
    assert lost == []


def test_the_index_names_every_page() -> None:
    index = TOP / "docs" / "README.md"
    told = {(index.parent / link.partition("#")[0]).resolve() for link in links(index)}
    assert set(pages()) - told == {index}


MOST_LINES = 130
LONG = {
    "README.md": 300,
    "docs/benchmarks.md": 260,
    "docs/commands.md": 2_000,
    "docs/configuration.md": 150,
    "docs/extending.md": 330,
    "docs/github.md": 165,
    "docs/hooks.md": 140,
}
"""Pages that may be longer: the way in, those that are looked up and not read, one that shows a whole package, and tables that a program writes."""


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_a_page_is_short(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8").splitlines()) <= LONG.get(name_of(page), MOST_LINES)
