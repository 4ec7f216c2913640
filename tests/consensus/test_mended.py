"""A review once our own commits stand upon its head: nothing of them is new, and every line is where it went."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.changeset import diff
from reviewbot.consensus import carry, mended, seen
from reviewbot.domain.change import ChangeSet, Revisions
from reviewbot.domain.evidence import CheckRun
from reviewbot.domain.history import Fate, History
from reviewbot.domain.review import Conclusion, Footprint, Lifecycle, RangeMode, Verdict
from reviewbot.ports import RawDiff
from tests.publish import pulls, samples
from tests.publish.pulls import a_finding, a_review
from tests.rings import examples

NOW = Revisions("range", "b" * 40, "c" * 40, "3" * 40, "4" * 40)


def a_change(patch: str, revisions: Revisions = NOW) -> ChangeSet:
    return diff.read(RawDiff(b"", b"", patch.encode()), replace(revisions, head_tree=None))


PATCH = """\
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -38,3 +38,5 @@
 a
-b
+c
+d
+e
 f
"""
MOVED = a_change(PATCH)
CHANGE = replace(pulls.CHANGE, revisions=NOW)
REVIEW = replace(
    a_review(a_finding(1, line=39, start_line=39), a_finding(2, line=45, start_line=44), a_finding(3, blocks=True)),
    footprint=Footprint("course", "whole", ("old",)),
)


def test_what_was_mended_is_told_no_more_and_the_rest_stands_where_its_lines_went() -> None:
    made = mended.after(REVIEW, CHANGE, mended={"F1": "fixed by commit 1234567890"}, moved=MOVED)
    one, two, three = made.findings
    assert (one.is_posted, one.lifecycle, one.stop_reason) == (False, Lifecycle.FIXED, "fixed by commit 1234567890")
    assert (two.start_line, two.line, two.lifecycle) == (46, 47, Lifecycle.CARRIED)
    assert [line.number for line in two.code] == [
        mended.line_now(line.number, MOVED.files[0].hunks) for line in REVIEW.findings[1].code
    ]
    assert three.is_posted
    assert (made.revisions, made.range_mode, made.repairs) == (NOW, RangeMode.UNCHANGED, ())
    assert mended.NOTE in made.notes


def test_a_check_that_failed_for_what_is_mended_is_not_told_as_failed() -> None:
    items = (samples.EVIDENCE[0], replace(samples.EVIDENCE[1], id="E9", result=replace(samples.EVIDENCE[1].result, tool="mypy")))
    one, two = (replace(found, evidence=(item.id,)) for found, item in zip(REVIEW.findings[:2], items, strict=True))
    tool = items[0].result.tool
    runs = (
        CheckRun(tool, ran=True, failed=True),
        CheckRun("mypy", ran=True, failed=True),
        CheckRun("other", ran=True, failed=True),
    )
    review = replace(REVIEW, findings=(one, two), evidence=items, checks=runs)
    first, *rest = mended.after(review, CHANGE, mended={"F1": "fixed"}, moved=MOVED).checks
    assert (first.ran, first.failed, first.reason) == (False, False, mended.AGAIN)
    assert tuple(rest) == runs[1:]
    both = replace(review, findings=(one, replace(two, evidence=(items[0].id,))))
    assert mended.after(both, CHANGE, mended={"F1": "fixed"}, moved=MOVED).checks == runs


def test_what_stood_at_base_or_in_another_file_stays() -> None:
    left = replace(REVIEW.findings[1], side="LEFT")
    other = replace(REVIEW.findings[1], path="shop/other.py")
    made = mended.after(replace(REVIEW, findings=(left, other)), CHANGE, mended={}, moved=MOVED)
    assert [(one.start_line, one.line) for one in made.findings] == [(44, 45), (44, 45)]


def test_a_request_for_changes_falls_with_what_carried_it_and_nothing_gets_better_than_a_comment() -> None:
    both = {"F1": "fixed", "F3": "fixed"}
    assert REVIEW.verdict is Verdict.REQUEST_CHANGES
    assert mended.after(REVIEW, CHANGE, mended={"F1": "fixed"}, moved=MOVED).verdict is Verdict.REQUEST_CHANGES
    assert mended.after(REVIEW, CHANGE, mended=both, moved=MOVED).verdict is Verdict.COMMENT
    unread = replace(REVIEW, verdict=None, conclusion=Conclusion.NOT_REVIEWED)
    assert mended.after(unread, CHANGE, mended=both, moved=MOVED).verdict is None


def test_the_next_review_finds_nothing_new_in_our_commits() -> None:
    made = mended.after(REVIEW, CHANGE, mended={"F1": "fixed by commit 1"}, moved=MOVED)
    history = carry.history_after(made, carry.history_after(REVIEW, History()))
    assert history.head == NOW.head
    assert seen.unseen(CHANGE.files, history.seen) == ()
    assert history.whole == seen.whole(CHANGE.files)
    assert "old" in history.seen
    assert [(known.id, known.fate) for known in history.findings] == [
        ("F1", Fate.FIXED),
        ("F2", Fate.OPEN),
        ("F3", Fate.OPEN),
    ]


def test_where_not_all_was_looked_at_our_commits_are_no_part_of_what_was() -> None:
    partial = replace(REVIEW, conclusion=Conclusion.PARTIAL)
    made = mended.after(partial, CHANGE, mended={}, moved=MOVED)
    assert made.footprint == REVIEW.footprint
    assert made.conclusion is Conclusion.PARTIAL


LINES = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=14)


@settings(max_examples=examples(60))
@given(LINES, LINES)
def test_a_line_that_git_calls_the_same_is_found_where_git_has_it(old: list[str], new: list[str]) -> None:
    patch = a_diff(old, new)
    if not patch:
        return
    hunks = a_change(patch).files[0].hunks
    kept = {line.old: line.new for hunk in hunks for line in hunk.lines() if line.old and line.new}
    for before, now in kept.items():
        assert mended.line_now(before, hunks) == now
    gone = {line.old for hunk in hunks for line in hunk.lines() if line.new is None}
    for number in range(1, len(old) + 1):
        assert number in gone or old[number - 1] == new[mended.line_now(number, hunks) - 1]


def a_diff(old: list[str], new: list[str]) -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a").write_text("".join(f"{line}\n" for line in old))
        (folder / "b").write_text("".join(f"{line}\n" for line in new))
        argv = ["diff", "-U1", "--label", "a/f", "--label", "b/f", "a", "b"]
        return subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False).stdout
