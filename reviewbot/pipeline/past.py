"""What earlier reviews of the same pull request leave to be looked at, and what this one leaves to the next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from reviewbot.changeset import excerpt
from reviewbot.consensus import seen
from reviewbot.consensus.look import Look
from reviewbot.domain.change import ChangeSet, Contents, FileChange
from reviewbot.domain.dismissal import FILE, Dismissals
from reviewbot.domain.event import ReviewRequest
from reviewbot.domain.evidence import Evidence, EvidenceKind, EvidenceStatus, Ledger
from reviewbot.domain.history import History
from reviewbot.domain.review import Conclusion, Footprint, RangeMode
from reviewbot.pipeline.material import Chosen

SHOWS_ITS_PLACE = frozenset(
    {EvidenceKind.TEST, EvidenceKind.LINT, EvidenceKind.API, EvidenceKind.SECRET, EvidenceKind.UNICODE, EvidenceKind.MARKER}
)
"""Checks whose new results bring a place that was seen before the panel again: what is said of whole regions does not."""

MOST_SHORT = 12
"""Characters of a commit's id in a note."""


@dataclass(frozen=True, slots=True)
class Past:
    """What was reviewed before. ``fresh`` is what of the change no review saw; ``is_kept``: there will be a next review, to which
    this one is history; ``is_known``: the same panel looked at what was seen; ``note`` says what the mode comes from;
    ``dismissals`` is what the repository remembers."""

    mode: RangeMode
    history: History
    fresh: tuple[FileChange, ...]
    course: str
    is_kept: bool
    is_known: bool
    note: str = ""
    dismissals: Dismissals = Dismissals()

    def shown(self, files: tuple[FileChange, ...], ledger: Ledger, names: Mapping[str, str]) -> tuple[FileChange, ...]:
        """What of the files in scope goes before the panel: what nobody saw, and where executed evidence is new."""
        if self.mode is RangeMode.FULL:
            return files
        news = (item for item in ledger.new() if self._is_news(item, names) and item.result.kind in SHOWS_ITS_PLACE)
        return seen.unseen(files, self.history.seen, again={(item.result.path, item.result.line) for item in news})

    def heard(self, ledger: Ledger, names: Mapping[str, str]) -> Ledger:
        """The evidence without what was new before, and is about lines that were seen."""
        if self.mode is RangeMode.FULL:
            return ledger
        return replace(ledger, items=tuple(item for item in ledger.items if self._matters(item, names)))

    def looked(
        self, change: ChangeSet, contents: Mapping[str, Contents], ledger: Ledger, *, told: Iterable[str] = (), whole: bool
    ) -> Look:
        """What this review looks at, with the texts of all files that findings are about: ``told`` are paths of this review's."""
        known = {one.path for one in self.history.findings} | set(told)
        paths = [file.path for file in change.files if {file.path, file.base_path} & known]
        heads = ((path, contents[path].head) for path in paths if path in contents)
        texts = {path: excerpt.shown_lines(head) for path, head in heads if head is not None}
        return Look(self.history, change.files, self.fresh, texts, ledger, is_whole=whole, is_known=self.is_known)

    def footprint(self, change: ChangeSet, ledger: Ledger, names: Mapping[str, str], *, whole: bool) -> Footprint:
        """What the next review must know of this one."""
        if not self.is_kept or change.revisions.is_audit:
            return Footprint()
        marks = sorted(seen.marks(change.files)) if whole else []
        results = sorted(set(seen.results(ledger, names).values())) if marks else []
        return Footprint(self.course, seen.whole(change.files), tuple((marks + results)[: seen.MOST_MARKS]))

    def _is_news(self, item: Evidence, names: Mapping[str, str]) -> bool:
        return seen.of_result(item.result, names) not in self.history.seen

    def _matters(self, item: Evidence, names: Mapping[str, str]) -> bool:
        line = item.result.line
        here = (file for file in self.fresh if file.path == item.result.path)
        old = item.status is not EvidenceStatus.NEW
        return old or self._is_news(item, names) or any(seen.touches(file, line, line) for file in here)


def past(request: ReviewRequest, chosen: Chosen, course: str) -> Past:
    """How much of a change is to be looked at. Where that is not sure: all of it. An audit looks at everything whose turn it is,
    and always leaves something to the next."""
    history, change = request.history.reopened(FILE), chosen.change
    if change.revisions.is_audit:
        whole = Past(RangeMode.FULL, history, chosen.shown, course, is_kept=True, is_known=True)
        return replace(whole, dismissals=request.dismissals)
    fresh = seen.unseen(change.files, history.seen) if history.seen else change.files
    is_kept = request.pull_request is not None
    is_known = _panel(course) == _panel(history.course)

    def made(mode: RangeMode, note: str = "") -> Past:
        return Past(mode, history, fresh, course, is_kept, is_known, note, request.dismissals)

    if not history.head:
        return made(RangeMode.FULL)
    since = history.head[:MOST_SHORT]
    if why := _unsure(request, course):
        return made(RangeMode.FULL, f"everything was looked at again: {why}")
    if not fresh and history.verdict is not None and seen.whole(change.files) == history.whole:
        return made(
            RangeMode.UNCHANGED,
            f"the change is what it was at {since}, whatever it stands on: nobody was asked, no check was run",
        )
    return made(
        RangeMode.INCREMENTAL, f"the panel was shown what no review had seen, up to {since}; checks ran over the whole change"
    )


def _unsure(request: ReviewRequest, course: str) -> str:
    """Why an earlier review says nothing about this one, empty where it does."""
    history = request.history
    if request.focus:
        return "somebody asked to look at something"
    if history.conclusion is not Conclusion.COMPLETE:
        return "the review before was not complete"
    if not history.course:
        return "somebody asked for it"
    if history.course != course:
        return "the panel, its options or the version of reviewbot are other ones"
    return "" if history.seen else "what was seen before is not known"


def _panel(course: str) -> str:
    """Who looks, of all that decides a review."""
    return course.partition(".")[0]
