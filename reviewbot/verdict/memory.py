"""What reviews of one pull request pass on: a finding stands as long as its content stands.

Panelists do not read a part of the change again that was read before. What they raised there stands
until the part, or another that the finding cites, has other content; when that content comes back,
by a revert or a force-push, so does the finding. Checks run each time, and say what stands.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any

from msgspec.structs import replace

from reviewbot.checks.project import Project
from reviewbot.config.settings import Effort
from reviewbot.debate.panel import Panel
from reviewbot.git.change import Change, Location, Part, only_parts, part_at, parts_of
from reviewbot.journal import key_of
from reviewbot.text.secrets import redact, shown
from reviewbot.verdict.decide import excerpt_of, lines_at, rank_of, verdict_of
from reviewbot.verdict.document import Decided, Finding, Memory, Remembered, Review
from reviewbot.verdict.rules import DISMISSED, UNSETTLED
from reviewbot.version import __version__

MAX_TEXT, MAX_KEYS = 160, 250  # characters; copies of all findings together
UNCHANGED = "its lines did not change since it was found"
NOT_READ = "no panelist read its lines again"
AGAIN = "a panelist raised it again"


def course_of(panel: Panel, effort: Effort) -> str:
    """Who reads the parts of a change; empty if nobody does."""
    members = [(p.name, p.model, p.lens) for p in panel.panelists]
    return key_of(__version__, members, effort)[:16] if members else ""


def paths_read_earlier(change: Change, to_read: Change) -> Iterator[str]:
    """Files with parts that are not to be read any more."""
    left = {file.path: sum(len(hunk.lines) for hunk in file.hunks) for file in to_read.files}
    for file in change.files:
        if file.path not in left or left[file.path] < sum(len(hunk.lines) for hunk in file.hunks):
            yield file.path


def unread(change: Change, memory: Memory, course: str) -> Change:
    """The parts of a change that no panelist of this course has read."""
    return only_parts(change, _unread_marks(parts_of(change), memory, course))


def raised_in(change: Change, project: Project, memory: Memory) -> Iterator[tuple[Location, str]]:
    """The lines in a change that panelists once raised something about, and its title."""
    parts = parts_of(change)
    for known in memory.findings:
        place = None if known.check or known.dismissed else _place_of(known, project)
        if place and (part := part_at(place, parts)) and part.distance(place) == 0:
            yield place, known.title


def recall(
    review: Review, change: Change, project: Project, memory: Memory, course: str, may_approve: bool
) -> Review:
    """The review with what stands from earlier ones, numbers that stay, and the new memory."""
    parts = parts_of(change)
    course = course or memory.course
    new_marks = _unread_marks(parts, memory, course)
    read_now = _read_now(review)
    undismissed = {known.key: known for known in memory.findings if not known.dismissed}

    def carry(known: Remembered, place: Location | None, why: str) -> Finding:
        excerpt = excerpt_of(place, change, project)
        return Finding(location=place, excerpt=excerpt, carried=why, **_decided(known))

    # What panelists raised in parts that they need not read again.
    carried: dict[str, Finding] = {}
    for key, known in undismissed.items():
        own = [p for p in parts if p.mark not in new_marks and known.id in memory.parts[p.mark]]
        if own and not known.check:
            carried[key] = carry(known, _place_in(known, own[0]), UNCHANGED)
    found = {finding.key: finding for finding in _with_own_keys(review.findings, {*carried})}
    # One panelist alone does not settle what is mild, nor does it unsettle it.
    for key in [key for key in found if found[key].reason == UNSETTLED and key in undismissed]:
        if all(position.stance != "not_real" for position in found[key].positions):
            carried[key] = carry(undismissed[key], found.pop(key).location, AGAIN)
    for key in [key for key in undismissed if key not in found and key not in carried]:
        known, place = undismissed[key], _place_of(undismissed[key], project)
        if known.check:
            why = _why_check_stands(known, review, project)
        else:
            part = part_at(place, parts) if place else None
            is_unread = part is not None and part.mark in new_marks
            why = NOT_READ if is_unread and known.path not in read_now else ""
        if why:
            carried[key] = carry(known, place, why)
    at_results = {each.location for each in found.values() if each.result and each.location}
    stands = [finding for finding in carried.values() if finding.location not in at_results]
    findings = tuple(_numbered([*found.values(), *stands], memory))
    not_read = [finding.id for finding in findings if finding.carried == NOT_READ]
    gaps = (*review.gaps, *(f"{id} stands from an earlier review: {NOT_READ}" for id in not_read))
    review = replace(
        review,
        findings=findings,
        gaps=gaps,
        complete=not gaps,
        verdict=verdict_of(findings, review.coverage, gaps, may_approve),
    )
    remembered = _remember(review, change, project, parts, memory)
    cache = {} if read_now and memory.course != course else dict(memory.parts)
    raised: defaultdict[str, list[str]] = defaultdict(list)
    for finding in review.reported:
        place = finding.location if not finding.result else None
        if place and (part := part_at(place, parts)):
            raised[part.mark].append(finding.id)
    for part in parts:
        if part.path in read_now or part.mark not in new_marks:
            cache.pop(part.mark, None)  # what is at head now stands last
            cache[part.mark] = tuple(raised[part.mark])
    kept = {id for ids in cache.values() for id in ids} | {f.id for f in review.reported}
    return replace(
        review,
        memory=Memory(
            course=course if read_now else memory.course,
            parts=cache,
            findings=tuple(r for r in remembered if r.id in kept or r.dismissed),
            numbers=dict(memory.numbers) | {f.key: f.id for f in review.reported},
        ),
    )


def with_dismissals(review: Review, memory: Memory) -> Review:
    """The review without what people dismissed since it began."""
    dismissed = tuple(known for known in memory.findings if known.dismissed)
    keys = {key for known in dismissed for key in (known.key, *known.copies)}
    findings = tuple(
        replace(finding, status="recorded", reason=DISMISSED, blocks=False)
        if finding.key in keys and finding.status != "recorded"
        else finding
        for finding in review.findings
    )
    own = review.memory or Memory()
    others = tuple(known for known in own.findings if known.key not in keys)
    is_lifted = review.verdict == "request_changes" and not any(f.blocks for f in findings)
    return replace(
        review,
        findings=findings,
        verdict="comment" if is_lifted else review.verdict,
        memory=replace(own, findings=(*others, *dismissed)),
    )


def _read_now(review: Review) -> set[str]:
    """Files that the panel of a review has read, all of it and to the end."""
    if any(absence.question.startswith("first_pass") for absence in review.absences):
        return set()
    answered = {member.name for member in review.panel if member.answered}
    read = {entry.path for entry in review.coverage if answered & {*entry.read_by}}
    # What was dropped may have been right: the file is read again.
    return {path for path in read if not any(json.dumps(path) in c.text for c in review.dropped)}


def _unread_marks(parts: Sequence[Part], memory: Memory, course: str) -> set[str]:
    """Marks of parts that nobody read, or that a finding no longer fits.

    It cites what is gone, or its line was edited since: then it is remembered as it is there.
    """
    marks = {part.mark for part in parts}
    if memory.course != course:
        return marks
    known = {finding.id: finding for finding in memory.findings}
    unread = set()
    for part in parts:
        raised = [known.get(id) for id in memory.parts.get(part.mark, ())]
        texts = set(_folded(line.text for line in part.hunk.lines)) if raised else set()
        if part.mark not in memory.parts or not all(
            finding and set(finding.cites) <= marks and (finding.text in texts or not finding.text)
            for finding in raised
        ):
            unread.add(part.mark)
    return unread


def _with_own_keys(findings: Sequence[Finding], standing: set[str]) -> Iterator[Finding]:
    """A claim with the key of one that stands elsewhere is a copy of it."""
    taken = {finding.key for finding in findings} | standing
    for finding in findings:
        if not finding.result and finding.key in standing:
            copies = (f"{finding.key}-{number}" for number in count(2))
            finding = replace(finding, key=next(key for key in copies if key not in taken))
            taken.add(finding.key)
        yield finding


def _why_check_stands(known: Remembered, review: Review, project: Project) -> str:
    """Why a result still counts that the check did not give this time; empty if it does not."""
    unfinished = (check for check in review.checks if check.state in ("incomplete", "not_run"))
    run = next((check for check in unfinished if check.check == known.check), None)
    is_gone = known.path in project.head_files and _place_of(known, project) is None
    return f"{run.check} {run.text}" if run and not (known.text and is_gone) else ""


def _place_of(known: Remembered, project: Project) -> Location | None:
    """The line at head with the text that is remembered, the nearest one."""
    lines = _folded([project.texts("head").get(known.path) or ""])
    same = [n for n, line in enumerate(lines, start=1) if known.text and line == known.text]
    line = min(same, key=lambda number: abs(number - known.line), default=0)
    return Location(known.path, line, line) if line else None


def _place_in(known: Remembered, part: Part) -> Location:
    lines = dict(part.hunk.at("head")) or {known.line: ""}
    texts = zip(lines, _folded(lines.values()), strict=True)
    line = next((n for n, text in texts if text == known.text), min(lines))
    return Location(part.path, line, line)


def _decided(found: Decided) -> dict[str, Any]:
    """What a finding and what is remembered of one have in common."""
    return {name: getattr(found, name) for name in Decided.__struct_fields__}


def _numbered(findings: Sequence[Finding], memory: Memory) -> Iterator[Finding]:
    """In order, each with the number that it was given once; the next free ones for others."""
    numbers = {key: int(id[1:]) for key, id in memory.numbers.items()}
    free = max(numbers.values(), default=0) + 1
    for finding in sorted(findings, key=lambda f: (*rank_of(f), numbers.get(f.key, free))):
        number = numbers.setdefault(finding.key, free)
        free += number == free
        yield replace(finding, id=f"F{number}")


def _remember(
    review: Review, change: Change, project: Project, parts: Sequence[Part], memory: Memory
) -> list[Remembered]:
    """What stands now, and what was known before."""
    known = {finding.key: finding for finding in memory.findings}
    most = MAX_KEYS // (len(review.reported) or 1)
    for finding in review.findings:
        before = known.pop(finding.key, None)
        if finding.status == "recorded":
            if before and before.dismissed:
                known[finding.key] = before
            continue
        place = finding.location
        text = _folded(lines_at(place, change, project, shown)[:1])[0]
        short = {"title": redact(finding.title)[0], "copies": finding.copies[:most]}
        known[finding.key] = Remembered(
            **_decided(finding) | short,
            check=finding.result.check if finding.result else before.check if before else "",
            path=place.path if place else "",
            line=place.line if place else 0,
            text=before.text if before and finding.carried else text,
            cites=before.cites if before and finding.carried else tuple(_cites(finding, parts)),
        )
    return list(known.values())


def _cites(finding: Finding, parts: Sequence[Part]) -> Iterator[str]:
    """Marks of the parts that panelists cite about a finding."""
    for citation in sorted({c for position in finding.positions for c in position.citations}):
        path, _, line = citation.rpartition(":")
        if line.isdecimal() and len(line) < 10:
            place = Location(path, int(line), int(line))
            if (part := part_at(place, parts)) and part.distance(place) == 0:
                yield part.mark


def _folded(lines: Iterable[str]) -> list[str]:
    """Lines as they are remembered."""
    return [" ".join(line.split())[:MAX_TEXT] for line in shown("\n".join(lines)).split("\n")]
