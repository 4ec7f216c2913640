"""What tools offer to mend what they found, without any model, and what shows that a finding is mended.

A format of reports is one file that reads its fixes, and a line in the table of ``sources``. A fix is taken as the tool gives it,
to the byte; nothing of it is tried here.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType

from reviewbot.evidence.fixers import consequences, pairing, sources
from reviewbot.evidence.fixers.news import Reporter
from reviewbot.evidence.fixers.pairing import Report, Wanted
from reviewbot.evidence.fixers.sources import Inquiry
from reviewbot.evidence.fixers.task import shows, wanted
from reviewbot.evidence.fixers.text import Text
from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.evidence.view import CheckOptions, View
from reviewbot.ports import Job, Outcome, Proposal

__all__ = ["Offered", "Wanted", "offered", "propose", "shows", "wanted"]

_Asked = Generator[tuple[Job, ...], tuple[Outcome, ...], "Offered"]


@dataclass(frozen=True, slots=True)
class Offered:
    """What tools propose by the id of a finding, and why some of them do not tell."""

    proposals: Mapping[str, tuple[Proposal, ...]] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()


def propose(
    wanted: Sequence[Wanted], view: View, options: CheckOptions
) -> Generator[tuple[Job, ...], tuple[Outcome, ...], Mapping[str, tuple[Proposal, ...]]]:
    """What tools propose for findings, by their ids. A finding with a place that no tool mends gets nothing."""
    made = yield from offered(wanted, view, options)
    return made.proposals


def offered(wanted: Sequence[Wanted], view: View, options: CheckOptions) -> _Asked:
    """The same, and what could not be asked. Every tool that found something is run once more, however much it found."""
    asked = tuple(inquiry for inquiry in sources.inquiries(wanted, view, options) if inquiry.jobs)
    if not asked:
        return Offered()
    outcomes = yield tuple(job for inquiry in asked for job in inquiry.jobs)
    reports: list[Report] = []
    notes: list[str] = []
    for inquiry, mine in _shared(asked, outcomes):
        try:
            reports.append(inquiry.report(mine))
        except Unreadable as exc:
            notes.append(f"{inquiry.tool} offers no fixes: {exc}")
    texts = _texts(wanted, view)
    made = pairing.proposals(wanted, reports, texts)
    before = tuple(report for report in reports if report.tool == consequences.AUTHOR)
    made = yield from consequences.followed(made, wanted, Reporter(view, options, texts, before))
    return Offered(made, tuple(dict.fromkeys(notes)))


def _shared(asked: Sequence[Inquiry], outcomes: Sequence[Outcome]) -> list[tuple[Inquiry, tuple[Outcome, ...]]]:
    """Each inquiry with the outcomes of its jobs."""
    rest = iter(outcomes)
    return [(inquiry, tuple(next(rest) for _ in inquiry.jobs)) for inquiry in asked]


def _texts(wanted: Sequence[Wanted], view: View) -> Mapping[str, Text]:
    """The files that findings are about, as far as they are text."""
    paths = {place.path for place in wanted}
    found: dict[str, Text] = {}
    for file in view.files:
        head = view.contents_of(file).head if file.head_path in paths else None
        if head is not None:
            with suppress(UnicodeDecodeError):
                found[file.path] = Text(head)
    return found
