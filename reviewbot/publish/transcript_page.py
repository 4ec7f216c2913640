"""A whole debate as one self-contained page: who was asked what and said what, and what each answer cost."""

from __future__ import annotations

from reviewbot.publish import html, repaired, spending
from reviewbot.publish.debate_record import DebateRecord, looks
from reviewbot.publish.transcript_repair import words_of


def render(record: DebateRecord) -> str:
    """The page. Every word of the record passes ``plain.text`` and is escaped."""
    environment = html.page_environment()
    page = environment.get_template("transcript.html.j2").render(
        record=record,
        before=record.seen_before(),
        looks=looks,
        spending=spending,
        repaired=repaired,
        words_of=words_of,
        css=html.style_sheet(environment),
    )
    return html.finished(page)
