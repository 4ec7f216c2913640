"""Which finding a dismissal is about: it follows its line, and spares neither another line nor another thing on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.consensus import dismissed
from reviewbot.consensus.look import Look
from reviewbot.consensus.policy import PolicyOptions, Shown, findings
from reviewbot.domain.change import FileChange, FileKind, FileStatus, Hunk
from reviewbot.domain.debate import Case, Claim, Transcript, Triage
from reviewbot.domain.dismissal import Dismissal
from reviewbot.domain.evidence import Category, Ledger
from reviewbot.domain.history import History
from reviewbot.domain.review import Finding, FindingStatus
from reviewbot.testing import a_claim, a_passage

LINE = "    except Exception:"
CODE = ("def f(a):", "    try:", "        go(a)", LINE, "        pass", "", "def g(b):", "    return b")


def change(lines: tuple[str, ...], path: str, base: str | None) -> FileChange:
    """All of a file as one hunk."""
    rows = tuple(b"+" + line.encode() for line in lines)
    hunks = (Hunk("H1", 0, 0, 1, len(rows), b"", rows),)
    status = FileStatus.RENAMED if base else FileStatus.ADDED
    return FileChange(path, base, status, FileKind.TEXT, 0, 0o100644, None, "2" * 40, len(rows), 0, hunks)


def look(lines: tuple[str, ...], path: str = "a.py", base: str | None = None) -> Look:
    file = change(lines, path, base)
    return Look(History(), (file,), (file,), {path: lines}, Ledger())


def raised(
    claims: Iterable[Claim], lines: tuple[str, ...] = CODE, path: str = "a.py", base: str | None = None
) -> tuple[Finding, ...]:
    cases = tuple(
        replace(Case(f"F{number}", (claim,), claim.severity, Triage.ACCEPTED, ""), probability=0.9)
        for number, claim in enumerate(claims, 1)
    )
    shown = Shown((a_passage(path, "\n".join(lines)),), {path: lines}, {path: base or path})
    return findings(Transcript(cases=cases), shown, PolicyOptions())


def about(line: int, lines: tuple[str, ...] = CODE, path: str = "a.py", **other: object) -> Claim:
    return a_claim(path, line, lines[line - 1], **{"rule": "BLE001", **other})


def gone(claim: Claim, lines: tuple[str, ...] = CODE) -> Dismissal:
    return dismissed.remembered(raised([claim], lines)[0], "meant", "2026-01-02")


def spared(claims: Iterable[Claim], held: Iterable[Dismissal], lines: tuple[str, ...] = CODE, **file: str) -> list[bool]:
    told = dismissed.settled(raised(claims, lines, **file), look(lines, **file), tuple(held))
    return [finding.status is FindingStatus.DISMISSED for finding in told]


ONE = gone(about(4))


def test_what_was_dismissed_is_told_as_such_with_its_reason() -> None:
    (told,) = dismissed.settled(raised([about(4)]), look(CODE), (ONE,))
    assert (told.status, told.stop_reason, told.blocks) == (
        FindingStatus.DISMISSED,
        "dismissed in .reviewbot/dismissed.yml: meant",
        False,
    )


def test_it_follows_its_line_through_other_words_and_moves() -> None:
    assert spared([about(4, title="a broad except")], [ONE]) == [True]
    moved = ("import os", "", "x = 1", *CODE)
    assert spared([about(7, moved)], [ONE], moved) == [True]
    indented = tuple(f"    {line}" if line else line for line in CODE)
    assert spared([about(4, indented)], [ONE], indented) == [True]


def test_it_is_raised_again_where_its_line_says_something_else() -> None:
    edited = (*CODE[:3], "    except BaseException:", *CODE[4:])
    assert spared([about(4, edited)], [ONE], edited) == [False]


TWICE = (*CODE, "", "def h(c):", "    try:", "        stop(c)", LINE, "        raise", "")
BEFORE = ("def h(c):", "    try:", "        stop(c)", LINE, "        raise", "", *CODE)


@pytest.mark.parametrize(("lines", "new", "old"), [(TWICE, 13, 4), (BEFORE, 4, 10)])
def test_an_equal_line_that_somebody_writes_beside_it_is_not_spared(lines: tuple[str, ...], new: int, old: int) -> None:
    assert spared([about(new, lines)], [ONE], lines) == [False]
    assert spared([about(old, lines)], [ONE], lines) == [True]
    assert spared([about(new, lines), about(old, lines)], [ONE], lines) == [False, True]


def test_a_copy_of_all_that_is_around_it_spares_the_first_of_both_alone() -> None:
    copied = (*CODE, *CODE)
    assert spared([about(4, copied), about(12, copied)], [ONE], copied) == [True, False]


def test_another_rule_on_the_line_is_another_thing() -> None:
    assert spared([about(4, rule="S110"), about(4)], [ONE]) == [False, True]


def test_two_things_of_one_rule_on_one_line_are_told_apart_by_their_words() -> None:
    first, second = about(4, title="`os` is not used"), about(4, title="`sys` imported and never needed")
    assert spared([first, second], [gone(first)]) == [True, False]
    assert spared([second, first], [gone(first)]) == [False, True]


def test_what_panelists_say_is_spared_by_kind_or_by_words_and_nothing_else_is() -> None:
    prose = about(4, rule=None, title="the handler swallows every error", category=Category.CORRECTNESS)
    held = [gone(prose)]
    assert spared([replace(prose, title="errors vanish without a trace")], held) == [True]
    assert spared([replace(prose, category=Category.MAINTAINABILITY)], held) == [True], "the same words"
    injection = about(4, rule=None, title="SQL built of input", category=Category.SECURITY)
    assert spared([injection], held) == [False]
    assert spared([injection], [ONE]) == [False], "a tool's rule was dismissed"


def test_a_renamed_file_is_known_by_its_name_at_base_and_at_head() -> None:
    renamed = about(4, path="b.py")
    assert spared([renamed], [ONE], path="b.py", base="a.py") == [True]
    (told,) = raised([renamed], path="b.py", base="a.py")
    after_the_merge = dismissed.remembered(told, "meant", "2026-01-02")
    assert spared([about(4, path="b.py")], [after_the_merge], path="b.py") == [True]
    assert spared([about(4, path="c.py")], [ONE], path="c.py") == [False]


def test_what_is_about_no_line_needs_the_same_rule_and_words() -> None:
    whole = replace(about(4), line=0, start_line=0, quote="")
    held = [gone(whole)]
    assert spared([whole], held) == [True]
    assert spared([replace(whole, title="another")], held) == [False]
    assert spared([replace(whole, rule=None)], held) == [False]


def test_a_fingerprint_alone_as_somebody_may_write_it_by_hand_is_enough() -> None:
    bare = Dismissal(ONE.fingerprint, "a.py", "by hand", rule="BLE001")
    assert spared([about(4)], [bare]) == [True]
    assert spared([about(13, TWICE)], [bare], TWICE) == [False]


def test_what_the_change_itself_dismisses_is_raised_with_its_authors_word() -> None:
    (told,) = dismissed.opposed(raised([about(4)]), look(CODE), (replace(ONE, reason="trust me"),))
    assert (told.status, told.dissent) == (FindingStatus.ACCEPTED, "the change itself dismisses it: trust me")


@given(
    st.lists(st.sampled_from(("x = 1", "y = 2", LINE, "", "z")), min_size=1, max_size=14),
    st.lists(st.sampled_from(("x = 1", LINE, "w")), max_size=4),
    st.data(),
)
def test_one_dismissal_spares_one_finding_at_most_and_only_of_its_text(
    before: list[str], more: list[str], data: st.DataObject
) -> None:
    old = tuple(before)
    line = data.draw(st.integers(1, len(old)))
    at = data.draw(st.integers(0, len(old)))
    new = (*old[:at], *more, *old[at:])
    held = gone(about(line, old), old)
    every = [about(number, new) for number in range(1, len(new) + 1)]
    found = [number for number, is_spared in enumerate(spared(every, [held], new), 1) if is_spared]
    assert len(found) <= 1
    assert all(new[number - 1] == old[line - 1] for number in found)
    if not more:
        assert found == [line]
