"""Findings over several reviews: each keeps its number, and what becomes of it follows from what was looked at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.consensus import carry, identity, seen
from reviewbot.consensus.look import Look, standing
from reviewbot.consensus.policy import PolicyOptions, Shown, findings, verdict
from reviewbot.domain.change import Coverage, CoverageStatus, FileChange, FileKind, FileStatus, Hunk, Revisions
from reviewbot.domain.debate import Case, Claim, Proof, SettledBy, Transcript, Triage
from reviewbot.domain.evidence import CheckRun, Ledger, Precision, Severity
from reviewbot.domain.history import Fate, History
from reviewbot.domain.review import Conclusion, Finding, FindingStatus, Footprint, Lifecycle, Review, Verdict
from reviewbot.testing import a_claim, a_passage, evidence_item
from tests.rings import examples

CODE = (
    "import os",
    "",
    "def f(a):",
    "    return eval(a)",
    "",
    "def g(b):",
    "    return exec(b)",
    "",
    "def h(c):",
    "    return c / 0",
)
EVAL, EXEC, ZERO = 4, 7, 10
RAN = Ledger(checks=(CheckRun("ruff", ran=True),), sandbox="bubblewrap")
REVISIONS = Revisions("range", "a" * 40, "b" * 40, "1" * 40, "2" * 40)


def added(lines: Iterable[str], path: str = "a.py") -> FileChange:
    """A file that is new, as one hunk."""
    rows = tuple(b"+" + line.encode() for line in lines)
    hunks = (Hunk("H1", 0, 0, 1, len(rows), b"", rows),)
    return FileChange(path, None, FileStatus.ADDED, FileKind.TEXT, 0, 0o100644, None, "2" * 40, len(rows), 0, hunks)


def reviewed(
    claims: Iterable[Claim],
    history: History | None = None,
    *,
    lines: tuple[str, ...] = CODE,
    path: str = "a.py",
    ledger: Ledger = RAN,
    is_whole: bool = True,
    is_known: bool = True,
    **case: object,
) -> Review:
    """A review that raises these claims, as the stages make it."""
    history = history or History()
    change = added(lines, path)
    leads = tuple(claims)
    texts = {path: tuple(map(identity.normalised, lines))}
    fresh = seen.unseen([change], history.seen)
    look = Look(history, (change,), fresh, {path: lines}, ledger, is_whole=is_whole, is_known=is_known)
    names = identity.names(carry.spots(leads, texts, {path: path}), history, texts, standing=standing(look))
    made = {"probability": 0.9, "settled_by": SettledBy.VOTE} | case
    cases = tuple(
        replace(Case(name, (claim,), claim.severity, Triage.ACCEPTED, ""), **made)  # type: ignore[arg-type]
        for name, claim in zip(names, leads, strict=True)
    )
    shown = Shown((a_passage(path, "\n".join(lines)),), {path: lines}, {path: path})
    told = carry.carried(findings(Transcript(cases=cases), shown, PolicyOptions()), look)
    whole = Conclusion.COMPLETE if is_whole else Conclusion.PARTIAL
    marks = sorted(seen.marks([change]) | set(seen.results(ledger, {}).values()))
    decided = verdict(whole, told, ledger, coverage=(Coverage(path, CoverageStatus.REVIEWED),))
    footprint = Footprint("x.y", seen.whole([change]), tuple(marks) if is_whole else ())
    return Review("1", "0", whole, decided, REVISIONS, findings=told, evidence=ledger.items, footprint=footprint)


def about(line: int, lines: tuple[str, ...] = CODE, **other: object) -> Claim:
    return a_claim("a.py", line, lines[line - 1], **other)


def after(*reviews: Review) -> History:
    history = History()
    for review in reviews:
        history = carry.history_after(review, history)
    return history


def lives(review: Review) -> dict[str, tuple[Lifecycle, FindingStatus]]:
    return {finding.id: (finding.lifecycle, finding.status) for finding in review.findings}


def of(review: Review, name: str) -> Finding:
    return next(finding for finding in review.findings if finding.id == name)


OPEN = (Lifecycle.CARRIED, FindingStatus.ACCEPTED)
FIXED = (Lifecycle.FIXED, FindingStatus.BELOW_THRESHOLD)
FIRST = reviewed([about(EVAL), about(EXEC), about(ZERO)])


def dismissed(history: History, name: str) -> History:
    known = (replace(one, fate=Fate.DISMISSED, by="ada", reason="trusted") if one.id == name else one for one in history.findings)
    return replace(history, findings=tuple(known))


def edited(**lines: str) -> tuple[str, ...]:
    """The code with other words in some lines, as ``l4="..."``."""
    return tuple(lines.get(f"l{number}", text) for number, text in enumerate(CODE, 1))


def test_a_first_review_is_as_it_was_made() -> None:
    assert lives(FIRST) == dict.fromkeys(("F1", "F2", "F3"), (Lifecycle.NEW, FindingStatus.ACCEPTED))
    history = after(FIRST)
    assert [(known.id, known.text, known.fate) for known in history.findings] == [
        ("F1", "return eval(a)", Fate.OPEN),
        ("F2", "return exec(b)", Fate.OPEN),
        ("F3", "return c / 0", Fate.OPEN),
    ]
    assert (history.next_number, history.head, history.conclusion) == (4, "b" * 40, Conclusion.COMPLETE)


def test_what_stands_on_seen_lines_is_carried_to_where_they_are_now() -> None:
    moved = ("# a remark", "", *CODE)
    again = reviewed([], after(FIRST), lines=moved)
    assert lives(again) == dict.fromkeys(("F1", "F2", "F3"), OPEN)
    assert [finding.line for finding in again.findings] == [EVAL + 2, EXEC + 2, ZERO + 2]
    assert [finding.fingerprint for finding in again.findings] == [finding.fingerprint for finding in FIRST.findings]


def test_a_line_that_is_gone_or_was_looked_at_in_vain_is_fixed_and_no_other_is() -> None:
    again = reviewed([], after(FIRST), lines=edited(l4="    return int(a)", l9="def h(c, d):"))
    assert lives(again) == {"F1": FIXED, "F2": OPEN, "F3": FIXED}
    assert (of(again, "F1").stop_reason, of(again, "F3").stop_reason) == (carry.GONE, carry.NOT_RAISED)
    assert [known.fate for known in after(FIRST, again).findings] == [Fate.FIXED, Fate.OPEN, Fate.FIXED]
    assert again.posted() == (of(again, "F2"),)


def test_silence_of_a_review_that_is_not_whole_fixes_nothing() -> None:
    again = reviewed([], after(FIRST), lines=edited(l4="    return int(a)", l9="def h(c, d):"), is_whole=False)
    assert lives(again) == {"F1": FIXED, "F2": OPEN, "F3": OPEN}


def test_what_is_raised_again_keeps_its_number_though_its_line_and_its_words_are_others() -> None:
    lines = edited(l4="    return eval( a, {} )")
    again = reviewed([about(EVAL, lines, title="quite another title")], after(FIRST), lines=lines)
    assert lives(again) == dict.fromkeys(("F1", "F2", "F3"), OPEN)
    assert of(again, "F1").fingerprint == of(FIRST, "F1").fingerprint
    assert reviewed([about(EVAL, lines)], after(FIRST, again), lines=lines).findings[0].id == "F1"


def test_something_else_on_a_seen_line_is_the_finding_of_that_line_and_two_rules_are_two_findings() -> None:
    history = after(reviewed([about(EVAL, rule="S307")]))
    again = reviewed([about(EVAL, rule="S307"), about(EVAL, rule="E501")], history, lines=edited(l3="def f(a, b):"))
    assert lives(again) == {"F1": OPEN, "F2": (Lifecycle.NEW, FindingStatus.ACCEPTED)}
    assert len({finding.fingerprint for finding in again.findings}) == 2
    alone = reviewed([about(EVAL, rule="E501")], history, lines=edited(l3="def f(a, b):"))
    assert lives(alone) == {"F2": (Lifecycle.NEW, FindingStatus.ACCEPTED), "F1": FIXED}


def test_of_two_findings_on_one_line_the_one_that_is_raised_again_is_known_by_its_words() -> None:
    both = [about(EVAL, title="user input is executed"), about(EVAL, title="slow for large values")]
    history = after(reviewed(both))
    again = reviewed([both[1]], history, lines=edited(l3="def f(a, b):"))
    assert lives(again) == {"F2": OPEN, "F1": FIXED}


def test_what_was_dismissed_stays_dismissed_and_says_by_whom_and_why() -> None:
    history = dismissed(after(FIRST), "F1")
    for claims in ([], [about(EVAL, severity=Severity.CRITICAL)]):
        again = reviewed(claims, history, lines=edited(l3="def f(a, b):"))
        assert lives(again)["F1"] == (Lifecycle.CARRIED, FindingStatus.DISMISSED)
        assert of(again, "F1").stop_reason == "dismissed by ada: trusted"
        assert of(again, "F1") not in again.posted()
        kept = replace(history.findings[0], severity=of(again, "F1").severity, near=of(again, "F1").near)
        assert carry.history_after(again, history).findings[0] == kept
        assert not carry.remarks(again.findings, history)


def test_a_proof_of_something_grave_that_was_dismissed_is_said_and_reopens_nothing() -> None:
    history = dismissed(after(FIRST), "F1")
    grave = about(EVAL, severity=Severity.HIGH)
    again = reviewed([grave], history, lines=edited(l3="def f(a, b):"), proof=Proof.PROVEN, settled_by=SettledBy.EVIDENCE)
    assert lives(again)["F1"] == (Lifecycle.CARRIED, FindingStatus.DISMISSED)
    assert carry.remarks(again.findings, history) == ("F1 was dismissed, and what was executed proves it: a.py:4",)
    assert again.verdict is Verdict.COMMENT
    assert not carry.remarks(again.findings, carry.history_after(again, history)), "it is said once"


def test_a_dismissal_counts_for_the_line_as_it_stood() -> None:
    lines = edited(l4="    return eval(a, b)")
    again = reviewed([about(EVAL, lines)], dismissed(after(FIRST), "F1"), lines=lines)
    assert lives(again) == {"F4": (Lifecycle.NEW, FindingStatus.ACCEPTED), "F2": OPEN, "F3": OPEN}


def test_a_dismissal_that_came_while_the_review_was_made_is_kept() -> None:
    now = dismissed(after(FIRST), "F2")
    again = reviewed([], after(FIRST), lines=("# a remark", *CODE))
    assert [known.fate for known in carry.history_after(again, now).findings] == [Fate.OPEN, Fate.DISMISSED, Fate.OPEN]


def test_nothing_new_is_told_of_lines_that_were_seen_unless_something_executed_is_new() -> None:
    first = reviewed([about(EVAL)])
    again = reviewed([about(EXEC)], after(first))
    assert lives(again) == {"F2": (Lifecycle.NEW, FindingStatus.BELOW_THRESHOLD), "F1": OPEN}
    assert of(again, "F2").stop_reason == carry.SETTLED
    ledger = replace(RAN, items=(evidence_item(1, "a.py", EXEC, anchor=CODE[EXEC - 1]),))
    cited = about(EXEC, evidence=("E1",))
    assert lives(reviewed([cited], after(first), ledger=ledger))["F2"][1] is FindingStatus.ACCEPTED
    assert lives(reviewed([about(EXEC)], after(first), proof=Proof.PROVEN))["F2"][1] is FindingStatus.ACCEPTED
    known = after(reviewed([about(EVAL)], ledger=ledger))
    assert lives(reviewed([cited], known, ledger=ledger))["F2"][1] is FindingStatus.BELOW_THRESHOLD, "it was said before"
    assert lives(reviewed([about(EXEC)], after(first), is_known=False))["F2"][1] is FindingStatus.ACCEPTED, "other eyes"


def test_severity_rises_only_with_the_code_or_with_new_evidence() -> None:
    grave = about(EVAL, severity=Severity.CRITICAL)
    assert of(reviewed([grave], after(FIRST)), "F1").severity is Severity.MEDIUM
    assert of(reviewed([grave], after(FIRST), proof=Proof.PROVEN), "F1").severity is Severity.CRITICAL
    assert of(reviewed([grave], after(FIRST), lines=edited(l3="def f(a, b):")), "F1").severity is Severity.CRITICAL
    assert of(reviewed([about(EVAL, severity=Severity.LOW)], after(FIRST)), "F1").severity is Severity.LOW


def test_what_comes_back_is_reopened_with_its_number() -> None:
    gone = reviewed([], after(FIRST), lines=CODE[:8])
    assert lives(gone) == {"F1": OPEN, "F2": OPEN, "F3": FIXED}
    back = reviewed([], after(FIRST, gone))
    assert lives(back) == {"F1": OPEN, "F2": OPEN, "F3": (Lifecycle.REOPENED, FindingStatus.ACCEPTED)}
    judged = reviewed([], after(FIRST), lines=edited(l9="def h(c, d):"))
    assert lives(judged)["F3"] == FIXED
    assert "F3" not in lives(reviewed([], after(FIRST, judged), lines=edited(l9="def h(c, d):"))), "the panel had judged it"
    raised = reviewed([about(ZERO)], after(FIRST, judged), lines=edited(l9="def h(c, d, e):"))
    assert lives(raised)["F3"] == (Lifecycle.REOPENED, FindingStatus.ACCEPTED)


def lint(*lines: int) -> Ledger:
    items = tuple(evidence_item(n, "a.py", line, anchor=CODE[line - 1]) for n, line in enumerate(lines, 1))
    return replace(RAN, items=items)


def test_what_a_tool_said_goes_with_the_tool_s_result_wherever_it_stands() -> None:
    claims = [about(line, rule="B006", evidence=(f"E{n}",)) for n, line in enumerate((EVAL, EXEC), 1)]
    history = after(reviewed(claims, ledger=lint(EVAL, EXEC)))
    again = reviewed([], history, ledger=lint(EXEC))
    assert lives(again) == {"F1": FIXED, "F2": OPEN}
    assert of(again, "F1").stop_reason == carry.NOT_SAID
    assert of(again, "F2").evidence == ("E1",), "as the ledger of today calls it"
    assert lives(reviewed([], history, ledger=lint(EVAL, EXEC), lines=edited(l3="def f(a, b):")))["F1"] == OPEN, (
        "it is said still"
    )
    back = reviewed([], carry.history_after(again, history), ledger=lint(EVAL, EXEC))
    assert lives(back)["F1"] == (Lifecycle.REOPENED, FindingStatus.ACCEPTED)


@pytest.mark.parametrize(
    "run",
    [CheckRun("ruff", ran=False, reason="it is missing"), CheckRun("ruff", ran=True, cut_short=True), CheckRun("mypy", ran=True)],
    ids=["did not run", "was cut short", "is another one"],
)
def test_a_check_that_says_nothing_fixes_nothing(run: CheckRun) -> None:
    history = after(reviewed([about(EVAL, rule="B006", evidence=("E1",))], ledger=lint(EVAL)))
    assert lives(reviewed([], history, ledger=replace(RAN, checks=(run,)))) == {"F1": OPEN}
    everything = replace(history, seen=frozenset())
    assert lives(reviewed([], everything, ledger=replace(RAN, checks=(run,)))) == {"F1": OPEN}, (
        "also where all is looked at again"
    )


def test_what_blocked_blocks_until_it_is_fixed() -> None:
    proven = reviewed([about(EVAL, severity=Severity.HIGH)], proof=Proof.PROVEN, settled_by=SettledBy.EVIDENCE)
    grave = replace(
        lint(EVAL), items=(replace(lint(EVAL).items[0], result=replace(lint(EVAL).items[0].result, severity=Severity.HIGH)),)
    )
    believed = reviewed([about(EVAL, severity=Severity.HIGH, rule="B006", evidence=("E1",))], ledger=grave)
    for first in (proven, believed):
        assert first.verdict is Verdict.REQUEST_CHANGES
        moved = reviewed([], after(first), lines=("# a remark", "", *CODE), ledger=Ledger())
        assert (lives(moved), moved.verdict) == ({"F1": OPEN}, Verdict.REQUEST_CHANGES)
        fixed = reviewed([], after(first, moved), lines=("# a remark", "", *edited(l4="    return int(a)")))
        assert (lives(fixed), fixed.verdict) == ({"F1": FIXED}, Verdict.APPROVE)
    prose = reviewed([about(EVAL, severity=Severity.HIGH)])
    assert reviewed([], after(prose), lines=("# a remark", "", *CODE)).verdict is Verdict.COMMENT


def test_what_did_not_block_by_itself_does_not_when_what_blocked_beside_it_is_fixed() -> None:
    guess = evidence_item(1, "a.py", EVAL, anchor=CODE[EVAL - 1], precision=Precision.HEURISTIC, severity=Severity.HIGH)
    claims = [about(EVAL, severity=Severity.HIGH, rule="B006", evidence=("E1",)), about(ZERO, severity=Severity.HIGH)]
    ledger = replace(RAN, items=(guess, evidence_item(2, "a.py", ZERO, anchor=CODE[ZERO - 1], severity=Severity.HIGH)))
    cited = [claims[0], replace(claims[1], rule="B006", evidence=("E2",))]
    first = reviewed(cited, ledger=ledger)
    assert first.verdict is Verdict.REQUEST_CHANGES
    second = reviewed([], after(first), lines=edited(l10="    return c"), ledger=replace(ledger, items=(guess,)))
    assert (lives(second), second.verdict) == ({"F1": OPEN, "F2": FIXED}, Verdict.COMMENT)
    assert of(second, "F1").proof is Proof.UNTESTED


def test_a_finding_follows_its_file_to_another_name_and_goes_with_it() -> None:
    again = reviewed([], after(FIRST), path="b.py")
    assert set(lives(again).values()) == {FIXED}
    history = after(FIRST)
    change = replace(added(CODE), path="b.py", old_path="a.py", status=FileStatus.RENAMED)
    look = Look(history, (change,), seen.unseen([change], history.seen), {"b.py": CODE}, RAN)
    assert [(one.path, one.lifecycle) for one in carry.carried((), look)] == [("b.py", Lifecycle.CARRIED)] * 3


def test_a_line_that_the_change_no_longer_touches_is_out_of_it() -> None:
    rows = (b" " + CODE[0].encode(), b"+# a remark", b" ")
    hunks = (Hunk("H1", 1, 2, 1, 3, b"", rows),)
    change = replace(added(CODE), status=FileStatus.MODIFIED, old_path="a.py", old_mode=0o100644, hunks=hunks)
    look = Look(after(FIRST), (change,), (change,), {"a.py": CODE}, RAN)
    assert {one.id: one.stop_reason for one in carry.carried((), look)} == {
        "F1": carry.STANDS,
        "F2": carry.GONE,
        "F3": carry.GONE,
    }


def test_a_line_like_one_that_still_stands_is_another_finding() -> None:
    lines = (*CODE, "    return c / 1")
    again = reviewed([about(11, lines)], after(FIRST), lines=lines)
    assert {finding.id: finding.line for finding in again.posted()}["F4"] == 11
    assert lives(again)["F3"] == FIXED, "its paragraph was looked at, and it was not raised"


def test_equal_lines_are_told_apart_by_their_order_and_by_what_is_near() -> None:
    lines = ("x()", "", "y()", "", "x()", "", "z()")
    first = reviewed([about(5, lines)], lines=lines)
    history = after(first)
    assert of(reviewed([], history, lines=("# new", *lines)), "F1").line == 6
    assert of(reviewed([], history, lines=lines[2:]), "F1").line == 3
    many = ("x()", *lines)
    assert of(reviewed([], history, lines=many), "F1").line == 6


def guarded(*numbers: int, caught: str = "Exception") -> tuple[str, ...]:
    """Functions of which each has lines that all have."""
    shape = ("def f{}():", "    try:", "        load({})", f"    except {caught}:", "        pass", "")
    return tuple(line.format(number) for number in numbers for line in shape)


def swallowing(place: int, lines: tuple[str, ...]) -> Claim:
    return about(place, lines, title=f"errors of {lines[place - 2].strip()} are lost")


@pytest.mark.parametrize("fate", [Fate.OPEN, Fate.DISMISSED])
def test_an_equal_line_elsewhere_is_another_finding_and_takes_nobody_s_number(fate: Fate) -> None:
    first = reviewed([swallowing(10, guarded(1, 2))], lines=guarded(1, 2))
    history = after(first)
    history = dismissed(history, "F1") if fate is Fate.DISMISSED else history
    place, status = (16, OPEN[1]) if fate is Fate.OPEN else (16, FindingStatus.DISMISSED)
    for lines, new in ((guarded(3, 1, 2), 4), (guarded(1, 3, 2), 10)):
        again = reviewed([swallowing(new, lines)], history, lines=lines)
        assert lives(again) == {"F2": (Lifecycle.NEW, FindingStatus.ACCEPTED), "F1": (Lifecycle.CARRIED, status)}
        assert (of(again, "F1").line, of(again, "F2").line) == (place, new)
        third = reviewed([], carry.history_after(again, history), lines=(*lines, "# more"))
        assert (of(third, "F1").line, of(third, "F2").line) == (place, new), "and so in the review after it"


def test_a_finding_that_was_fixed_does_not_go_on_on_an_equal_line() -> None:
    lines = guarded(1, 2)
    history = after(reviewed([swallowing(4, lines)], lines=lines))
    mended = (*guarded(1, caught="KeyError"), *guarded(2))
    assert lives(reviewed([], history, lines=mended)) == {"F1": FIXED}
    assert lives(reviewed([], history, lines=guarded(3, 2))) == {"F1": FIXED}
    both = after(reviewed([swallowing(4, lines), swallowing(10, lines)], lines=lines))
    moved = reviewed([swallowing(10, guarded(3, 1))], both, lines=guarded(3, 1))
    assert lives(moved) == {"F1": OPEN, "F2": FIXED}, "each by what is near it, not by its order"


def test_what_is_remembered_is_bounded() -> None:
    history = after(FIRST)
    fixed = tuple(replace(history.findings[0], id=f"F{number}", fate=Fate.FIXED) for number in range(4, carry.MOST_KNOWN + 50))
    kept = carry.history_after(FIRST, replace(history, findings=(*history.findings, *fixed)))
    assert len(kept.findings) == carry.MOST_KNOWN
    assert {"F1", "F2", "F3", fixed[-1].id} <= {known.id for known in kept.findings}
    assert kept.next_number == carry.MOST_KNOWN + 50
    flood = replace(history, seen=frozenset(map(str, range(5_000))))
    after_all = carry.history_after(FIRST, flood).seen
    assert len(after_all) == seen.MOST_MARKS
    assert set(FIRST.footprint.seen) <= after_all


def test_a_review_that_is_not_whole_adds_nothing_to_what_was_seen() -> None:
    partial = reviewed([], after(FIRST), lines=("# new", *CODE), is_whole=False)
    history = after(FIRST, partial)
    assert (history.seen, history.whole, history.conclusion) == (after(FIRST).seen, "", Conclusion.PARTIAL)


TEXTS = tuple(f"    call_{number}({number} * x)" for number in range(6))
LINES = st.lists(st.sampled_from([*TEXTS, "", "# remark"]), min_size=1, max_size=10).map(tuple)


@settings(derandomize=True, max_examples=examples(200))
@given(st.lists(st.tuples(LINES, st.sets(st.integers(1, 10), max_size=4), st.booleans()), min_size=1, max_size=6), st.data())
def test_no_number_is_given_twice_and_nothing_is_both_fixed_and_carried(
    rounds: list[tuple[tuple[str, ...], set[int], bool]], data: st.DataObject
) -> None:
    history, owners = History(), {}
    for lines, places, is_whole in rounds:
        claims = [about(place, lines, title=f"about {lines[place - 1]}") for place in sorted(places) if place <= len(lines)]
        made = reviewed(claims, history, lines=lines, is_whole=is_whole)
        names = [finding.id for finding in made.findings]
        assert len(set(names)) == len(names)
        posted = [finding for finding in made.findings if finding.is_posted]
        assert len({finding.fingerprint for finding in posted}) == len(posted)
        assert not [finding for finding in posted if finding.lifecycle is Lifecycle.FIXED]
        known = {one.id: one for one in history.findings}
        for finding in made.findings:
            is_new = finding.id not in known
            assert is_new == (finding.lifecycle is Lifecycle.NEW)
            assert not is_new or identity.number(finding.id) >= history.next_number, "a number that was free"
            assert owners.setdefault(finding.id, finding.fingerprint) == finding.fingerprint
        lost = [one.id for one in history.findings if one.fate is Fate.OPEN and one.id not in names]
        assert not lost
        for finding in posted:
            if finding.line:
                assert identity.normalised(lines[finding.line - 1]) == identity.normalised(finding.quote), "it points to its line"
        history = carry.history_after(made, history)
        if history.findings and data.draw(st.booleans()):
            history = dismissed(history, data.draw(st.sampled_from([one.id for one in history.findings])))
