"""A review as a comment that a maintainer likes to read: the verdict, one table, each finding, and what was not seen.

GitHub refuses a body over 65,536 characters. The budget counts UTF-8 bytes, the largest of the ways in which it may count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reviewbot.domain.counted import counted
from reviewbot.domain.dismissal import FILE
from reviewbot.domain.history import Known
from reviewbot.domain.review import Finding, FindingStatus, RangeMode, Review
from reviewbot.publish import markdown_repair, markers, phrases, plain, spending
from reviewbot.publish.markdown_finding import TITLE, code, details, draft, fitting, joined, kind, parts, size, votes
from reviewbot.publish.phrases import Tone
from reviewbot.publish.sanitise import code_span, inline

MARKER = markers.SUMMARY
BUDGET_BYTES = 60_000

_TABLE_BYTES, _LIST_BYTES, _SHORT_LIST_BYTES, _LEAST_BYTES = 12_000, 4_000, 2_000, 400
_FOR_FIXES = 3
"""A share of the room for details: what was made is told even where findings would fill all of it."""
_BAR = "\\|"
"""A bar inside a table's cell: rows are split before their cells are read, inside code too."""
_SIGNS = {Tone.GOOD: "✓", Tone.WARN: "●", Tone.BAD: "✗"}


@dataclass(frozen=True, slots=True)
class Story:
    """What a summary under a pull request says besides the review.

    ``state`` is the hidden line below the marker. ``on_lines`` are ids of findings whose details stand on their lines, ``why``
    says of the others why they do not. ``since`` is the head of the review before, empty where this is the first. ``fixed`` and
    ``dismissed`` are earlier findings. ``runs`` and ``cost_usd`` count all reviews of the pull request. ``short``: the table and
    the details are told elsewhere. ``fixes`` is safe Markdown about them.
    """

    state: str = ""
    on_lines: frozenset[str] = frozenset()
    why: tuple[tuple[str, str], ...] = ()
    since: str = ""
    fixed: tuple[Known, ...] = ()
    dismissed: tuple[Known, ...] = ()
    runs: int = 1
    cost_usd: float = 0.0
    paused_by: str = ""
    short: bool = False
    fixes: str = ""


ALONE = Story()
"""A review that is no pull request's, or its first."""

_RANGES = {
    RangeMode.FULL: "the whole change",
    RangeMode.INCREMENTAL: "what is new since {}",
    RangeMode.UNCHANGED: "nothing is new since {}",
}


def render(review: Review, story: Story = ALONE) -> str:
    """The comment. What does not fit is named, never silently dropped."""
    head, tail = joined(_head(review, story)), joined(_tail(review, story))
    told = () if story.short else tuple(finding for finding in review.posted() if finding.id not in story.on_lines)
    room = BUDGET_BYTES - size(head) - size(tail) - _LEAST_BYTES
    made = [] if story.short or story.fixes else markdown_repair.section(review, room // _FOR_FIXES)
    room -= sum(size(part) + 2 for part in made)
    shown = fitting(_findings(told, review, story), room)
    middle = [head, *shown]
    if left_out := len(told) - len(shown):
        middle.append(f"**Left out for length:** the details of {left_out} of {len(told)} findings. The review document has all.")
    return plain.defuse("\n\n".join((*middle, *made, tail))) + "\n"


def _head(review: Review, story: Story) -> Iterator[str]:
    headline = phrases.headline(review)
    opening = (MARKER, story.state) if story.state else (MARKER,)
    yield "\n".join((*opening, f"## {_SIGNS[headline.tone]} {headline.words}"))
    facts = [f"**{phrases.counts(review)}**", phrases.wholeness(review)] if review.verdict else []
    yield " · ".join([*facts, inline(phrases.panel(review)), f"sandbox: {inline(review.sandbox)}"])
    yield _range(review, story)
    if unseen := phrases.unseen(review):
        yield f"**NOT REVIEWED:** {len(unseen)} of the files in scope were not, or not wholly, seen; see below."
    if story.paused_by:
        yield f"Reviews are paused by {code_span(story.paused_by, limit=80)}."
    if (told := review.posted()) and not story.short:
        yield _table(review, told, is_later=bool(story.since))
    yield _earlier("Fixed", story.fixed)
    yield _earlier("Dismissed", story.dismissed)
    yield story.fixes
    if story.on_lines and not story.short:
        yield f"{len(story.on_lines)} of them {'is' if len(story.on_lines) == 1 else 'are'} told on the lines they are about."


def _range(review: Review, story: Story) -> str:
    """What of the change this review looked at; nothing where no pull request is reviewed."""
    if not story.state:
        return ""
    looked = _RANGES[review.range_mode].format(code_span(story.since[:10]) or "the last review")
    return f"Reviewed at {code_span(review.revisions.head[:10])}: {looked}."


def _earlier(label: str, known: Sequence[Known]) -> str:
    """Earlier findings that are no longer told."""
    rows = []
    for one in known:
        by = [f"{'in' if one.by == FILE else 'by'} {code_span(one.by, limit=80)}"] if one.by else []
        why = ": ".join([*by, *([inline(one.reason, limit=TITLE)] if one.reason else [])])
        rows.append(f"- {inline(one.id, limit=40)} {inline(one.title, limit=TITLE)}" + (f" ({why})" if why else ""))
    return f"**{label}:**\n\n{_list(rows, _SHORT_LIST_BYTES)}" if rows else ""


def _table(review: Review, told: Sequence[Finding], *, is_later: bool) -> str:
    rows = fitting((_row(finding, review, is_later=is_later) for finding in told), _TABLE_BYTES)
    if len(rows) < len(told):
        rows.append(f"| | | | **and {len(told) - len(rows)} more** | | |")
    return "\n".join(("| | severity | place | finding | proof | votes |", "|---|---|---|---|---|---|", *rows))


def _row(finding: Finding, review: Review, *, is_later: bool) -> str:
    question = " (question)" if finding.status is FindingStatus.CONTESTED else ""
    life = f" {finding.lifecycle.value}" if is_later else ""
    cells = (
        inline(finding.id) + life,
        finding.severity.label,
        code_span(phrases.place(finding), limit=TITLE),
        inline(finding.title, limit=TITLE) + question,
        phrases.proof_word(finding),
        votes(finding, review),
    )
    return f"| {' | '.join(cell.replace('|', _BAR) for cell in cells)} |"


def _findings(told: Sequence[Finding], review: Review, story: Story) -> Iterator[str]:
    """The findings at length."""
    evidence, why = {item.id: item for item in review.evidence}, dict(story.why)
    for finding in told:
        facts = [code_span(phrases.place(finding), limit=TITLE), kind(finding), why.get(finding.id, "")]
        title = f"### {inline(finding.id)}: {inline(finding.title, limit=TITLE)}"
        place = " · ".join(fact for fact in facts if fact)
        yield joined((title, place, code(finding), *parts(finding, review, evidence, fix=draft(finding))))


def _tail(review: Review, story: Story) -> Iterator[str]:
    yield "---"
    if recorded := phrases.recorded(review):
        yield f"{len(recorded)} more recorded and not posted."
    coverage = f"**Coverage:** {phrases.coverage(review)}."
    unseen = [
        f"- {code_span(item.path, limit=TITLE)}: {item.status.value}: {inline(item.reason or 'no reason given')}"
        for item in phrases.unseen(review)
    ]
    yield coverage
    if unseen:
        yield "**Not reviewed:**\n\n" + _list(unseen)
    if review.checks:
        yield "**Checks:** " + plain.shortened(", ".join(_checks(review)), _LIST_BYTES)
    if review.notes:
        yield "**Notes:**\n\n" + _list([f"- {inline(note)}" for note in review.notes])
    yield details("Panel and cost", _panel(review, story))


def _checks(review: Review) -> Iterator[str]:
    for run in review.checks[:40]:
        state = ("failed" if run.failed else "passed") if run.ran else f"not run ({inline(run.reason, limit=120)})"
        yield f"{inline(run.name, limit=80)} {state}"


def _panel(review: Review, story: Story) -> str:
    seats = [
        f"- {inline(entry.seat.name, limit=40)} ({code_span(entry.seat.model, limit=80)}): {entry.status.value}"
        + (f", {inline(entry.reason, limit=200)}" if entry.reason else "")
        for entry in review.attendance
    ]
    together = f"{spending.dollars(story.cost_usd)} in {counted(story.runs, 'review')} of this pull request"
    cost = f"{spending.total(review)} · {review.timing.seconds:.1f} s · reviewbot {code_span(review.tool_version)}"
    by_whom = [f"- {inline(share.title, limit=80)}: {spending.words(share.usage)}" for share in spending.shares(review)]
    ruled = [f"- moderator, {inline(decision)}" for decision in phrases.decisions(review)] if phrases.is_of_models(review) else []
    lists = [_list(rows) for rows in (seats, ruled) if rows]
    return joined((*lists, phrases.LEGEND, cost, _list(by_whom), together if story.state else ""))


def _list(lines: Sequence[str], room: int = _LIST_BYTES) -> str:
    kept = fitting(lines, room)
    more = [f"- and {len(lines) - len(kept)} more"] if len(kept) < len(lines) else []
    return "\n".join([*kept, *more])
