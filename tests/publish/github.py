"""Markdown as GitHub reads it: HTML on, tables, strikethrough; and what it brings to life in the text of the result."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

_LIVE = {
    "mention": re.compile(r"(?<![\w`])@[A-Za-z0-9_-]"),
    "reference": re.compile(r"#\d"),
    "url": re.compile(r"(?:https?|ftp)://|www\.|mailto:|xmpp:", re.IGNORECASE),
    "email": re.compile(r"[\w.+-]+@[\w-]"),
    "issue": re.compile(r"\bGH-\d", re.IGNORECASE),
}
OWN_HTML = re.compile(
    r"<!-- reviewbot:summary v1 -->\n?|</?details>\n?|<details><summary>(?:Evidence and debate|A regression test|Panel and cost|The patch)</summary>\n?|</?summary>"
)


def parse(markdown: str) -> list[Token]:
    """All tokens, inline ones after their block."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    found = []
    for token in parser.parse(markdown):
        found.append(token)
        found.extend(token.children or [])
    return found


def texts(tokens: list[Token]) -> Iterator[str]:
    """Runs of text outside code and links, as a reader sees them: what mention and reference filters look at."""
    run, linked = "", False
    for token in tokens:
        if token.type in ("link_open", "link_close"):
            linked = token.type == "link_open"
        elif token.type in ("text", "text_special"):
            run += "" if linked else token.content
            continue
        elif token.type in ("em_open", "em_close", "strong_open", "strong_close", "s_open", "s_close"):
            continue
        yield run
        run = ""
    yield run


def dangers(markdown: str, hosts: frozenset[str], *, own_html: bool = False) -> list[str]:
    """Everything alive in a text that must be dead."""
    tokens = parse(markdown)
    found = [f"image {token.content}" for token in tokens if token.type == "image"]
    for token in tokens:
        if token.type in ("html_block", "html_inline") and not (own_html and OWN_HTML.fullmatch(token.content)):
            found.append(f"html {token.content!r}")
        if token.type == "link_open":
            address = str(token.attrGet("href"))
            if re.match(r"https://([^/?#]*)", address) is None or address.split("/")[2] not in hosts:
                found.append(f"link {address}")
    found += [f"{name} {run!r}" for run in texts(tokens) for name, pattern in _LIVE.items() if pattern.search(run)]
    found += [f"chat command {line!r}" for line in markdown.split("\n") if re.match(r"/[A-Za-z]", line)]
    found += [f"workflow command {line!r}" for line in markdown.split("\n") if line.lstrip().startswith("::") or "##[" in line]
    found += [f"control {ord(character):04x}" for character in markdown if ord(character) < 32 and character not in "\n\t"]
    found += [f"hidden {ord(character):04x}" for character in markdown if character in "\u200b\u202e\u2066\ufeff\u00ad\x7f\x9b"]
    return found
