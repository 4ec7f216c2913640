"""Fixes: drafted by tools and scripted models, tried with real checks and tests."""

import asyncio
import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from typing import Any

import pytest
from click.testing import CliRunner, Result
from conftest import Project
from lean import lean_environment
from msgspec.structs import replace
from scripted import Answer, Scripted, by_edit, by_edits, work

from reviewbot.checks.evidence import CheckResult, Evidence
from reviewbot.cli.commands import reviewbot
from reviewbot.errors import UsageError
from reviewbot.events import Event
from reviewbot.fixing import _with_debate_of, fix
from reviewbot.git.change import Change, Location
from reviewbot.git.repository import Repository
from reviewbot.reports.text import render_fixes
from reviewbot.reports.words import DEFAULT
from reviewbot.sandbox.bubblewrap import Bubblewrap
from reviewbot.sandbox.environment import find_environment
from reviewbot.tasks.cycle import Draft, Edit, apply_edits
from reviewbot.tasks.task import Candidate, Judgement, Task, TaskResult
from reviewbot.tasks.trial import Trials, _merged, identities
from reviewbot.verdict.document import Review
from tests.served import configuration, configure, live_in

CART = "def total(prices):\n    return sum(prices)\n"
ADDED = "\n\ndef count(prices):\n    return len(prices)\n"
BROKEN = "def total(prices):\n    return sum(prices) + 1\n" + ADDED
MENDED = by_edit("cart.py", "sum(prices) + 1", "sum(prices)")
TEST = "from cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
AID = "def aid(x):\n    return x\n"


def fix_head(
    project: Project,
    answer: Answer | None = None,
    ids: tuple[str, ...] = (),
    moderator: tuple[str, ...] = (),
) -> tuple[Review, list[TaskResult], Scripted]:
    (review, results), scripted = work(project, answer, lambda c, h: fix(c, h, ids), moderator)
    return review, results, scripted


@pytest.fixture
def cart(project: Project) -> Project:
    project.commit("Begin", {"cart.py": CART, "test_cart.py": TEST, "aid.py": AID})
    project.commit("Add", {"cart.py": BROKEN})
    return project


def test_a_fix_is_drafted_until_the_broken_test_passes(cart: Project) -> None:
    edits = [("cart.py", "sum(prices) + 1", text) for text in ("sum(prices) + 2", "sum(prices)")]
    review, (result,), scripted = fix_head(cart, by_edits(*edits))
    assert (result.findings, result.outcome, result.author) == (("F1",), "fixed", "critic")
    assert result.files == {"cart.py": (CART + ADDED).encode()}
    assert [attempt.reasons for attempt in result.attempts] == [("F1 is still reported.",)]
    assert "F1 is still reported." in dict(scripted.prompts)["critic/fix_F1_2"]
    shown = render_fixes([result], review.findings, DEFAULT)
    assert shown.startswith("F1 high     cart.py:2: test_total fails")
    assert "Fixed: everything that runs here ran with it, and nothing objects (by critic)." in shown
    assert "-    return sum(prices) + 1" in shown


def test_right_and_wrong_fixes_are_told_apart(project: Project) -> None:
    """The right one is written in another way, with a helper and a note."""
    spare = "\n\ndef spare():\n    return 1\n"
    library = {"pyproject.toml": "[project]\nname = 'cart'\n", "test_cart.py": TEST}
    project.commit("Begin", {**library, "cart.py": CART + spare})
    project.commit("Add", {"cart.py": BROKEN + spare})

    def edit(find: str, text: str, path: str = "cart.py") -> dict[str, str]:
        return {"path": path, "find": find, "replace": text}

    wrong, total = "sum(prices) + 1", "def total(prices):\n    return sum(prices)\n"
    borrowed = "from test_aid import total as aid\n\n    return aid(prices)"
    helper = "\n\ndef _sum(prices):\n    return sum(list(prices))\n"
    drafts = iter(
        [
            [edit(f"return {wrong}", borrowed), edit("", total, "test_aid.py")],
            [edit(wrong, "sum(prices)"), edit(spare, ""), edit("len(prices)", "nowhere")],
            [edit(wrong, "_sum(prices)"), edit(spare, helper + spare), edit("", "# Sum\n", "a.md")],
        ]
    )

    def answer(label: str, _: str) -> Any:
        return {"edits": next(drafts) if "/fix_" in label else [], "objections": []}

    _, (result,), _ = fix_head(project, answer)
    old_tests, worse = (attempt.reasons for attempt in result.attempts)
    assert old_tests[0].startswith("With the old tests: pytest reports ")
    for words in ("Undefined name `nowhere`", "public-api reports Public API: spare is removed"):
        assert any(words in reason for reason in worse), worse
    assert (result.outcome, result.reasons) == ("fixed", ())
    assert result.files.keys() == {"cart.py", "a.md"}


# What functions return, and what the change makes of it.
BODIES = [
    *(("x + 1", "x - 1"), ("x * 2", "x * 3"), ("abs(x)", "x"), ("x > 3", "x >= 3")),
    *(("max(x, 3)", "min(x, 3)"), ("str(x)", "repr([x])"), ("[x, 3]", "[3, x]")),
    *(("x % 2 == 0", "x % 2"), ("range(x)[-1:]", "range(x)[:1]"), ("{x: 1}", "{1: x}")),
]
BODY = "def f{}(x):\n    return {}\n"
WORKFLOW = ".github/workflows/ci.yml"
# The wrong fix of each: what it returns, an edit beside that, and why it is refused.
Edited = tuple[str, str, str]
WRONG_FIXES: list[tuple[str, Edited | None, str]] = [
    ("x + 1  # noqa: F401", None, "silences a tool"),
    ("x * 2", ("test_f1.py", "assert f1(x)", "f1(x)"), "fixes may only add to tests"),
    ("abs(x)", (WORKFLOW, "", "on: push\n"), f"`{WORKFLOW}` is protected"),
    ("x > 3", ("conftest.py", "", "x = 1\n"), "`conftest.py` is protected"),
    ("max(x, 2)", None, "F5 is still reported."),
    ("str(x)", ("m.py", "range(x)[:1]", "missing(x)"), "Undefined name `missing`"),
    ("[x, 3]", ("m.py", BODY.format(0, "x + 1"), BODY.format(0, "x")), "pytest reports test_f0"),
    ("x % 2 == 0", ("test_g.py", "", "import pytest\n\npytest.skip()\n"), "keeps tests from"),
    (f"range(x)[-1:]\n\n\nKEY = 'ghp_{'a1B2' * 9}'", None, "new secret (github-token)"),
    ("{x: 1}\n\n\nf\u0430 = fa = 1", None, "looks like fa"),
]


def test_a_test_that_the_change_broke_is_evidence_enough(project: Project) -> None:
    """Of each fix a wrong one is refused with its reason, and the right one accepted."""
    test = "from m import f{0}\n\n\ndef test_f{0}():\n    for x in (-3, 2, 3):\n        "
    test += "assert f{0}(x) == ({1})\n"
    tests = {f"test_f{n}.py": test.format(n, right) for n, (right, _) in enumerate(BODIES)}
    right, broken = (
        "".join(BODY.format(n, returned) for n, returned in enumerate(each))
        for each in zip(*BODIES, strict=True)
    )
    # Every line changes, so that no test runs once more to find the edit that breaks it.
    project.commit("Begin", {"m.py": right.replace("(x):", "(x) :"), **tests})
    project.commit("Break", {"m.py": broken})

    def answer(label: str, _: str) -> Any:
        if "/fix_" not in label:
            return {"edits": [], "objections": []}
        number, attempt = (int(word) for word in re.findall(r"\d+", label))
        n, (before, after) = number - 1, BODIES[number - 1]
        returned, more, _ = WRONG_FIXES[n] if attempt == 1 else (before, None, "")
        edits = [("m.py", BODY.format(n, after), BODY.format(n, returned)), *filter(None, [more])]
        return {"edits": [dict(zip(("path", "find", "replace"), e, strict=True)) for e in edits]}

    _, results, _ = fix_head(project, answer)
    for result, (_, _, words) in zip(results, WRONG_FIXES, strict=True):
        assert result.outcome == "fixed", (result.reasons, [a.reasons for a in result.attempts])
        said = "\n".join(reason for attempt in result.attempts for reason in attempt.reasons)
        assert words in said
    assert results[-1].files == {"m.py": right.encode()}


def claims_about(path: str, line: int, quote: str, test: str = "") -> dict[str, Any]:
    words = ("title", "trigger", "consequence", "refuted_if")
    claim = {"path": path, "line": line, "quote": quote, "category": "correctness"}
    claim |= {"severity": "high", **dict.fromkeys(words, "It is off by one.")}
    if test:
        claim["reproduction"] = {"language": "python", "source": test}
    return {"claims": [claim]}


def test_what_a_linter_fixes_says_nothing_about_claims(project: Project) -> None:
    both = "def total(prices):\n    if prices is 2:\n        return 0\n    return sum(prices) + 1\n"
    project.commit("Begin", {"cart.py": CART})
    project.commit("Add", {"cart.py": both})

    def answer(label: str, _: str) -> Any:
        is_first = label.endswith("/first_pass")
        return claims_about("cart.py", 4, "return sum(prices) + 1", TEST) if is_first else {}

    review, (fixed, failed), _ = fix_head(project, answer)
    checks = {finding.id: finding.result for finding in review.findings}
    assert (fixed.outcome, fixed.author, failed.outcome) == ("fixed", "ruff", "failed")
    assert [checks[id] is None for id in (*fixed.findings, *failed.findings)] == [False, True]


@pytest.mark.parametrize(
    ("test", "drafts", "reason"),
    [
        (TEST, ["+ 2", ""], "F1 still fails the test that was written for it."),
        (TEST, [""], ""),
        ("", [""], "Nothing that was executed shows that F1 is gone."),
    ],
    ids=["proven", "fails before as well", "not proven"],
)
def test_when_a_claim_is_gone(project: Project, test: str, drafts: list[str], reason: str) -> None:
    project.commit("Begin", {"cart.py": CART if reason else CART.replace("s)\n", "s) + 2\n")})
    project.commit("Add", {"cart.py": BROKEN})
    texts = [f"sum(prices) {draft}".rstrip() for draft in drafts]
    edit = by_edits(*(("cart.py", "sum(prices) + 1", text) for text in texts))

    def answer(label: str, prompt: str) -> Any:
        if label.endswith("/first_pass"):
            is_first = label.startswith("critic")
            return claims_about("cart.py", 2, "return sum(prices) + 1", test) if is_first else {}
        return edit(label, prompt)

    review, (result,), scripted = fix_head(project, answer)
    assert result.outcome == ("fixed" if test else "suggested")
    (found,) = review.findings  # a later review may know it without its debate
    assert _with_debate_of(found, replace(found, claims=(), proof=None, attempt=None)) == found
    assert reason in str((result.attempts, result.reasons))
    # Judges learn what is not shown.
    prompt = dict(scripted.prompts)[f"reviewer/judge_F1_{len(drafts)}"]
    assert (
        ("Nothing that was" in prompt) == ("All checks and tests that" not in prompt) == (not test)
    )
    words = "" if reason else ", unless denied below. Before the change it fails too"
    assert bool(test) == (f"passes with it{words}:\n{test}" in prompt)
    first = dict(scripted.prompts)["critic/fix_F1_1"]
    assert bool(test) == (re.search(r"It prints now:\n<<<\w+\n.*FAILED", first, re.S) is not None)


@pytest.mark.parametrize("is_claimed", [False, True], ids=["tests", "claims"])
def test_a_later_fix_brings_nothing_back(project: Project, *, is_claimed: bool) -> None:
    one, two = "def one(x):\n    return x{}\n", "\n\ndef two(x):\n    return x{}\n"
    test = "from m import {0}\n\n\ndef test_{0}():\n    assert {0}(1) == 1\n"
    tests = {f"test_{name}.py": test.format(name) for name in ("one", "two")}
    project.commit("Begin", {"m.py": (one + two).format("", ""), **({} if is_claimed else tests)})
    project.commit("Add", {"m.py": (one + two).format(" + 1", " + 1")})
    right, wrong = one.format(""), one.format(" + 1")
    both = [(two.format(" + 1"), two.format("")), (right, wrong)]

    def answer(label: str, prompt: str) -> Any:
        if label.endswith("/first_pass"):
            said = is_claimed and label.startswith("critic")
            lines = zip((2, 6), tests.values() if said else (), strict=False)
            about = [claims_about("m.py", at, "return x + 1", test) for at, test in lines]
            return {"claims": [claim for each in about for claim in each["claims"]]}
        if "/fix_" not in label or "/fix_F1" in label:
            return by_edit("m.py", wrong, right)(label, prompt)
        edits = [{"path": "m.py", "find": old, "replace": new} for old, new in both]
        return {"edits": edits, "explanation": ""}

    _, (first, second), _ = fix_head(project, answer)
    assert (first.outcome, second.outcome) == ("fixed", "failed")
    claimed = (
        f"F1, which was fixed, fails the test that was written for it.\n{tests['test_one.py']}"
    )
    expected = claimed if is_claimed else "pytest reports test_one fails"
    assert expected in second.reasons[0]


def test_a_batch_that_breaks_something_is_made_file_by_file(project: Project) -> None:
    compared = "def f(x):\n    return x is 1000\n"
    test = "import b\n\n\ndef test_b():\n    assert not b.f(int('1000'))\n"
    project.commit("Begin", {"a.py": "x = 1\n", "b.py": "x = 1\n"})
    changed = "x = 1\nif x is 2:\n    x = 3\nz = undefined_name\n"
    project.commit("Add", {"a.py": changed, "b.py": compared, "test_b.py": test})
    _, results, _ = fix_head(project)
    assert [sorted(r.files) for r in results if r.outcome == "fixed"] == [["a.py"]]


def test_a_suggestion_outlives_an_answer_that_is_none(cart: Project) -> None:
    def answer(label: str, prompt: str) -> Any:
        if "/fix_F1_2" in label:
            return "I cannot do this."
        if "/judge_" in label:
            return {"objections": [{"path": "cart.py", "line": 2, "reason": "Hides it."}]}
        return MENDED(label, prompt)

    _, (result,), _ = fix_head(cart, answer)
    assert (result.outcome, len(result.dissent)) == ("suggested", 2)
    assert result.files


def test_of_a_draft_that_cannot_be_made_no_empty_diff_is_shown(cart: Project) -> None:
    edits = ("cart.py", "sum(price)", "x"), ("cart.py", "sum(prices) + 1", "sum(prices)")
    _, _, scripted = fix_head(cart, by_edits(*edits))
    words = '# Attempt 1 was not accepted\n- "what is to be found in cart.py does not occur'
    assert words in dict(scripted.prompts)["critic/fix_F1_2"]


def test_a_file_that_no_model_was_shown_is_not_written_anew(cart: Project) -> None:
    edits = [("cart.py", "sum(prices) + 1", "sum(prices)"), ("aid.py", "", f"{AID}\n\nx = 1\n")]
    draft = [dict(zip(("path", "find", "replace"), edit, strict=True)) for edit in edits]
    _, (result,), scripted = fix_head(cart, lambda *_: {"edits": draft, "objections": []})
    assert (result.outcome, result.reasons) == (
        "failed",
        ("aid.py exists: say what to find in it",),
    )
    prompts = dict(scripted.prompts)
    assert '## "aid.py"' not in prompts["critic/fix_F1_1"]
    assert '## "aid.py"' in prompts["critic/fix_F1_2"], "who drafts it anew sees what it forgot"


def test_who_did_not_judge_a_fix_is_said_and_which_linter(project: Project) -> None:
    project.commit("Begin", {"cart.py": CART, "ruff.toml": "select = 3\n"})
    project.commit("Add", {"cart.py": f"{CART}\n\nprint(missing)\n"})
    edit = by_edit("cart.py", "print(missing)\n", "")

    def answer(label: str, prompt: str) -> Any:
        return "It is fine." if label.startswith("reviewer/judge_") else edit(label, prompt)

    review, (result,), _ = fix_head(project, answer)
    shown = render_fixes([result], review.findings, DEFAULT)
    assert "reviewer did not judge it: the answer is not JSON" in shown
    assert result.outcome == "fixed"
    assert "\n  ruff-project did not run to its end: " in shown


def test_lines_that_repeat_take_no_time_to_merge() -> None:
    function = b"def f%d(x):\n    if x:\n        return 1\n    return x\n\n\n"
    lines = b"".join(function % number for number in range(6_000))
    started = time.monotonic()
    after = lines.replace(b"def f0", b"def  f0", 1)
    assert _merged(lines, after, [Location("a.py", 1, 1)]) == after
    assert _merged(lines, after, [Location("a.py", 9, 9)]) == lines
    assert time.monotonic() - started < 2


@pytest.mark.parametrize(
    ("objectors", "moderator", "line", "outcome"),
    [
        ("reviewer", "moderator", 2, "fixed"),  # the optimizer accepts it, and the moderator too
        ("reviewer ruling", "moderator", 2, "suggested"),
        # Without a moderator it is the optimizer who rules, not the critic, who wrote it.
        ("reviewer", "", 2, "fixed"),
        ("reviewer ruling", "", 2, "suggested"),
        ("reviewer optimizer", "moderator", 2, "suggested"),  # nobody accepts it
        ("reviewer optimizer", "", 99, "fixed"),  # it cites nothing of the change
        ("reviewer optimizer:99", "", 2, "suggested"),  # who cites nothing of it accepts nothing
    ],
)
def test_what_others_cite_against_it(
    cart: Project, objectors: str, moderator: str, line: int, outcome: str
) -> None:
    cited = dict(each.partition(":")[::2] for each in objectors.split())

    def answer(label: str, prompt: str) -> Any:
        name = "ruling" if label.endswith("_ruling") else label.partition("/")[0]
        if "/judge_" in label and name in cited:
            at = int(cited[name] or line)
            return {"objections": [{"path": "cart.py", "line": at, "reason": "Hides the cause."}]}
        return MENDED(label, prompt)

    _, (result,), scripted = fix_head(cart, answer, moderator=tuple(moderator.split()))
    assert result.outcome == outcome
    unheard = [each.split()[0] for each in result.facts if each.endswith("no line of the edit")]
    assert unheard == [
        name for name, _ in sorted(cited.items()) if line == 99 or "99" in cited[name]
    ]
    stands = f"reviewer (cart.py:{line}): Hides the cause." in result.dissent
    prompts = scripted.prompts
    again = [prompt for label, prompt in prompts if label.endswith("_2") and "/fix_" in label]
    assert stands == bool(again) == (outcome == "suggested")
    # Who writes it does not learn whose objection it is.
    assert all('- "cart.py:2: Hides the cause."' in prompt for prompt in again)
    # Who judges it need not count lines.
    rows = "1 def total(prices):\n2-    return sum(prices) + 1\n2+    return sum(prices)\n"
    assert f"\ncart.py\n{rows}" in dict(prompts)["reviewer/judge_F1_1"]
    rulings = {n.partition("/")[0]: p for n, p in prompts if n.endswith("_ruling")}
    assert {*rulings} == (set() if "optimizer" in objectors else {moderator or "optimizer"})
    assert all('line 2: "Hides the cause."' in prompt for prompt in rulings.values())


@pytest.mark.parametrize("fault", ["", "it is refused", "others object"])
def test_a_simpler_version_takes_its_place_if_it_is_as_strong(cart: Project, fault: str) -> None:
    more = "    result = result + 0\n" * 4
    long = f"    result = sum(prices)\n{more}    return result\n"
    draft = by_edit("cart.py", "    return sum(prices) + 1\n", long)
    end = "prices) + 1" if fault == "it is refused" else "prices)"
    simpler = by_edit("cart.py", long, f"    return sum({end}\n")

    def answer(label: str, prompt: str) -> Any:
        if "/optimise_" in label:
            return {**simpler("/fix_", ""), "explanation": "Adds nothing."}
        if "/judge_F1_4" in label and fault == "others object":
            return {"objections": [{"path": "cart.py", "line": 2, "reason": "Too short."}]}
        return draft(label, prompt)

    _, (result,), scripted = fix_head(cart, answer)
    assert "Documentation, and" in dict(scripted.prompts)["optimizer/optimise_F1"]
    assert (result.outcome, result.author) == ("fixed", "critic" if fault else "optimizer")
    assert result.explanation == f"It was off by one.{'' if fault else ' Adds nothing.'}"
    text = CART.replace("    return sum(prices)\n", long) if fault else CART
    assert result.files == {"cart.py": (text + ADDED).encode()}


WRONG = [
    (("a.py", "y = 1", "0"), "what is to be found in a.py does not occur: 'y = 1'"),
    (("a.py", "x", "0"), "what is to be found in a.py occurs 2 times: 'x'"),
    (("a.py", "", "x = 1\n"), "a.py exists: say what to find in it"),
    (("other.py", "x", "y"), "other.py is none of the files that are shown"),
    (("../a.py", "", "y"), "../a.py is no path of a file"),
    (("a\0b.py", "", "y"), "is no path of a file"),
    (("a.py", "x = «secret:jwt»", "x = 3"), "what is to be found in a.py does not occur"),
]


def test_edits_apply_to_what_is_there() -> None:
    for (path, find, replacement), reason in WRONG:
        draft = Draft(edits=[Edit(path=path, find=find, replace=replacement)])
        with pytest.raises(ValueError, match=re.escape(reason)):
            apply_edits(draft, {"a.py": b"x = 1\nx = 2\n"})
    emptied = [Edit(path="a.py", find="x = 1\n", replace="")]
    with pytest.raises(ValueError, match="does not occur"):
        apply_edits(Draft(edits=[*emptied, *emptied]), {"a.py": b"x = 1\n"})
    for edits, old, new in (
        ([Edit(path="a.py", find="", replace="x = 1\n")], b"", b"x = 1\n"),
        # Each edit begins with what those before it left, also if that is nothing.
        ([*emptied, Edit(path="a.py", find="", replace="y = 1\n")], b"x = 1\n", b"y = 1\n"),
        # The ends of lines stay.
        ([Edit(path="a.py", find="1\nx", replace="3\ny")], b"x = 1\r\nx = 2", b"x = 3\r\ny = 2"),
    ):
        assert apply_edits(Draft(edits=edits), {"a.py": old}) == {"a.py": new}


def test_where_tests_say_nothing_what_a_linter_fixes_is_suggested(project: Project) -> None:
    stops = "raise ValueError('There is no database.')\n"
    project.commit("Begin", {"a.py": "x = 1\n", "test_a.py": "", "conftest.py": stops})
    project.commit("Add", {"a.py": "x = 1\ny = x is 2\n"})
    _, (result,), _ = fix_head(project)
    assert (result.findings, result.outcome, result.author) == (("F1",), "suggested", "ruff")
    assert "+y = x == 2" in result.diff
    assert result.reasons[0].startswith("pytest did not run to its end: ")
    assert result.reasons[0].endswith("There is no database.")


def test_linters_fix_what_they_can_together(project: Project) -> None:
    old = "\n\ndef f():\n    import json\n"  # what was there before is not this change's to mend
    config = {"pyproject.toml": "[tool.ruff.lint]\nselect = ['F', 'I']\n"}
    project.commit("Begin", {**config, "a.py": f"import os\n\nprint(os)\n{old}"})
    changed = f"import sys\nimport re\nimport os\n\nprint(os)\nprint(f'hello')\n{old}"
    project.commit("Change", {"a.py": changed})
    _, (result,), _ = fix_head(project)
    assert (result.outcome, result.author) == ("fixed", "ruff-project")
    assert result.files == {"a.py": f"import os\n\nprint(os)\nprint('hello')\n{old}".encode()}


def test_what_linters_fix_is_tried_while_the_tests_run(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    slow = "import time\n\n\ndef test_slow():\n    time.sleep(1)\n"
    project.commit("Begin", {"a.py": "x = 1\n", "test_slow.py": slow})
    project.commit("Add", {"a.py": "x = 1\ny = x is 2\n"})
    events: list[Event] = []
    found, _ = work(project, None, lambda c, h: fix(c, replace(h, emit=events.append)))
    assert [result.outcome for result in found[1]] == ["fixed"]
    runs = [event for event in events if event.name == "pytest" and not event.was_recorded]
    assert [event.seconds is None for event in runs] == [True] * 3 + [False] * 3


def test_what_changes_nothing_or_cannot_be_made_is_no_fix(project: Project) -> None:
    project.commit("Begin", {"a.py": "x = 1\n"})
    project.commit("Change", {"a.py": "x = 2\n"})
    judged: list[Change] = []

    async def judge(step: Change, _: Evidence) -> Judgement:
        judged.append(step)
        return Judgement()

    task = Task(id="1", kind="fix", title="", paths=(), judge=judge)
    with Repository(project.folder) as repository:
        trials = Trials(
            change=asyncio.run(repository.load_change("HEAD")),
            evidence=Evidence(),
            repository=repository,
            executor=Bubblewrap(find_environment(None, {})),
            **{"checks": (), "languages": {}, "off": (), "panel": None, "brief": None},
        )
        for path, text, outcome, words in (
            ("a.py", b"x = 2\n", "refused", "It changes nothing."),
            (".git/a.py", b"x = 3\n", "refused", "It changes nothing."),
            ("../a.py", b"x = 3\n", "refused", "It changes nothing."),
            ("Makefile", b"x = 3\n", "refused", "is protected"),
            ("a.py", b"x = 1\n", "suggested", "It takes the whole change back."),
            ("a.py", b"x = 3\n", "fixed", ""),
        ):
            candidate = Candidate(author="critic", files={path: text})
            trial = asyncio.run(trials.try_out(candidate, task))
            assert trial.outcome == outcome, path
            assert words in " ".join(trial.reasons)
            assert bool(trial.evidence.runs) == (outcome == "fixed"), path  # else nothing runs
    assert len(judged) == 1


def test_what_is_worse_is_told_by_what_is_said_and_by_each_test() -> None:
    place = Location("a.py", 3, 3)
    line = CheckResult(
        **{"check": "ruff", "kind": "diagnostic", "state": "new", "name": "R", "message": "see 3"},
        **{"severity": "low", "location": place},
    )
    moved = replace(line, message="see 4", location=Location("a.py", 4, 4))
    assert [*identities([line])] == [*identities([moved])]
    for other in (
        replace(line, message="see it"),
        *(replace(line, name="S"), replace(line, check="mypy")),
        replace(line, location=Location("b.py", 3, 3)),
    ):
        assert [*identities([line])] != [*identities([other])], other
    tests = replace(line, kind="broken_test", name="t::a", tests=("t::a", "t::b"))
    more = replace(tests, tests=("t::a", "t::c"), location=None, message="other")
    assert {*identities([more])} - {*identities([tests])} == {("ruff", "test", "t::c")}


def test_without_models_the_rest_is_said(cart: Project) -> None:
    _, (result,), _ = fix_head(cart)
    reason = "No fix of a linter proved itself, and no language model is configured."
    assert (result.outcome, result.reasons) == ("failed", (reason,))


def test_only_what_was_asked_for_is_fixed(project: Project) -> None:
    project.commit("Begin", {"cart.py": CART})
    project.commit("More", {"cart.py": f"{CART}\n\nprint(missing)\nprint(lost)\n"})
    edit = by_edit("cart.py", "print(lost)\n", "")
    review, (result,), _ = fix_head(project, edit, ("F2",))
    assert [finding.id for finding in review.reported] == ["F1", "F2"]
    assert (result.findings, result.outcome) == (("F2",), "fixed")
    with pytest.raises(UsageError, match="there is no finding F9") as raised:
        fix_head(project, edit, ("F9",))
    assert raised.value.hint == "there is F1, F2"


def test_what_a_red_test_explains_now_is_not_gone(project: Project) -> None:
    """The test fails before and after, and with the fix because of the name."""
    project.commit("Begin", {"cart.py": CART, "test_cart.py": TEST})
    early = "    if prices:\n        return 0\n"
    project.commit("Change", {"cart.py": f"def total(prices):\n{early}    return lost(prices)\n"})
    edit = by_edit("cart.py", "if prices:", "if prices is None:")
    review, (result,), _ = fix_head(project, edit, ("F1",))
    assert [finding.rule for finding in review.reported] == ["F821", "test_cart.py::test_total"]
    assert (result.outcome, result.reasons) == ("failed", ("F1 is still reported.",))


UNTIDY = (
    "import sys\nimport os\n\nprint(os)\nprint(f'hello')\nx = 1\nif not x in [1]:\n    print(x)\n"
)


@pytest.fixture
def untidy(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Uncommitted work in which a linter finds what it fixes itself."""
    config = "[tool.ruff.lint]\nselect = ['F', 'I', 'E713']\n"
    project.commit("Begin", {"pyproject.toml": config, "a.py": "x = 1\n"})
    (project.folder / "a.py").write_text(UNTIDY)
    monkeypatch.chdir(project.folder)
    monkeypatch.setenv("VIRTUAL_ENV", lean_environment())
    return project


def invoke(*words: str) -> Result:
    return CliRunner().invoke(reviewbot, ["fix", *words])


def test_what_is_written_when_asked_is_what_the_linter_would_write_and_is_taken_back(
    untidy: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere, file = tmp_path_factory.mktemp("ruff"), untidy.folder / "a.py"
    for name in ("a.py", "pyproject.toml"):
        (elsewhere / name).write_text((untidy.folder / name).read_text())
    command = (sys.executable, "-m", "ruff", "check", "--fix", "--quiet", "a.py")
    subprocess.run(command, cwd=elsewhere, check=False)
    shown = invoke()
    assert shown.exit_code == 1
    assert "-import sys" in shown.stdout
    assert "reviewbot: 1 fix is ready; --yes writes" in shown.stderr
    assert file.read_text() == UNTIDY
    result = invoke("--yes")
    assert result.exit_code == 0, result.stderr
    assert file.read_text() == (elsewhere / "a.py").read_text()
    assert "reviewbot: a.py is written" in result.stderr
    taken_back = invoke("--undo=", "--yes")  # as with a variable that is empty
    assert taken_back.exit_code == 0, taken_back.stderr
    assert file.read_text() == UNTIDY
    # Committed, it is reviewed from what was recorded, and each fix is a commit with trailers.
    untidy.git("commit", "--quiet", "--all", "--message=Untidy")
    for key in ("user.name", "user.email"):
        untidy.git("config", key, "test@example.org")
    result = invoke("HEAD", "--yes", "--commit")
    assert result.exit_code == 0, result.stderr
    message = untidy.git("log", "-1", "--format=%B")
    assert re.match("Fix(: | [2-9])", message)
    assert "Reviewbot-Finding: " in message
    assert untidy.git("status", "--porcelain") == ""
    assert invoke("--undo").exit_code == 0
    assert untidy.git("log", "-1", "--format=%s") == "Untidy"


def test_a_finding_is_named_with_its_option_in_any_case(untidy: Project) -> None:
    for words, code, said in (
        (("f1",), 2, "f1 is the ID of a finding, and no target\nreviewbot fix --finding f1\n"),
        (("--finding", "f1"), 1, "1 fix is ready"),
        (("feature1",), 2, "there is no such commit"),
        (("f1234567",), 2, "there is no such commit"),  # it might be one
    ):
        result = invoke(*words)
        assert (result.exit_code, said in result.stderr) == (code, True), words
    assert (untidy.folder / "a.py").read_text() == UNTIDY


@pytest.mark.parametrize("way", ["conflict", "link", "autocrlf", "edited"])
def test_that_nothing_can_be_written_is_said_before_the_review(untidy: Project, way: str) -> None:
    file = untidy.folder / "a.py"
    untidy.git("commit", "--quiet", "--all", "--message=Untidy")
    if way == "conflict":
        untidy.git("switch", "--quiet", "--create", "other", "HEAD~1")
        untidy.commit("Other", {"a.py": "x = 2\n"})
        untidy.git("switch", "--quiet", "-")
        with suppress(subprocess.CalledProcessError):
            untidy.git("merge", "other")
        assert "<<<<" in file.read_text()
    elif way == "link":
        file.unlink()
        file.symlink_to("pyproject.toml")
    elif way == "autocrlf":
        untidy.git("config", "core.autocrlf", "true")
        file.unlink()
        untidy.git("checkout", "--quiet", "--", "a.py")
        assert b"\r\n" in file.read_bytes()
    else:
        file.write_text("x = 3\n")
    result = invoke("HEAD", "--yes")
    assert (result.exit_code, result.stdout) == (2, ""), way
    assert "reviewbot: no file is here as it is reviewed\nsee git status" in result.stderr
    assert "1 fix is ready" in invoke("HEAD").stderr  # it is shown where nobody is asked


def test_a_detached_head_is_said_before_the_review(untidy: Project) -> None:
    untidy.git("checkout", "--quiet", "--detach")
    result = invoke("--yes", "--commit")
    assert (result.exit_code, result.stdout) == (3, "")
    assert "HEAD is detached" in result.stderr


def test_nothing_to_fix(
    project: Project, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.commit("Begin", {"a.txt": "x\n"})
    live_in(project, tmp_path_factory, monkeypatch)
    result = invoke("HEAD")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "nothing is found, so there is nothing to fix" in result.stderr
    # A panel that does not answer finds nothing either.
    project.commit("Add", {"a.py": "x = 1\n"})
    configure(configuration("http://127.0.0.1:9", without="critic"))
    result = invoke("HEAD")
    assert result.exit_code == 3
    assert "did not answer: gpu cannot be reached" in result.stdout
