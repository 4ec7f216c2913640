"""The request document: what the trusted job that starts a review says of it. Its words direct attention, never the rules."""

from __future__ import annotations

from dataclasses import dataclass

from reviewbot.domain.change import Revisions
from reviewbot.publish.node import Kind, Node, root

REQUEST = Kind("request document", "'reviewbot schema request' describes it", 1_000_000)
MOST_TITLE, MOST_FOCUS = 1_000, 10_000
"""Characters: of a pull request's title, and of what somebody asks to look at."""


@dataclass(frozen=True, slots=True)
class Request:
    """The change's title, and what to look at above all."""

    title: str = ""
    focus: str = ""


def load_request(text: str | bytes, about: Revisions) -> Request:
    """The request for a review of this change. Raises UsageError with the JSON path."""
    at = root(text, REQUEST).fields("schema_version title focus", later="target")
    at["schema_version"].version()
    if "target" in at:
        _expect(at["target"], about)
    return Request(_within(at["title"], MOST_TITLE), _within(at["focus"], MOST_FOCUS))


def _expect(node: Node, about: Revisions) -> None:
    at = node.fields("base head")
    if (at["base"].text(), at["head"].text()) != (about.base, about.head):
        raise node.wrong("it is about another change")


def _within(node: Node, most: int) -> str:
    if len(node.text()) > most:
        raise node.wrong(f"at most {most:,} characters are expected")
    return node.text()
