"""A review as a comment that a maintainer likes to read: the verdict, one table, each finding, and what was not seen.

GitHub refuses a body over 65,536 characters. The budget counts UTF-8 bytes, the largest of the ways in which it may count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from reviewbot.domain.debate import Position
from reviewbot.domain.evidence import Evidence
from reviewbot.domain.review import Finding, FindingStatus, Review
from reviewbot.publish import phrases, plain, regression, spending, suggested
from reviewbot.publish.phrases import Tone
from reviewbot.publish.sanitise import code_block, code_span, inline, markdown

MARKER = "<!-- reviewbot:summary v1 -->"
BUDGET_BYTES = 60_000

_TABLE_BYTES, _LIST_BYTES, _LEAST_BYTES = 12_000, 4_000, 400
_TITLE, _PROSE, _CODE = 200, 1_500, 2_500
_BAR = "\\|"
"""A bar inside a table's cell: rows are split before their cells are read, inside code too."""
_SIGNS = {Tone.GOOD: "✓", Tone.WARN: "●", Tone.BAD: "✗"}


def render(review: Review) -> str:
    """The comment. What does not fit is named, never silently dropped."""
    head, tail = "\n\n".join(_head(review)), "\n\n".join(_tail(review))
    evidence = {item.id: item for item in review.evidence}
    told = review.posted()
    room = BUDGET_BYTES - _size(head) - _size(tail) - _LEAST_BYTES
    details = _fitting((_finding(finding, review, evidence) for finding in told), room)
    parts = [head, *details]
    if left_out := len(told) - len(details):
        parts.append(f"**Left out for length:** the details of {left_out} of {len(told)} findings. The review document has all.")
    return plain.defuse("\n\n".join((*parts, tail))) + "\n"


def _head(review: Review) -> Iterator[str]:
    headline = phrases.headline(review)
    yield f"{MARKER}\n## {_SIGNS[headline.tone]} {headline.words}"
    facts = [f"**{phrases.counts(review)}**", phrases.wholeness(review)] if review.verdict else []
    yield " · ".join([*facts, inline(phrases.panel(review)), f"sandbox: {inline(review.sandbox)}"])
    if unseen := phrases.unseen(review):
        yield f"**NOT REVIEWED:** {len(unseen)} of the files in scope were not, or not wholly, seen; see below."
    if told := review.posted():
        yield _table(review, told)


def _table(review: Review, told: Sequence[Finding]) -> str:
    rows = _fitting((_row(finding, review) for finding in told), _TABLE_BYTES)
    if len(rows) < len(told):
        rows.append(f"| | | | **and {len(told) - len(rows)} more** | | |")
    return "\n".join(("| | severity | place | finding | proof | votes |", "|---|---|---|---|---|---|", *rows))


def _row(finding: Finding, review: Review) -> str:
    question = " (question)" if finding.status is FindingStatus.CONTESTED else ""
    cells = (
        inline(finding.id),
        finding.severity.label,
        code_span(phrases.place(finding), limit=_TITLE),
        inline(finding.title, limit=_TITLE) + question,
        phrases.proof_word(finding),
        _votes(finding, review),
    )
    return f"| {' | '.join(cell.replace('|', _BAR) for cell in cells)} |"


def _votes(finding: Finding, review: Review, *, at_length: bool = False) -> str:
    said = []
    for vote in phrases.votes(finding, review):
        number = "raised" if vote.raised else phrases.percent(vote.probability) if vote.probability is not None else ""
        said.append(f"{inline(vote.panelist, limit=40)} {vote.mark.value}" + (f" {number}" if at_length and number else ""))
    return ", ".join(said)


def _finding(finding: Finding, review: Review, evidence: dict[str, Evidence]) -> str:
    return "\n\n".join(part for part in _finding_parts(finding, review, evidence) if part)


def _finding_parts(finding: Finding, review: Review, evidence: dict[str, Evidence]) -> Iterator[str]:
    yield f"### {inline(finding.id)}: {inline(finding.title, limit=_TITLE)}"
    kind = [finding.severity.label, finding.category.value, phrases.percent(finding.probability)]
    kind += [phrases.status(finding)] if finding.status is not FindingStatus.ACCEPTED else []
    kind += ["there before the change"] if finding.pre_existing else []
    yield f"{code_span(phrases.place(finding), limit=_TITLE)} · {' · '.join(kind)}"
    yield _code(finding)
    yield _labelled("When", markdown(finding.failure_scenario, limit=_PROSE))
    yield _labelled("Then", markdown(finding.body, limit=_PROSE))
    yield _labelled("Proof", _proof(finding))
    yield _labelled("Votes", _votes(finding, review, at_length=True))
    yield _labelled("Dissent", inline(finding.dissent or "", limit=_PROSE))
    yield _suggestion(finding)
    yield _details("A regression test", _regression_test(finding))
    yield _details("Evidence and debate", "\n".join(_record(finding, evidence)))


def _labelled(label: str, words: str) -> str:
    if words.startswith(("- ", "```")):
        return f"**{label}:**\n\n{words}"
    return f"**{label}:** {words}" if words else ""


def _details(summary: str, words: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{words}\n\n</details>" if words else ""


def _code(finding: Finding) -> str:
    """Numbered lines, the lines meant marked with ``>``; the quote where no code is at hand."""
    if not finding.code:
        return code_block(finding.quote, limit=_CODE) if finding.quote.strip() else ""
    digits = len(str(finding.code[-1].number))
    rows = []
    for line in finding.code:
        mark = ">" if finding.start_line <= line.number <= finding.line else " "
        text = plain.text(line.text).replace("\n", " ")
        rows.append(f"{mark} {line.number:>{digits}} {'+' if line.changed else ' '} {text}".rstrip())
    return code_block("\n".join(rows), limit=_CODE)


def _suggestion(finding: Finding) -> str:
    """A draft as a diff: nothing that a button could commit."""
    rows = suggested.lines(finding)
    if not rows:
        return ""
    shown = code_block("\n".join(f"{row.mark}{row.text}" for row in rows), "diff", limit=_CODE)
    return f"**Suggestion ({suggested.LABEL})** instead of {suggested.place(finding)}:\n\n{shown}"


def _regression_test(finding: Finding) -> str:
    check = regression.test(finding)
    return f"{regression.LABEL}\n\n{code_block(check.source, limit=_CODE)}" if check else ""


def _proof(finding: Finding) -> str:
    if finding.check is None:
        return phrases.proof(finding)
    command = code_span(phrases.check(finding.check), limit=400)
    return f"{phrases.proof(finding)}: {command} ({phrases.outcome(finding.check)})"


def _record(finding: Finding, evidence: dict[str, Evidence]) -> Iterator[str]:
    for name in finding.evidence:
        if item := evidence.get(name):
            yield from _evidence(item)
    for position in finding.positions:
        yield from _position(position)
    yield f"- settled by {finding.settled_by.value}: {inline(finding.stop_reason)}"


def _evidence(item: Evidence) -> Iterator[str]:
    result = item.result
    rule = f" {code_span(result.rule, limit=80)}" if result.rule else ""
    place = code_span(phrases.spot(item), limit=_TITLE) or "the change"
    yield f"- {inline(item.id)}: {inline(result.tool, limit=80)}{rule} at {place} ({item.status.value})"
    if shown := (result.excerpt or result.message).strip():
        yield "\n".join(f"  {line}" for line in code_block(shown, limit=800).split("\n"))


def _position(position: Position) -> Iterator[str]:
    stance = f"{position.stance.value} at {phrases.percent(position.probability)}"
    yield f"- round {position.round}, {inline(position.panelist, limit=40)}: {stance}"
    for argument in position.arguments:
        cites = ", ".join(code_span(cite, limit=120) for cite in argument.evidence[:8])
        words = ". ".join(part for part in (inline(argument.claim), inline(argument.reasoning)) if part)
        yield f"  - {words or 'no words'}" + (f" ({cites})" if cites else "")


def _tail(review: Review) -> Iterator[str]:
    yield "---"
    if recorded := phrases.recorded(review):
        yield f"{len(recorded)} more recorded and not posted."
    coverage = f"**Coverage:** {phrases.coverage(review)}."
    unseen = [
        f"- {code_span(item.path, limit=_TITLE)}: {item.status.value}: {inline(item.reason or 'no reason given')}"
        for item in phrases.unseen(review)
    ]
    yield coverage
    if unseen:
        yield "**Not reviewed:**\n\n" + _list(unseen)
    if review.checks:
        yield "**Checks:** " + plain.shortened(", ".join(_checks(review)), _LIST_BYTES)
    if review.notes:
        yield "**Notes:**\n\n" + _list([f"- {inline(note)}" for note in review.notes])
    yield _details("Panel and cost", _panel(review))


def _checks(review: Review) -> Iterator[str]:
    for run in review.checks[:40]:
        state = ("failed" if run.failed else "passed") if run.ran else f"not run ({inline(run.reason, limit=120)})"
        yield f"{inline(run.name, limit=80)} {state}"


def _panel(review: Review) -> str:
    seats = [
        f"- {inline(entry.seat.name, limit=40)} ({code_span(entry.seat.model, limit=80)}): {entry.status.value}"
        + (f", {inline(entry.reason, limit=200)}" if entry.reason else "")
        for entry in review.attendance
    ]
    cost = f"{spending.total(review)} · {review.timing.seconds:.1f} s · reviewbot {code_span(review.tool_version)}"
    by_whom = [f"- {inline(share.title, limit=80)}: {spending.words(share.usage)}" for share in spending.shares(review)]
    ruled = [f"- moderator, {inline(decision)}" for decision in phrases.decisions(review)] if phrases.is_of_models(review) else []
    lists = [_list(rows) for rows in (seats, ruled) if rows]
    return "\n\n".join((*lists, phrases.LEGEND, cost, *([_list(by_whom)] if by_whom else [])))


def _list(lines: Sequence[str]) -> str:
    kept = _fitting(lines, _LIST_BYTES)
    more = [f"- and {len(lines) - len(kept)} more"] if len(kept) < len(lines) else []
    return "\n".join([*kept, *more])


def _fitting(parts: Iterable[str], room: int) -> list[str]:
    """Which parts fit into ``room`` bytes, in order; one that is too long gives its place to later ones, while there is room."""
    kept = []
    for part in parts:
        if (size := _size(part) + 2) <= room:
            kept.append(part)
            room -= size
        if room < _LEAST_BYTES:
            break
    return kept


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
