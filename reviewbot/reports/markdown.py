"""The review on GitHub, in its Markdown: the summary of a pull request, comments at lines, a check
run, answers to people, an audit; and lines that its runner shows as annotations.

What stands in <summary> is ours: there, GitHub reads HTML and no escape of Markdown.
"""

# Without `from __future__ import annotations`, which would take the name of a function here.

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.debate.judge import Consultation
from reviewbot.reports import words
from reviewbot.reports.words import DEFAULT, Style, redacted
from reviewbot.severity import RANK
from reviewbot.tasks.task import TaskResult
from reviewbot.text.files import language_of
from reviewbot.text.markdown import block, code, inline, whole_lines
from reviewbot.text.plain import SUBSTITUTE, first_line, plain, shortened, shortened_bytes
from reviewbot.text.secrets import redact
from reviewbot.verdict.document import Finding, Memory, Remembered, Review

# GitHub refuses a comment over 65,536 characters. Bytes count here, which are never fewer.
MAX_BYTES = 60_000
MAX_CHECK_TITLE = 255  # bytes
MAX_TITLE, MAX_PROSE, MAX_CODE, MAX_MESSAGE = 200, 1_000, 4_000, 4_000  # characters
MAX_OPINION = 2_000  # characters
MAX_OPEN = 3  # lines of a list that is not folded
MAX_SHOWN, MIN_FULL = 12, 3  # findings of a page: in threads or in full, and at least in full
HELP = "Comment `/debate help` to see what you can ask for."
URL = re.compile(r"https?://[\w.:-]+/[\w./?#=&%+~-]*", re.ASCII)
SURROGATE = re.compile("[\ud800-\udfff]")
Level = Literal["notice", "warning", "failure"]

MAX_ANNOTATIONS = 10  # of a level that GitHub shows for one step; it drops the others
COMMANDS = {"failure": "error", "warning": "warning", "notice": "notice"}
# As in toCommandValue of https://github.com/actions/toolkit (packages/core/src/command.ts).
DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


class Page(Struct, frozen=True, kw_only=True):
    """What the summary of a pull request shows beside the review.

    Attributes:
        links: address of the thread of a finding, by the finding's id.
        fixed, fixes: findings that stood in the last review and are gone; fixes in the branch.
        run_url: address of the workflow run; empty if there is none.
        has_commands: whether comments there command.
        has_panel: whether models are asked where keys are set.
    """

    links: Mapping[str, str] = {}
    fixed: tuple[Remembered, ...] = ()
    fixes: tuple[str, ...] = ()
    dismissed: tuple[Remembered, ...] = ()
    run_url: str = ""
    has_commands: bool = True
    has_panel: bool = True


class Annotation(Struct, frozen=True):
    """A finding at lines of head, for a check run or the log of a workflow.

    Attributes:
        path: as it is, unlike the other texts not safe to print; empty without a place at head.
        start_line: 0 for a whole file.
    """

    path: str
    start_line: int
    end_line: int
    annotation_level: Level
    title: str
    message: str


def render(review: Review, style: Style) -> str:
    return _page(review, None, style, MAX_BYTES)


def summary(review: Review, page: Page, room: int = MAX_BYTES) -> str:
    """The comment that sums up a pull request, in at most `room` bytes of UTF-8.

    A finding with a thread is one line with a link, any other is shown in full, the rest counted.
    """
    return _page(redacted(review), redacted(page), DEFAULT, room)


def comment(finding: Finding, suggestion: str | None = None) -> str:
    """The comment at the lines of a finding.

    Args:
        suggestion: what replaces exactly these lines, already proven. It is left out if it could
            not be shown as it is, because a click commits it.
    """
    finding = redacted(finding)
    head = f"**{_heading(finding)}**"
    offer = "" if suggestion is None else _suggestion(suggestion)
    tried = "All checks and tests accept this with the other fixes of this review:" if offer else ""
    shown = _joined(head, *_story(finding), tried, offer)
    return shown if _size(shown) <= MAX_BYTES else f"{head}\n\nThere is no room for more."


def review_body(review: Review) -> str:
    more = " The summary comment has the details." if review.reported or review.gaps else ""
    return _verdict(redacted(review)) + more


def check_title(review: Review) -> str:
    """Plain text, at most 255 bytes."""
    return shortened_bytes(plain(words.headline(redacted(review), explains=True)), MAX_CHECK_TITLE)


def annotations(review: Review) -> tuple[Annotation, ...]:
    """Reported findings with lines at head, worst first. A path that is not UTF-8 has no place."""
    notes = map(annotation, redacted(review).reported)
    return tuple(note for note in notes if note.start_line > 0 and not SURROGATE.search(note.path))


def annotation(finding: Finding) -> Annotation:
    """Of a finding without secrets."""
    place = finding.location
    is_minor = finding.status == "question" or RANK[finding.severity] < RANK["medium"]
    level: Level = "failure" if finding.blocks else "notice" if is_minor else "warning"
    is_at_line = place is not None and place.side == "head" and place.line > 0
    where = "" if is_at_line else words.place(place)
    lines = (where, words.sentence(finding.consequence), *words.decision(finding))
    message = "\n".join(plain(shortened(line, MAX_PROSE)) for line in lines if line)
    title = plain(f"{finding.id} ({finding.severity}): {finding.title or '(no title)'}")
    return Annotation(
        path=place.path if place and place.side == "head" else "",
        start_line=place.line if place and is_at_line else 0,
        end_line=place.end_line if place and is_at_line else 0,
        annotation_level=level,
        title=shortened(title, MAX_TITLE),
        message=shortened(message, MAX_MESSAGE),
    )


def render_commands(review: Review, _: Style) -> str:
    """Workflow commands, which GitHub Actions shows as annotations at lines of the change.

    https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
    """
    notes = []
    if review.panel:
        notes.append(Annotation("", 0, 0, "notice", "reviewbot", plain(words.panel_line(review))))
    if review.gaps:
        gaps = shortened("\n".join(map(plain, review.gaps)), MAX_MESSAGE)
        notes.append(Annotation("", 0, 0, "warning", "Not complete", gaps))
    if len(review.reported) + len(notes) > MAX_ANNOTATIONS:
        count = f"{len(review.reported)} in all; GitHub shows {MAX_ANNOTATIONS} of each level."
        notes.insert(0, Annotation("", 0, 0, "notice", "Findings", count))
    lines = []
    for note in (*notes, *map(annotation, review.reported)):
        path = plain(note.path)
        place = {"file": path} if path else {}
        if path and note.start_line:
            place |= {"line": str(note.start_line), "endLine": str(note.end_line)}
        place["title"] = note.title
        said = ",".join(f"{name}={value.translate(PROPERTY)}" for name, value in place.items())
        lines.append(f"::{COMMANDS[note.annotation_level]} {said}::{note.message.translate(DATA)}")
    return "\n".join(lines)


def consultation(said: Consultation, *, about_claim: bool = False) -> str:
    """What each panelist says, and of a claim, what it holds; and who gave no answer."""
    said = redacted(said)
    parts = []
    for opinion in said.opinions:
        text = inline(shortened(opinion.reason, MAX_OPINION))
        cited = ", ".join(map(code, opinion.citations))
        text += f" ({cited})" if cited else ""
        text += f" So: {words.STANCES[opinion.stance]}." if about_claim else ""
        parts.append(f"**{inline(opinion.panelist)}:** {text}")
    parts += [f"**{inline(a.panelist)}** gave no answer: {inline(a.reason)}" for a in said.absences]
    parts += [f"Cost: ${said.usage.cost_usd:.4f}."] if said.usage.cost_usd else []
    return "\n\n".join(parts)


def explanation(finding: Finding) -> str:
    said = [f"- {inline(text)}" for text in words.debate(redacted(finding))]
    debate = "\n".join(["\n\n**Debate**\n", *said]) if said else ""
    return whole_lines(comment(finding) + debate, MAX_BYTES)


def fixes(results: Sequence[TaskResult], commits: Sequence[str], problem: str) -> str:
    """What was committed, what is only suggested, and why the rest is not fixed.

    `commits` are of fixed results, as far as they could be made; `problem` is why no more were,
    or what was not reviewed where nothing is to be fixed.
    """
    if not results:
        more = f" Not complete: {inline(redact(problem)[0])}." if problem else ""
        return f"There is nothing to fix.{more}"
    made = iter(commits)
    parts = [f"{inline(problem)}.\n"] if problem else []
    for result in results:
        names = ", ".join(map(inline, result.findings)) or inline(result.title)
        why = "".join(f" {inline(first_line(t))}" for t in (*result.reasons, *result.dissent)[:5])
        if result.outcome == "fixed":
            commit = next(made, "")
            done = f"committed as {code(commit[:10])}" if commit else "not committed"
            parts.append(f"- {names} (by {inline(result.author)}): {done}")
        elif result.outcome == "suggested":
            shown = block(redact(result.diff)[0][: MAX_OPINION * 4], "diff")
            parts.append(f"- {names}: suggested, not proven.{why}\n\n{shown}")
        else:
            parts.append(f"- {names}: not fixed.{why}")
    return whole_lines("\n".join(parts), MAX_BYTES)


def audit(review: Review, last: Memory, page: Page, room: int) -> str:
    """A review of the whole tree: what differs from the last one first."""
    review = redacted(review)
    before = {known.key for known in last.findings}
    reported = review.reported
    new = [finding for finding in reported if finding.key not in before]
    gone = [known for known in last.findings if known.key not in {f.key for f in reported}]
    rest = replace(review, verdict="comment")
    since = f"Since the last audit: {len(new)} new, {len(gone)} gone, "
    since = f"{since if before else 'The first audit: '}{len(reported)} in all."
    parts = [f"**{words.outcome(rest)}**. {since}"]
    if before and new:
        parts += ["### New", _places(new, room)]
    if gone:
        lines = [f"- {inline(k.id)}: {inline(k.title)}, {code(k.path) or 'no file'}" for k in gone]
        parts += ["### Gone", _listed(lines, room // 4)]
    groups: dict[str, list[Finding]] = {}
    for finding in reported:
        name = finding.result.check if finding.result else "panel"
        groups.setdefault(f"{name}: {finding.rule}", []).append(finding)
    for name, findings in sorted(groups.items(), key=lambda group: -len(group[1])):
        parts += [f"### {inline(name)} ({len(findings)})", _places(findings, room)]
    body = whole_lines("\n\n".join(parts), room - 3_000)
    left = room - len(body.encode()) - len("\n\n---\n\n")
    # Its first paragraph says what came of it, and that stands above.
    tail = summary(replace(rest, findings=()), page, left).partition("\n\n")[2]
    return f"{body}\n\n---\n\n{tail}"


def _places(findings: Sequence[Finding], room: int) -> str:
    return _listed([f"- {_heading(finding)}, {_place(finding)}" for finding in findings], room // 4)


def _page(review: Review, page: Page | None, style: Style, room: int) -> str:
    """Without a page for readers outside of GitHub, who have no threads and no commands."""
    head = _verdict(review)
    share = room // 10  # of a list, so that the lists leave room for findings
    tail = _joined(*_tail(review, page, share))
    left = room - _size(head) - _size(tail)
    links = {id: link for id, link in (page.links if page else {}).items() if URL.fullmatch(link)}
    linked = [f"- {_line(f, links[f.id])}" for f in review.reported if f.id in links]
    listed = _listed(linked, left // 2)
    others = [finding for finding in review.reported if finding.id not in links]
    most = len(others) if page is None else max(MIN_FULL, MAX_SHOWN - len(linked))
    findings = _findings(others, style, left - _size(listed), most)
    shown = _joined(head, listed, *findings, "---" if findings else "", tail)
    is_short = len(shown.encode()) <= room
    return shown if is_short else f"{head.partition(':')[0]}. There is no room for more."


def _verdict(review: Review) -> str:
    verdict, _, why = words.headline(review, explains=True).partition(": ")
    return f"**{verdict}**: {_prose(why)}."


def _findings(findings: Sequence[Finding], style: Style, room: int, most: int) -> list[str]:
    """At most so many in full, as there is room for, and a line for each of the others."""
    lines = [f"- {_line(finding)}" for finding in findings]
    room_for_lines = min(sum(map(_size, lines)), room // 3)
    full = [_finding(finding, style) for finding in findings]
    count = min(_fitting(full, room - room_for_lines - 200), most)  # for what stands around them
    if count == len(full):
        return full
    left = room - sum(map(_size, full[:count])) - 200
    return [*full[:count], _folded(f"{len(full) - count} more", _listed(lines[count:], left))]


def _line(finding: Finding, link: str = "") -> str:
    """A finding on one line, for lists."""
    said = [words.STATUSES[finding.status].lower()]
    for who, what in words.objections(finding):
        said.append(f"{who} {what.partition(':')[0]}".replace("The change", "the change"))
    said += ["from an earlier review"] if finding.carried else []
    return f"{_heading(finding, link)}, {_place(finding)} ({_prose('; '.join(said))})"


def _finding(finding: Finding, style: Style) -> str:
    language = (language_of(finding.location.path) if finding.location else None) or ""
    excerpt = shortened(finding.excerpt, MAX_CODE)
    parts = [
        f"### {_heading(finding)}",
        _place(finding),
        block(excerpt, language) if excerpt.strip() else "",
        *_story(finding),
    ]
    if style.verbose and (paragraphs := list(words.debate(finding))):
        parts.append(_folded("Debate", *(f"- {_prose(text)}" for text in paragraphs)))
    return _joined(*parts)


def _story(finding: Finding) -> Iterator[str]:
    """What follows, what decided, who disagrees, and folded, what was executed."""
    lead = next((claim for claim in finding.claims if claim.title == finding.title), None)
    yield _prose(words.sentence(lead.trigger if lead else ""))
    if finding.consequence.strip() != finding.title.strip():
        yield _prose(words.sentence(finding.consequence))
    yield f"**{words.STATUSES[finding.status]}:** {_prose(words.why(finding))}"
    yield from map(_prose, words.cause(finding))
    objections = [f"- {_prose(f'{who} {said}')}" for who, said in words.objections(finding)]
    yield _listed(objections, MAX_BYTES // 10)
    tests = words.failed_tests(finding)
    output = finding.result.output if finding.result else ""
    if tests or output.strip():
        failed = _listed([f"- {code(shortened(test, MAX_TITLE))}" for test in tests], 2_000)
        title = "The test that fails" if len(tests) == 1 else "The tests that fail"
        yield _folded(title if tests else "Output", failed, _output(output))
    if proof := finding.proof:
        test = block(shortened(proof.reproduction.source, MAX_CODE), proof.reproduction.language)
        title = f"The {proof.reproduction.name} that was written for it"
        yield _folded(title, _prose(words.proof_line(proof)), test, _output(proof.output))


def _heading(finding: Finding, link: str = "") -> str:
    title = inline(shortened(finding.title, MAX_TITLE)) or "(no title)"
    id = f"[{inline(finding.id)}]({link})" if link else inline(finding.id)
    return f"{id} ({finding.severity}): {title}"


def _place(finding: Finding) -> str:
    place = shortened(words.place(finding.location), MAX_TITLE)
    return code(place) if finding.location else place


def _suggestion(text: str) -> str:
    """A block that GitHub makes a button of; nothing if the text could not be in it as it is."""
    text = text.removesuffix("\n")
    fence, _, rest = block(text).partition("\n")
    if rest != f"{text}\n{fence}" or SUBSTITUTE.search(text) or redact(text)[1]:
        return ""
    shown = f"{fence}suggestion\n{text}\n{fence}" if text else f"{fence}suggestion\n{fence}"
    return shown if _size(shown) < MAX_BYTES // 2 else ""


def _tail(review: Review, page: Page | None, share: int) -> Iterator[str]:
    if page:
        yield _section("No longer found", [f"{k.id}: {k.title}" for k in page.fixed], share)
        yield _section("Fixes committed", page.fixes, share)
        gone = [f"{k.id}: {k.title} ({k.dismissed_by}: {k.dismissed})" for k in page.dismissed]
        yield _section("Dismissed", gone, share)
    yield _section("Not complete", review.gaps, share)
    yield _section("Notes", review.notes, share)
    is_clean = all(check.state == "passed" for check in review.checks)
    passed = words.sentence(words.passed_checks(review)) if is_clean else ""
    lines = (words.coverage_line(review), passed, words.recorded_line(review))
    yield " ".join(map(_prose, filter(None, lines)))
    if not is_clean:
        rows, counts = [], Counter[str]()
        for check in review.checks:
            state = check.state.replace("_", " ")
            text = re.sub("^(was not run|is incomplete): ", "", check.text)
            counts[state] += 1
            cells = (_prose(cell).replace("|", r"\|") for cell in (check.check, state, text))
            rows.append(f"| {' | '.join(cells)} |")
        title = f"Checks: {', '.join(f'{count} {state}' for state, count in counts.items())}"
        yield _folded(title, "| check | result | |\n|---|---|---|\n" + _listed(rows, share))
    panel = _prose(words.panel_line(review, on_github=page is not None))
    yield panel if page is None or page.has_panel else "No language model is asked in this job."
    if page:
        run = f" in [this run]({page.run_url})" if URL.fullmatch(page.run_url) else ""
        reviewed = f"Reviewed {code(review.head_commit[:10]) or 'the change'}{run}."
        yield f"{reviewed}{f' {HELP}' if page.has_commands else ''}"


def _section(title: str, lines: Sequence[str], room: int) -> str:
    """Lines under a title, folded if there are many."""
    if len(lines) < 2:
        return "".join(f"**{title}:** {_prose(line)}" for line in lines)
    shown = _listed([f"- {_prose(line)}" for line in lines], room)
    if len(lines) > MAX_OPEN:
        return _folded(f"{title} ({len(lines)})", shown)
    return f"**{title}:**\n\n{shown}"


def _listed(lines: Sequence[str], room: int) -> str:
    """As many lines as there is room for, and how many more there are."""
    count = _fitting(lines, room)
    more = [f"\nand {len(lines) - count} more"] if count < len(lines) else []
    return "\n".join([*lines[:count], *more])


def _fitting(texts: Sequence[str], room: int) -> int:
    return sum(size <= room for size in accumulate(map(_size, texts)))


def _output(text: str) -> str:
    return block(text[-MAX_CODE:]) if text.strip() else ""


def _folded(title: str, *parts: str) -> str:
    return f"<details>\n<summary>{title}</summary>\n\n{_joined(*parts)}\n\n</details>"


def _joined(*parts: str) -> str:
    return "\n\n".join(filter(None, parts))


def _prose(text: str) -> str:
    return inline(shortened(text, MAX_PROSE))


def _size(text: str) -> int:
    return len(text.encode()) + 2
