"""Whatever a title, a path, a model or a comment says: nothing that is posted mentions, links, commands or passes for ours."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings

from reviewbot.domain.action import (
    Action,
    EditComment,
    PostCheck,
    PostComment,
    PostReview,
    ReplyThread,
    ResolveThread,
)
from reviewbot.domain.change import Coverage, CoverageStatus
from reviewbot.domain.debate import Check, CheckOutcome
from reviewbot.domain.evidence import Severity
from reviewbot.domain.history import Fate, PullMemory
from reviewbot.domain.review import Review, Suggestion
from reviewbot.errors import InvalidError, NotPermittedError
from reviewbot.posting import post
from reviewbot.publish import annotate, markers, own, state
from reviewbot.publish.sanitise import LINK_HOSTS
from reviewbot.publish.wanted import Matter, PublishOptions, wanted
from reviewbot.testing import MemoryForge
from tests.publish import github, pulls, samples
from tests.publish.test_sanitise import ANYTHING
from tests.rings import examples

NO = NotPermittedError("no")
LINE = InvalidError("no", reasons=("line must be part of the diff",))
TITLE = re.compile(r"::(?:error|warning) file=[^:,\r\n]*,line=\d+,endLine=\d+,title=[^:,\r\n]*::[^\r\n]*")


def hostile(text: str) -> Matter:
    """A pull request in which everything that somebody may choose is ``text``."""
    check = Check(("sh", "-c", text), text, text, CheckOutcome.PASSES_WITH_FIX, output=text)
    finding = pulls.a_finding(
        1,
        start_line=41,
        line=42,
        id=text,
        fingerprint=text,
        title=text,
        body=text,
        failure_scenario=text,
        quote=text,
        dissent=text,
        stop_reason=text,
        raised_by=(text,),
        positions=samples.HOSTILE.findings[0].positions,
        check=check,
        suggestion=Suggestion(41, 42, text),
    )
    elsewhere = replace(finding, id=f"{text}2", fingerprint=f"{text}2", path=text)
    review = pulls.a_review(
        finding,
        elsewhere,
        notes=(text,),
        sandbox=text,
        tool_version=text,
        run_id=text,
        attendance=samples.HOSTILE.attendance,
        coverage=(Coverage(text, CoverageStatus.PARTIAL, text),),
        checks=samples.HOSTILE.checks,
    )
    gone = pulls.known(replace(finding, id=f"{text}3", fingerprint=f"{text}3"), Fate.FIXED, reason=text, by=text)
    dismissed = pulls.known(replace(finding, id=f"{text}4", fingerprint=f"{text}4"), Fate.DISMISSED, reason=text, by=text)
    history = replace(pulls.history_of(review, gone, dismissed), course=text)
    return Matter(review, pulls.CHANGE, history, PublishOptions(fail_on=Severity.LOW))


def posted(matter: Matter, *troubles: tuple[type[Action], Exception, bool]) -> list[str]:
    """Every body that goes out, of a pull request with threads to close and a memory of hostile words."""
    gone = [known for known in matter.history.findings if known.fate is Fate.FIXED]
    marks = [markers.finding(markers.FindingMark(known.fingerprint, known.id, pulls.OLD)) for known in gone]
    thread = pulls.a_thread(1, pulls.a_finding(1))
    threads = [replace(thread, comments=(pulls.said(70 + number, f"{mark}\nwords"),)) for number, mark in enumerate(marks)]
    line = state.encode(PullMemory(replace(matter.history, head=matter.history.course), paused_by=matter.history.course))
    summary = pulls.said(5, f"{markers.SUMMARY}\n{line}\n")
    standing = replace(pulls.EMPTY, threads=tuple(threads), comments=(summary,))
    forge = MemoryForge(standing, troubles=troubles)  # type: ignore[arg-type]
    post(lambda now: wanted(matter, now), forge, forge, number=12, head_sha=pulls.HEAD)
    return [body for action in forge.done for body in bodies(action)]


def bodies(action: Action) -> list[str]:
    match action:
        case PostReview():
            return [action.body, *(comment.body for comment in action.comments)]
        case EditComment() | PostComment() | ReplyThread():
            return [action.body]
        case PostCheck():
            return [action.summary]
    return []


def problems(body: str) -> list[str]:
    """What is alive in a body below its own opening lines."""
    opening, rest = body.split("\n", 1)
    known = (
        opening in (markers.SUMMARY, markers.STATUS)
        or markers.finding_of(opening)
        or markers.review_of(opening)
        or markers.is_closing(opening)
    )
    if own.state_line(body).startswith("<!-- reviewbot:state "):
        assert state.decode(own.state_line(body)).memory is not None
        rest = rest.split("\n", 1)[1]
    mine = {"", "<details>"}
    found = github.dangers(rest, LINK_HOSTS, own_html=True)
    html = [token.content.strip() for token in github.parse(rest) if token.type.startswith("html")]
    found += [f"comment {content}" for content in html if "<!--" in content and content not in mine]
    return found if known else [f"opens with {opening!r}", *found]


@pytest.mark.parametrize("name", samples.REVIEWS)
def test_no_sample_has_anything_alive_in_what_is_posted(name: str) -> None:
    review: Review = samples.REVIEWS[name]
    for body in posted(pulls.a_matter(review)):
        assert problems(body) == []
        assert len(body.encode()) <= 60_000


@settings(max_examples=examples(60))
@given(ANYTHING)
def test_nothing_that_is_posted_is_alive(text: str) -> None:
    for body in posted(hostile(text)):
        assert problems(body) == []


@pytest.mark.ci
@settings(max_examples=examples(30))
@given(ANYTHING)
def test_nothing_that_is_posted_after_a_refusal_is_alive(text: str) -> None:
    for body in posted(hostile(text), (PostReview, LINE, False), (ResolveThread, NO, False)):
        assert problems(body) == []


def test_hostile_words_are_posted_in_every_kind_of_body() -> None:
    said = posted(hostile(samples.HOSTILE_WORDS), (PostReview, LINE, False), (ResolveThread, NO, False))
    assert len(said) == 4
    assert all(problems(body) == [] for body in said)
    said = posted(hostile(samples.HOSTILE_WORDS))
    assert sum(markers.finding_of(body) is not None for body in said) == 1


@settings(max_examples=examples(150))
@given(ANYTHING)
def test_a_line_for_the_log_is_one_command(text: str) -> None:
    matter = hostile(text)
    lines = annotate.commands(matter.review, Severity.LOW)
    assert len(lines) == len([found for found in matter.review.posted() if found.line])
    for line in (*lines, annotate.notice(text)):
        assert re.match("^::(?:error|warning|notice) [^\n\r]*$", line)
        assert "##[" not in line
        line.encode("utf-8")
    assert all(TITLE.fullmatch(line) for line in lines)


def test_a_step_shows_at_most_ten_errors_and_ten_warnings() -> None:
    grave = [pulls.a_finding(number, severity=Severity.HIGH) for number in range(15)]
    mild = [pulls.a_finding(number, severity=Severity.LOW) for number in range(15, 30)]
    lines = annotate.commands(pulls.a_review(*grave, *mild), Severity.HIGH)
    assert [line.split(" ")[0] for line in lines] == ["::error"] * 10 + ["::warning"] * 10
    assert annotate.commands(pulls.a_review(*grave, *mild), None)[0].startswith("::warning file=shop/cart.py,line=")


def test_what_a_log_line_says_can_be_read_again() -> None:
    finding = pulls.a_finding(1, title="50%, or: more", path="a,b:c.py")
    (line,) = annotate.commands(pulls.a_review(finding), None)
    assert "file=a%2Cb%3Ac.py,line=39,endLine=39,title=F1 high%3A 50%25%2C or%3A more::When: A cart" in line
    assert "%0AThen: " in line


def test_annotations_of_a_check_run_have_lines_at_head_and_fit() -> None:
    many = [pulls.a_finding(number, start_line=0) for number in range(150)]
    notes = annotate.of_findings(pulls.a_review(*many, pulls.a_finding(500, line=0), pulls.a_finding(501, side="LEFT")), None)
    assert len(notes) == annotate.MOST
    assert all(0 < note.start_line <= note.end_line for note in notes)
    (note,) = annotate.of_findings(pulls.a_review(pulls.a_finding(1, title="x" * 900, body="y" * 90_000)), Severity.HIGH)
    assert len(note.title) <= 255
    assert len(note.message.encode()) < 60_000
    assert note.level.value == "failure"
