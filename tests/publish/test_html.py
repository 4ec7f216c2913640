"""The page: self-contained, inert, and with the whole debate in it."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings

from reviewbot.publish import html
from tests.publish import samples
from tests.publish.test_sanitise import ANYTHING
from tests.rings import examples

TAGS = frozenset(
    {"html", "head", "meta", "title", "style", "body", "main", "header", "footer", "article", "h1", "h2", "h3", "h4", "p", "a"}
    | {"code", "pre", "span", "strong", "i", "b", "br", "div", "dl", "dt", "dd", "ol", "ul", "li", "details", "summary"}
    | {"table", "thead", "tbody", "tr", "th", "td"}
)
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "class", "id", "href", "style", "role", "aria-label", "open"}


class Page(HTMLParser):
    """Which tags, attributes, anchors and words a page has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self.comments: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.words += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def of(self, name: str) -> list[str | None]:
        return [value for key, value in self.attributes if key == name]


def check(text: str) -> Page:
    assert text.startswith("<!doctype html>")
    page = Page(text)
    assert set(page.tags) <= TAGS
    assert {name for name, _ in page.attributes} <= ATTRIBUTES
    assert page.comments == []
    assert all(link and link.startswith("#") and link[1:] in page.of("id") for link in page.of("href"))
    assert len(page.of("id")) == len(set(page.of("id")))
    assert all(re.fullmatch(r"width: \d{1,3}%", style or "") for style in page.of("style"))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202e\ud800-\udfff]", text)
    assert not re.search(r"(?m)^\s*::|##\[", text)
    return page


@pytest.mark.parametrize("name", samples.REVIEWS)
def test_a_page_asks_for_nothing_and_runs_nothing(name: str) -> None:
    text = html.render(samples.REVIEWS[name])
    check(text)
    assert "default-src 'none'; style-src 'unsafe-inline'" in text
    assert "url(" not in text
    assert "@import" not in text


@pytest.mark.ci
@settings(max_examples=examples(40))
@given(ANYTHING)
def test_no_words_become_markup(text: str) -> None:
    finding = replace(samples.OFF_BY_ONE, id="F1", path=text, title=text, body=text, rule=text, raised_by=(text,), dissent=text)
    page = check(html.render(replace(samples.FULL, findings=(finding,), notes=(text,), repository=text, run_id=text)))
    assert "F1" in page.words


def test_the_whole_debate_is_in_it() -> None:
    page = check(html.render(samples.FULL))
    for words in (
        "Changes requested",
        "2 findings · 1 question",
        "Against it: None left.",
        "no answer in 120 s",
        "rounds used",
        "A name shadows a builtin",
        "only the first 2,000 lines fit the budget",
        "timed out in round 2",
        "mypy was not found",
        "$0.0432",
        "optimizer 90%",
    ):
        assert words in page.words


def test_a_citation_leads_to_its_evidence() -> None:
    page = check(html.render(samples.FULL))
    assert "#E1" in page.of("href")
    assert "E1" in page.of("id")


def test_it_reads_in_the_dark_and_on_a_phone() -> None:
    text = html.render(samples.CLEAN)
    assert "prefers-color-scheme: dark" in text
    assert "width=device-width" in text


def test_a_review_that_did_not_happen_is_no_pass() -> None:
    page = check(html.render(samples.NOT_REVIEWED))
    assert "NOT REVIEWED" in page.words
    assert "0 findings" not in page.words
