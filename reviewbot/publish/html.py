"""A review as one self-contained page: no request leaves it, no script runs in it, the whole debate is in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from reviewbot.domain.review import Finding, Review
from reviewbot.publish import phases, phrases, plain, regression, repaired, spending, suggested

_CODE = re.compile(r"`([^`\n]+)`")
_ANCHOR = re.compile(r"[A-Z]\d{1,6}")
_LINE_COMMAND = re.compile(r"(?m)^([^\S\n]*):(?=:)")


def render(review: Review) -> str:
    """The page. Every word of the review passes ``plain.text`` and is escaped."""
    environment = page_environment()
    page = environment.get_template("page.html.j2").render(
        review=review,
        told=review.posted(),
        recorded=phrases.recorded(review),
        headline=phrases.headline(review),
        phases=phases,
        phrases=phrases,
        anchors=_anchors([item.id for item in review.evidence], "evidence"),
        places=_anchors([finding.id for finding in review.findings], "finding"),
        spending=spending,
        suggested=suggested,
        repaired=repaired,
        regression=regression,
        css=style_sheet(environment),
    )
    return finished(page)


def style_sheet(environment: Environment) -> Markup:
    """Our own, so it is trusted."""
    return Markup(environment.get_template("page.css").render())


def finished(page: str) -> str:
    """The page without anything that a build log would take for a command."""
    return _LINE_COMMAND.sub(r"\1&#58;", page.strip().replace("##[", "#&#35;[")) + "\n"


def page_environment() -> Environment:
    """Where templates are: everything they print is screened and escaped."""
    environment = Environment(
        loader=PackageLoader("reviewbot.publish", ""),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(prose=_prose, percent=phrases.percent, meant=_is_meant)
    return environment


def _shown(value: Any) -> Any:
    """What a template prints: texts are screened, markup that templates made is left alone."""
    return plain.text(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _prose(words: str) -> Markup:
    """Words with code between backticks as code."""
    parts = _CODE.split(plain.text(words))
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else escape(part) for index, part in enumerate(parts)
    )


def _is_meant(number: int, finding: Finding) -> bool:
    return finding.start_line <= number <= finding.line


def _anchors(ids: Iterable[str], kind: str) -> dict[str, str]:
    """Where in the page an item is: at its own id, unless that is no plain ``E2``."""
    return {name: name if _ANCHOR.fullmatch(name) else f"{kind}-{number}" for number, name in enumerate(ids)}
