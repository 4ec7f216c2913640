"""An audit's issue: what differs first, worst first, within its room; its hidden lines come back as they were, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reviewbot.domain.audit import AuditMemory, Comparison, Rotation, file_mark, finding_mark
from reviewbot.domain.change import AUDIT, Coverage, CoverageStatus
from reviewbot.domain.history import History
from reviewbot.domain.review import Conclusion, FindingStatus, Lifecycle, Review, Verdict
from reviewbot.publish import audit, formats, phrases
from reviewbot.publish.sanitise import LINK_HOSTS
from tests.publish import github, samples
from tests.publish.test_sanitise import ANYTHING
from tests.publish.test_state import HISTORY
from tests.rings import examples

MARKS = st.integers().map(str)
MEMORY = st.builds(
    AuditMemory,
    history=HISTORY,
    rotation=st.dictionaries(MARKS.map(lambda name: file_mark(name, "1")), st.integers(0, 10**11), max_size=20).map(
        lambda times: Rotation(tuple(sorted(times.items())))
    ),
    told=st.frozensets(MARKS.map(finding_mark), max_size=20),
    at=st.integers(0, 10**11),
)


def a_review(review: Review = samples.FULL, **other: object) -> Review:
    return replace(review, revisions=replace(review.revisions, kind=AUDIT), **other)  # type: ignore[arg-type]


def many(count: int) -> Review:
    one = replace(samples.OFF_BY_ONE, status=FindingStatus.ACCEPTED)
    found = (replace(one, id=f"F{n}", fingerprint=f"sha256:{n}", line=n, start_line=n) for n in range(1, count + 1))
    return a_review(findings=tuple(found))


@settings(max_examples=examples(50))
@given(MEMORY)
def test_what_is_remembered_comes_back(memory: AuditMemory) -> None:
    body = audit.encode(memory) + "\n## Audit\n"
    kept = audit.decode(body)
    assert kept is not None
    assert (kept.rotation, kept.told, kept.at) == (memory.rotation, memory.told, memory.at)
    assert kept.history.head == memory.history.head
    assert audit.decode(body.replace("\n", "\r\n")) == kept


@given(st.text() | st.text().map(lambda words: f"{audit.MARKER}\n{words}"))
def test_any_other_body_remembers_nothing_and_raises_nothing(body: str) -> None:
    assert audit.decode(body) is None


@pytest.mark.parametrize("line", [0, 1, 2])
def test_a_body_that_lost_a_line_remembers_nothing(line: int) -> None:
    lines = audit.encode(AuditMemory(History(head="abc"), at=7)).split("\n")
    assert audit.decode("\n".join((*lines, "words")))
    del lines[line]
    assert audit.decode("\n".join((*lines, "words"))) is None


def test_a_memory_that_is_too_large_keeps_what_was_read_last_and_leaves_room_for_words() -> None:
    names = [file_mark(f"src/{n}.py", "1") for n in range(9_000)]
    rotation = Rotation(tuple(sorted((name, 1_790_000_000 + n) for n, name in enumerate(dict.fromkeys(names)))))
    told = frozenset(finding_mark(str(n)) for n in range(3_000))
    grouped = Rotation(tuple((name, at // 1_000) for name, at in rotation.read))
    body = audit.render(many(120), AuditMemory(samples_history(), grouped, told, 1_790_000_000))
    assert len(body.encode()) <= audit.BUDGET_BYTES
    kept = audit.decode(body)
    assert kept is not None
    assert len(kept.rotation.read) == audit.MOST_READ
    assert min(at for _, at in kept.rotation.read) >= sorted(at for _, at in grouped.read)[-audit.MOST_READ]
    assert "| F1 |" in body


def samples_history() -> History:
    return History(head="0" * 40, next_number=500)


def test_what_is_new_stands_before_what_is_gone_before_what_stands() -> None:
    one = replace(samples.OFF_BY_ONE, status=FindingStatus.ACCEPTED)
    review = a_review(
        findings=(
            replace(one, id="F1", title="old trouble", lifecycle=Lifecycle.CARRIED),
            replace(one, id="F2", title="new trouble"),
            replace(one, id="F3", title="past trouble", lifecycle=Lifecycle.FIXED, status=FindingStatus.BELOW_THRESHOLD),
        )
    )
    found = Comparison.of(review, "f" * 40)
    assert [[item.id for item in part] for part in (found.new, found.standing, found.gone)] == [["F2"], ["F1"], ["F3"]]
    note = audit.note(found)
    assert note == "audit: since the last one, of ffffffffff: 1 new, 1 still there, 1 gone"
    body = audit.render(replace(review, notes=(note,)))
    places = [body.index(words) for words in ("1 new, 1 still there", "new trouble", "past trouble", "old trouble")]
    assert places == sorted(places)


def test_a_person_is_told_the_worst_and_the_rest_is_counted() -> None:
    review = many(80)
    told = audit.worst(review)
    assert len(told.posted()) == audit.MOST_TOLD
    assert len(told.findings) == 80
    assert "30 further findings are only in the document" in audit.render(review)
    assert audit.worst(many(3)) == many(3)


def test_what_was_not_seen_is_said_at_the_top_and_nothing_found_is_no_pass() -> None:
    gap = Coverage("a.py", CoverageStatus.SKIPPED, "larger than an audit may show")
    body = audit.render(a_review(findings=(), coverage=(gap,), conclusion=Conclusion.PARTIAL))
    assert "**NOT REVIEWED:** 1 of the files" in body
    assert "Nothing found in what was seen." in body
    assert "Approved" not in body


@settings(max_examples=examples(60))
@given(ANYTHING)
@example(samples.HOSTILE_WORDS)
def test_hostile_words_stay_words(text: str) -> None:
    one = replace(samples.HOSTILE.findings[0], title=text, body=text, quote=text, path=text, id=text, dissent=text)
    gone = replace(one, lifecycle=Lifecycle.FIXED, status=FindingStatus.BELOW_THRESHOLD)
    review = a_review(samples.HOSTILE, findings=(one, gone), notes=(text, f"audit: {text}"), sandbox=text)
    body = audit.render(review, AuditMemory(replace(samples_history(), head=text)))
    assert body.startswith(f"{audit.MARKER}\n<!-- reviewbot:state ")
    rest = body.split("\n", 3)[3]
    assert audit.decode(body) is not None
    assert github.dangers(rest, LINK_HOSTS, own_html=True) == []
    assert "<!--" not in "".join(token.content for token in github.parse(rest) if token.type.startswith("html"))


@pytest.mark.parametrize("name", formats.FORMATS)
def test_every_format_of_a_hostile_audit_can_be_written(name: str) -> None:
    review = a_review(samples.HOSTILE, notes=(f"audit: {samples.HOSTILE_WORDS}",))
    written = formats.render(name, review, formats.Rendering())
    assert written
    if name == "text":
        assert "\x1b" not in written
        assert "\n::error" not in written


def test_an_audit_asks_nobody_for_changes_and_approves_nothing() -> None:
    heads = {verdict: phrases.headline(a_review(verdict=verdict)).words for verdict in Verdict}
    assert heads[Verdict.REQUEST_CHANGES] == "Grave findings"
    assert heads[Verdict.APPROVE] == "Comments"
