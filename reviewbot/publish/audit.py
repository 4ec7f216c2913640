"""An audit as the body of one issue, edited in place: what differs from the last audit first, then all of it, worst first.

What the next audit must know stands in two hidden lines below the marker: the findings (``publish.state``), and when each file
was read. Like every marker they are believed only in what we wrote ourselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from reviewbot.domain.audit import FILE_MARK, FINDING_MARK, AuditMemory, Comparison, Rotation
from reviewbot.domain.change import Coverage
from reviewbot.domain.history import PullMemory
from reviewbot.domain.review import Finding, FindingStatus, Lifecycle, Review
from reviewbot.publish import markers, phrases, plain, spending, state
from reviewbot.publish.markdown_finding import TITLE, code, draft, fitting, joined, kind, parts, size
from reviewbot.publish.sanitise import code_span, inline

MARKER = "<!-- reviewbot:audit v1 -->"
ISSUE_TITLE = "Audit of the whole tree by reviewbot"
BUDGET_BYTES = 60_000
MOST_TOLD = 50
"""Findings that a person is told, worst first; the others are in the review document [design]."""

MOST_READ, MOST_MARKS = 3_000, 600
"""Files and findings that the lines remember in an issue: 17,000 characters, as the body wants the rest."""

_TABLE_BYTES, _LIST_BYTES, _LEAST_BYTES = 9_000, 3_000, 400
_BEYOND = f"beyond the worst {MOST_TOLD} that an audit tells"
_NOTE = "audit: "
_LINE = re.compile(r"<!-- reviewbot:audited v1 at=([0-9]{1,12}) told=([A-Za-z0-9._]*) read=([A-Za-z0-9._:,]*) -->")
_GROUP = re.compile(rf"([0-9]{{1,12}}):((?:[A-Za-z0-9._]{{{FILE_MARK}}})+)")
_BAR = "\\|"


def note(comparison: Comparison) -> str:
    """What differs from the last audit, in one line for every format."""
    found = len(comparison.new) + len(comparison.standing)
    if not comparison.since:
        return f"{_NOTE}no earlier one is remembered to compare with; {found} found"
    counted = f"{len(comparison.new)} new, {len(comparison.standing)} still there, {len(comparison.gone)} gone"
    return f"{_NOTE}since the last one, of {comparison.since[:10]}: {counted}"


def opening(review: Review) -> str:
    """The note of an audit's review, empty where it has none."""
    return next((words for words in review.notes if words.startswith(_NOTE)), "")


def worst(review: Review) -> Review:
    """The review as a person is told of it: what is posted beyond the worst stays in the record."""
    beyond = {finding.id for finding in review.posted()[MOST_TOLD:]}
    if not beyond:
        return review
    findings = tuple(_recorded(finding) if finding.id in beyond else finding for finding in review.findings)
    return replace(review, findings=findings, notes=(*review.notes, f"{len(beyond)} further findings are only in the document"))


def render(review: Review, memory: AuditMemory | None = None) -> str:
    """The body. ``memory`` is what the next audit must know; without it there are no hidden lines but the marker."""
    told = worst(review)
    head, tail = joined(_head(told, review, memory)), joined(_tail(told))
    room = BUDGET_BYTES - size(head) - size(tail) - _LEAST_BYTES
    every = sorted(told.posted(), key=lambda finding: finding.lifecycle is Lifecycle.CARRIED)
    shown = fitting(_at_length(every, told), room)
    left_out = [f"The details of {len(every) - len(shown)} findings are left out for length."] if len(shown) < len(every) else []
    return plain.defuse("\n\n".join((head, *shown, *left_out, tail))) + "\n"


def encode(memory: AuditMemory, *, most_read: int = MOST_READ, most_told: int = MOST_MARKS) -> str:
    """The marker and the two lines. Of more files, those that were read last are kept."""
    read: dict[int, list[str]] = {}
    for name, at in memory.rotation.newest(most_read).read:
        read.setdefault(at, []).append(name)
    groups = ",".join(f"{at}:{''.join(names)}" for at, names in sorted(read.items()))
    told = "".join(sorted(memory.told)[:most_told])
    line = f"<!-- reviewbot:audited v1 at={memory.at} told={told} read={groups} -->"
    return "\n".join((MARKER, state.encode(PullMemory(history=memory.history)), line))


def decode(body: str) -> AuditMemory | None:
    """What a body of ours remembers; ``None`` where it is no audit's, or its lines are not as they were written."""
    lines = [line.rstrip("\r") for line in body.split("\n", 3)[:3]]
    if len(lines) < 3 or lines[0] != MARKER:
        return None
    kept, match = state.decode(lines[1]).memory, _LINE.fullmatch(lines[2])
    if kept is None or match is None:
        return None
    times = {name: int(group[1]) for group in _GROUP.finditer(match[3]) for name in _parted(group[2], FILE_MARK)}
    told = frozenset(_parted(match[2], FINDING_MARK))
    return AuditMemory(kept.history, Rotation(tuple(sorted(times.items()))), told, int(match[1]))


def is_audit(body: str) -> bool:
    """A body is an audit's."""
    return markers.first_line(body) == MARKER


def _parted(words: str, length: int) -> Iterator[str]:
    return (words[at : at + length] for at in range(0, len(words) - length + 1, length))


def _recorded(finding: Finding) -> Finding:
    return replace(finding, status=FindingStatus.BELOW_THRESHOLD, stop_reason=_BEYOND)


def _head(told: Review, review: Review, memory: AuditMemory | None) -> Iterator[str]:
    hidden = encode(memory) if memory else MARKER
    yield f"{hidden}\n## Audit of the whole tree at {code_span(told.revisions.head[:10])}"
    yield f"**{inline(opening(review).removeprefix(_NOTE).capitalize())}.**" if opening(review) else ""
    found = Comparison.of(told, "")
    yield " · ".join((phrases.wholeness(told), inline(phrases.panel(told)), f"sandbox: {inline(told.sandbox)}"))
    if unseen := phrases.unseen(told):
        yield f"**NOT REVIEWED:** {len(unseen)} of the files in scope were not, or not wholly, seen; see below."
    is_first = not found.standing and not found.gone
    yield _section("Found" if is_first else "New since the last audit", found.new)
    yield _gone(found.gone)
    yield _section("Still there", found.standing)
    if not told.posted():
        yield "Nothing found." if not unseen else "Nothing found in what was seen."


def _section(title: str, findings: Sequence[Finding]) -> str:
    """A table, or nothing for nothing."""
    if not findings:
        return ""
    rows = fitting(map(_row, findings), _TABLE_BYTES)
    if len(rows) < len(findings):
        rows.append(f"| | | | **and {len(findings) - len(rows)} more** | |")
    table = "\n".join(("| | severity | place | finding | proof |", "|---|---|---|---|---|", *rows))
    return f"### {title}\n\n{table}"


def _row(finding: Finding) -> str:
    question = " (question)" if finding.status is FindingStatus.CONTESTED else ""
    again = " (again)" if finding.lifecycle is Lifecycle.REOPENED else ""
    cells = (
        inline(finding.id),
        finding.severity.label,
        code_span(phrases.place(finding), limit=TITLE),
        inline(finding.title, limit=TITLE) + question + again,
        phrases.proof_word(finding),
    )
    return f"| {' | '.join(cell.replace('|', _BAR) for cell in cells)} |"


def _gone(findings: Sequence[Finding]) -> str:
    if not findings:
        return ""
    rows = [
        f"- {inline(one.id)} {code_span(phrases.place(one), limit=TITLE)} {inline(one.title, limit=TITLE)}" for one in findings
    ]
    return f"### Gone since the last audit\n\n{_list(rows)}"


def _at_length(findings: Iterable[Finding], review: Review) -> Iterator[str]:
    evidence = {item.id: item for item in review.evidence}
    for finding in findings:
        title = f"### {inline(finding.id)}: {inline(finding.title, limit=TITLE)}"
        place = f"{code_span(phrases.place(finding), limit=TITLE)} · {kind(finding)}"
        yield joined((title, place, code(finding), *parts(finding, review, evidence, fix=draft(finding))))


def _tail(review: Review) -> Iterator[str]:
    yield "---"
    yield f"**Coverage:** {phrases.coverage(review)}."
    if unseen := phrases.unseen(review):
        yield "**Not reviewed:**\n\n" + _list([_unseen(item) for item in unseen])
    if review.checks:
        states = (f"{inline(run.name, limit=80)} {_state(run.ran, failed=run.failed)}" for run in review.checks[:40])
        yield "**Checks:** " + ", ".join(states)
    if notes := [words for words in review.notes if not words.startswith(_NOTE)]:
        yield "**Notes:**\n\n" + _list([f"- {inline(words)}" for words in notes])
    yield f"{spending.total(review)} · {review.timing.seconds:.1f} s · reviewbot {code_span(review.tool_version)}"


def _unseen(item: Coverage) -> str:
    return f"- {code_span(item.path, limit=TITLE)}: {item.status.value}: {inline(item.reason or 'no reason given')}"


def _state(ran: bool, *, failed: bool) -> str:
    return ("failed" if failed else "passed") if ran else "not run"


def _list(lines: Sequence[str]) -> str:
    kept = fitting(lines, _LIST_BYTES)
    more = [f"- and {len(lines) - len(kept)} more"] if len(kept) < len(lines) else []
    return "\n".join([*kept, *more])
