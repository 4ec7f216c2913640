"""The formats of a review: one visible table. A format's libraries are imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from reviewbot.domain.review import Review


@dataclass(frozen=True, slots=True)
class Rendering:
    """How a person reads: ``width`` in columns, with colours or without, ``verbose`` with the whole debate."""

    width: int = 100
    color: bool = False
    verbose: bool = False


def render(name: str, review: Review, view: Rendering) -> str:
    """The review in the format called ``name``, a key of FORMATS."""
    return FORMATS[name](review, view)


def _text(review: Review, view: Rendering) -> str:
    from reviewbot.publish import audit, plain, terminal

    if review.revisions.is_audit:
        told = terminal.render(audit.worst(review), width=view.width, color=view.color, verbose=view.verbose)
        return f"{plain.line(audit.opening(review))}\n\n{told}"
    return terminal.render(review, width=view.width, color=view.color, verbose=view.verbose)


def _json(review: Review, _view: Rendering) -> str:
    from reviewbot.publish import document

    return document.dumps(document.document(review))


def _markdown(review: Review, _view: Rendering) -> str:
    from reviewbot.publish import audit, markdown

    return audit.render(review) if review.revisions.is_audit else markdown.render(review)


def _sarif(review: Review, _view: Rendering) -> str:
    from reviewbot.publish import sarif

    return sarif.render(review)


def _html(review: Review, _view: Rendering) -> str:
    from reviewbot.publish import audit, html

    return html.render(audit.worst(review) if review.revisions.is_audit else review)


def _rdjson(review: Review, _view: Rendering) -> str:
    from reviewbot.publish import rdjson

    return rdjson.render(review)


FORMATS: Mapping[str, Callable[[Review, Rendering], str]] = MappingProxyType(
    {"text": _text, "json": _json, "markdown": _markdown, "sarif": _sarif, "html": _html, "rdjson": _rdjson}
)
