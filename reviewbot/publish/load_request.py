"""The request document: what the trusted job that starts a review says of it. Its words direct attention, never the rules."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from reviewbot.domain.change import Revisions
from reviewbot.domain.dismissal import Dismissals
from reviewbot.domain.event import Source, Told
from reviewbot.domain.evidence import Category
from reviewbot.domain.history import Fate, History, Known
from reviewbot.domain.review import Conclusion, Verdict
from reviewbot.publish.document_dismissed import load_dismissals
from reviewbot.publish.node import Kind, Node, root

REQUEST = Kind("request document", "'reviewbot schema request' describes it", 24_000_000)
MOST_TITLE, MOST_FOCUS = 1_000, 10_000
"""Characters: of a pull request's title, and of what somebody asks to look at."""
MOST_TOLD, MOST_WHO, MOST_SAID = 200, 500, 8_000
"""What others said: how many, characters of who it was, and of the words."""
MOST_SEEN, MOST_KNOWN = 1_500, 1_000
"""Marks of what was seen, and findings of earlier reviews."""

_MARK = re.compile(r"[A-Za-z0-9_-]{1,40}", re.ASCII)
_ID = re.compile(r"F[1-9][0-9]{0,8}", re.ASCII)
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Request:
    """The change's title, what to look at above all, what others said of the change, what earlier reviews of the same pull
    request left behind, its number, and what its repository's file dismisses."""

    title: str = ""
    focus: str = ""
    background: tuple[Told, ...] = ()
    earlier: History = History()
    pull_request: int | None = None
    dismissals: Dismissals = Dismissals()


def load_request(text: str | bytes, about: Revisions) -> Request:
    """The request for a review of this change. Raises UsageError with the JSON path."""
    at = root(text, REQUEST).fields("schema_version title focus", later="target pull_request background earlier dismissals")
    at["schema_version"].version()
    if "target" in at:
        _expect(at["target"], about)
    return Request(
        _within(at["title"], MOST_TITLE),
        _within(at["focus"], MOST_FOCUS),
        background=_some(at["background"], _told, MOST_TOLD) if "background" in at else (),
        earlier=load_history(at["earlier"]) if "earlier" in at else History(),
        pull_request=at["pull_request"].maybe(Node.count) if "pull_request" in at else None,
        dismissals=load_dismissals(at["dismissals"]) if "dismissals" in at else Dismissals(),
    )


def load_history(node: Node) -> History:
    """What earlier reviews left behind. Raises UsageError with the JSON path."""
    at = node.fields("head base course seen conclusion verdict findings next_number whole")
    return History(
        head=at["head"].text(),
        base=at["base"].text(),
        course=at["course"].text(),
        seen=frozenset(_some(at["seen"], _mark, MOST_SEEN)),
        conclusion=at["conclusion"].maybe(lambda item: item.word(Conclusion)),
        verdict=at["verdict"].maybe(lambda item: item.word(Verdict)),
        findings=_some(at["findings"], _known, MOST_KNOWN),
        next_number=at["next_number"].count(),
        whole=at["whole"].text(),
    )


def _known(node: Node) -> Known:
    at = node.fields(
        "id fingerprint path start_line line severity category title text rule fate reason by is_question is_proven grounds near "
        "probability"
    )
    return Known(
        id=_formed(at["id"], _ID, "F and a number"),
        fingerprint=at["fingerprint"].text(),
        path=at["path"].path_inside(),
        start_line=at["start_line"].count(),
        line=at["line"].count(),
        severity=at["severity"].severity(),
        category=at["category"].word(Category),
        title=at["title"].text(),
        text=at["text"].text(),
        rule=at["rule"].maybe(Node.text),
        fate=at["fate"].word(Fate),
        reason=at["reason"].text(),
        by=at["by"].text(),
        is_question=at["is_question"].truth(),
        is_proven=at["is_proven"].truth(),
        grounds=at["grounds"].texts(),
        near=at["near"].text(),
        probability=at["probability"].probability(),
    )


def _told(node: Node) -> Told:
    at = node.fields("source who text")
    return Told(at["source"].word(Source), _within(at["who"], MOST_WHO), _within(at["text"], MOST_SAID))


def _expect(node: Node, about: Revisions) -> None:
    at = node.fields("base head")
    if (at["base"].text(), at["head"].text()) != (about.base, about.head):
        raise node.wrong("it is about another change")


def _mark(node: Node) -> str:
    return _formed(node, _MARK, "a mark")


def _formed(node: Node, form: re.Pattern[str], wanted: str) -> str:
    if not form.fullmatch(node.text()):
        raise node.wrong(f"{wanted} is expected")
    return node.text()


def _some(node: Node, read: Callable[[Node], _Value], most: int) -> tuple[_Value, ...]:
    """A list that is not too long."""
    if isinstance(node.value, list) and len(node.value) > most:
        raise node.wrong(f"at most {most:,} are expected")
    return node.each(read)


def _within(node: Node, most: int) -> str:
    if len(node.text()) > most:
        raise node.wrong(f"at most {most:,} characters are expected")
    return node.text()
