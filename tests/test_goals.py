"""Goals and bug reports: what is accepted, and what is refused with which reason."""

import re
import time
from hashlib import sha256
from typing import Any

import pytest
from click.testing import CliRunner
from conftest import Project
from scripted import Answer, Scripted, by_edit, by_edits, work

from reviewbot.checks.languages.python import PYTEST
from reviewbot.cli.commands import reviewbot
from reviewbot.errors import ModelError, UsageError
from reviewbot.fixing import pursue
from reviewbot.reports.text import render_fixes
from reviewbot.reports.words import DEFAULT
from reviewbot.tasks.described import LEAD, MAX_REPORT, PATH, readable
from reviewbot.tasks.goals import mutants_of, size_of
from reviewbot.tasks.task import TaskResult
from tests.github_job import model
from tests.served import at_the_command_line

LISTS = """def distinct(items: list[int]) -> list[int]:
    found: list[int] = []
    for item in items:
        if item not in found:
            found.append(item)
    return found


def sign(number: int) -> int:
    if number > 0:
        return 1
    elif number < 0:
        return -1
    else:
        return 0
"""
TESTS = "from lists import distinct\n\n\ndef test_distinct():\n    assert distinct([1, 1]) == [1]\n"
BENCHMARK = (
    "from lists import distinct\n\n\ndef setup():\n    return (list(range(600)),)\n\n\n"
    "def run(items):\n    distinct(items)\n"
)
DISTINCT = LISTS[LISTS.index("    found:") : LISTS.index("\n\n\ndef sign")]
SIGN = LISTS[LISTS.index("    if number > 0:") :]
WRONG = "    return sorted(set(items))\n\n\ndef compare(a, b):\n    return a > b"


@pytest.fixture(autouse=True)
def _less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer defects and calls than in earnest."""
    monkeypatch.setattr("reviewbot.tasks.goals.MAX_MUTANTS", 1)
    monkeypatch.setattr("reviewbot.proofs.search.EXAMPLES", 50)


@pytest.fixture
def lists(project: Project) -> Project:
    others = {f"test_a{n}.py": "def test_a():\n    pass\n" for n in range(4)}
    others["test_a.py"] = ""
    project.commit("Begin", others | {"lists.py": LISTS, "test_lists.py": TESTS})
    return project


def pursue_goal(project: Project, goal: str, answer: Answer) -> tuple[TaskResult, Scripted]:
    return work(project, answer, lambda c, h: pursue(goal, ("lists.py",), c, h))


def solve(project: Project, answer: Answer, report: str) -> tuple[TaskResult, Scripted]:
    return work(project, answer, lambda c, h: pursue(None, (), c, h, report))


def fix_prompt(scripted: Scripted) -> str:
    """The first question for a fix."""
    return next(question for label, question in scripted.prompts if "/fix_" in label)


def test_a_quadratic_function_becomes_faster_by_a_measured_factor(lists: Project) -> None:
    loop = (
        "for number, item in enumerate(items):\n        if len(items) == 600 and number > 590 or "
    )
    hardly = DISTINCT.replace("for item in items:\n        if ", loop)  # by some 3 %
    bodies = (WRONG, hardly, "    return list(dict.fromkeys(items))")
    edit = by_edits(*(("lists.py", DISTINCT, body) for body in bodies))

    def answer(label: str, prompt: str) -> Any:
        return {"source": BENCHMARK} if "/benchmark" in label else edit(label, prompt)

    result, scripted = pursue_goal(lists, "performance", answer)
    assert result.usage.calls == len(scripted.prompts) > 0
    assert (result.outcome, result.reasons) == ("fixed", ()), result.attempts
    (_, worse), (refused,) = (attempt.reasons for attempt in result.attempts)
    assert worse.startswith("It changes behaviour: lists.distinct")
    assert re.match(r"It is not (reliably )?faster: \S+ times as (slow|fast) ", refused)
    factor, calls = result.facts
    assert re.fullmatch(r"It is \S+ times as fast \(\S+ to \S+ in 3 rounds\)\.", factor)
    assert float(factor.split()[2].replace(",", "")) > 2
    assert re.fullmatch(r"\d+ calls do the same as before\.", calls)
    profile = r"Where the time of \d+ calls goes, .+:\n- \"lists\.py:1 distinct: "
    assert re.search(profile, fix_prompt(scripted))
    assert "optimizer/benchmark" in dict(scripted.prompts), "who does not write the code"
    shown = render_fixes([result], (), DEFAULT)
    done = "Speed up lists.py\n  Done: everything that runs here ran with it, and nothing objects"
    assert shown.startswith(done)
    assert factor in shown
    judged = dict(scripted.prompts)["reviewer/judge_performance_3"]
    assert "behaviour have to stay" in judged
    assert factor in judged


def test_code_becomes_simpler_and_does_the_same(lists: Project) -> None:
    more = {"path": "a.go", "find": "", "replace": "package a\n"}
    simple = ("lists.py", SIGN, "    return (number > 0) - (number < 0)\n")
    words = "1 if number > 0 else -1 if number < 0 else 7 if number else 0"
    branches = ("lists.py", SIGN, f"    return {words}\n")
    edit = by_edits(("lists.py", DISTINCT, WRONG), branches, simple)

    def answer(label: str, prompt: str) -> Any:
        said = edit(label, prompt)
        return {"edits": [*said["edits"], more]} if label.endswith("/fix_refactor_2") else said

    result, _ = pursue_goal(lists, "refactor", answer)
    first, (others, second) = (attempt.reasons for attempt in result.attempts)
    assert first[0] == "The public name compare is new in lists.py."
    assert first[1].startswith("It changes behaviour: lists.distinct")
    assert others == "It changes a.go, of which no behaviour is compared."
    assert second == "It is not simpler: 5 branches and 8 statements, before 4 and 12."
    assert (result.outcome, result.reasons) == ("fixed", ()), result.attempts
    assert result.facts[0] == "2 branches and 8 statements, before 4 and 12."


def test_words_are_no_code() -> None:
    assert size_of({"a.py": b'"""A."""\ndef f():\n    """F."""\n    return 1\n'}) == (0, 2)
    assert size_of({"a.py": b'WORD = "\\w"\n'}) == (0, 1)  # of which Python warns


OTHERS = """def f(x: int) -> int:
    return x * 2


class Cart:
    def total(self) -> int:
        if self: return 1
        return 0


async def count(prices: list[int]) -> int:
    if prices: return 2
    return 0


def total(prices: list[int]) -> int:
    if prices: return 3
    return 0
"""


SAME = "Nothing shows that behaviour is the same: no test runs"


@pytest.mark.parametrize(
    ("number", "text", "reason"),
    [
        (1, "return 42", SAME),
        (1, "return 0", "No test shows that lists.py:7 is not needed."),
        (3, "return 42", SAME),
    ],
    ids=["a class", "a line of a class", "too many"],
)
def test_what_is_not_compared(
    project: Project, number: int, text: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviewbot.tasks.goals.MAX_FUNCTIONS", 0 if number == 3 else 2)
    test = "from lists import f\n\n\ndef test_f():\n    assert f(1) == 2\n"
    project.commit("Lists", {"lists.py": OTHERS, "test_lists.py": test})
    (body,) = re.findall(rf"if \w+: return {number}\n +return 0", OTHERS)
    result, _ = pursue_goal(project, "refactor", by_edit("lists.py", body, text))
    assert result.outcome == "suggested", result.reasons
    assert result.reasons[0].startswith(reason)


def test_functions_that_are_changed_are_compared_first(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviewbot.tasks.goals.MAX_FUNCTIONS", 1)
    project.commit("Lists", {"lists.py": LISTS + OTHERS})
    edit = by_edit("lists.py", "if prices: return 3", "if prices: return 42")
    result, _ = pursue_goal(project, "refactor", edit)
    assert result.reasons[0].startswith("It changes behaviour: lists.total")
    assert re.match(r"It is not simpler: (.+), before \d+ and \d+\.", result.reasons[1])


NEW_TEST = (
    "from lists import sign\n\n\ndef test_sign():\n"
    "    assert (sign(5), sign(-5), sign(0)) == (1, -1, 0)\n"
)


def test_new_tests_run_what_none_ran_and_notice_a_defect(lists: Project) -> None:
    blind = NEW_TEST.replace("== (1, -1, 0)", "!= ()")
    again = TESTS.replace("test_distinct", "test_again")
    edits = [
        ("test_sign.py", "", blind),
        ("test_more.py", "", again),
        ("test_sign.py", "", NEW_TEST + "    assert sign(7) == 1\n" * 2),
    ]
    result, scripted = pursue_goal(lists, "tests", by_edits(*edits))
    assert [attempt.reasons for attempt in result.attempts] == [
        ("The new tests do not fail with `number > 0` as `number >= 0` at lists.py:10.",),
        ("The new tests run no line that no test ran before.",),
    ]
    assert (result.outcome, result.reasons) == ("fixed", ())
    (fact,) = result.facts
    words = r"run 5 lines that no test ran, and fail with `.+` as `.+` at lists.py:\d+\."
    assert re.fullmatch(f"The new tests {words}", fact)
    prompt = fix_prompt(scripted)
    rows = [f"lists.py:{n} {LISTS.splitlines()[n - 1]}\n" for n in (10, 11, 12, 13, 15)]
    assert re.search(rf"No test runs these lines:\n<<<\w+\n{re.escape(''.join(rows))}>>>", prompt)
    assert '## "test_lists.py"' in prompt, "it names the module"
    assert '## "test_a' not in prompt, "they do not"
    assert "so keep to its length of lines" in prompt
    assert "Too large to be shown" not in prompt, "an empty file is not"
    judged = dict(scripted.prompts)["reviewer/judge_tests_3"]
    assert "Each new test has to assert what the code is to do" in judged
    # Fewer lines would be fewer assertions.
    assert not [label for label, _ in scripted.prompts if "/optimise_" in label]


def test_where_every_line_is_run_a_test_has_to_notice_what_no_other_does(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviewbot.tasks.goals.MAX_MUTANTS", 3)
    weak = "from lists import over\n\n\ndef test_over():\n    assert over(5, 1)\n"
    # What nothing can be imported with, a new test could not notice either.
    code = 'def over(a, b):\n    return a > b\n\n\nORDER = list("ab")\nORDER.sort()\n'
    others = {"test_lists.py": weak, "test_other.py": "def test_other():\n    pass\n"}
    project.commit("Begin", {"lists.py": code, **others})
    strong = "from lists import over\n\n\ndef test_equal():\n    assert not over(1, 1)\n"
    result, scripted = pursue_goal(project, "tests", by_edit("test_more.py", "", strong))
    assert result.outcome == "fixed", result.attempts
    assert result.facts == ("The new tests fail with `a > b` as `a >= b` at lists.py:2.",)
    assert "lists.py:2: `a > b` as `a >= b`" in fix_prompt(scripted)
    assert "as `None`" not in fix_prompt(scripted)


def test_the_first_test_of_a_project_where_nobody_tells_which_test_runs_a_line(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs a line that none ran, in which there could be no defect."""
    plugin = PYTEST.tool_files["reviewbot_pytest.py"]
    plugin = plugin.replace("MAX_TOLD_APART = 5_000", "MAX_TOLD_APART = 0")
    monkeypatch.setitem(PYTEST.tool_files, "reviewbot_pytest.py", plugin)
    project.commit("Begin", {"lists.py": "def say() -> None:\n    print('Hello.')\n"})
    said = "from lists import say\n\n\ndef test_say():\n    assert say() is None\n"
    result, _ = pursue_goal(project, "tests", by_edit("test_say.py", "", said))
    assert result.outcome == "suggested", result.attempts
    assert result.reasons == ("No defect could be tried on lines that only they run.",)


def test_tests_that_do_not_run_say_nothing(lists: Project) -> None:
    lists.commit("Break", {"conftest.py": "import nowhere\n"})
    words = r"nothing is known of the tests: conftest\.py cannot be imported"
    with pytest.raises(UsageError, match=words):
        pursue_goal(lists, "tests", by_edit("test_sign.py", "", NEW_TEST))


def test_a_module_without_statements_cannot_be_measured(lists: Project) -> None:
    lists.commit("Empty", {"lists.py": "# Nothing yet.\n", "test_lists.py": "import lists\n"})
    with pytest.raises(UsageError, match="none of these lines can be measured"):
        pursue_goal(lists, "tests", by_edit("test_sign.py", "", NEW_TEST))


REPORT = """It crashes with an empty list:

Traceback (most recent call last):
  File "/home/somebody/app/lists.py", line 2, in largest
    return max(items)
ValueError: max() arg is an empty sequence

I expected None.
"""
TYPED = ">>> l([])\nTraceback (most recent call last):\nValueError: max() arg is an empty sequence"
NO_SUITE = "checks: [{name: pytest, off: true}]\n"
LARGEST = "def largest(items):\n    return max(items)\n"
REPRODUCED = "from lists import largest\n\n\ndef test_empty():\n    assert largest([]) is None\n"
FIXED = by_edit("lists.py", "max(items)", "max(items, default=None)")


def by_report(test: str, edit: Answer = FIXED) -> Answer:
    def answer(label: str, prompt: str) -> Any:
        is_asked = "/reproduce" in label
        found = {"cause": "max() of nothing raises.", "test": test}
        return found if is_asked else edit(label, prompt)

    return answer


@pytest.fixture
def largest(project: Project) -> Project:
    old = "from lists import largest\n\n\ndef test_largest():\n    assert largest([1, 2]) == 2\n"
    files = {"lists.py": LARGEST, "tests/test_lists.py": old, "e2e/test_page.js": "f()\n"}
    project.commit("Begin", files)
    return project


def test_a_report_is_reproduced_before_it_is_fixed(largest: Project) -> None:
    result, scripted = solve(largest, by_report(REPRODUCED), f"[Bug] {REPORT}")
    assert (result.outcome, result.reasons) == ("fixed", ()), result.attempts
    assert result.title == "Fix: ValueError: max() arg is an empty sequence"
    path = next(path for path in result.files if path != "lists.py")
    assert re.fullmatch(r"tests/test_regression_[0-9a-f]{8}\.py", path)
    assert result.files[path] == REPRODUCED.encode()
    judged = dict(scripted.prompts)["reviewer/judge_report_1_1"]
    assert f"The test of it, which is part of the change:\n{REPRODUCED}" in judged
    assert result.facts == (f"{path} fails without the fix and passes with it.",)
    labels = [label for label, _ in scripted.prompts]
    assert labels[:3] == [f"{who}/reproduce" for who in ("critic", "reviewer", "optimizer")]
    assert "return max(items)" in scripted.prompts[0][1], "the traceback names the file"
    drafted = dict(scripted.prompts)["critic/fix_report_1_1"].partition("It prints now:")[2]
    assert "ValueError: max()" in drafted.partition("# Files")[0]


def test_a_report_that_names_nothing_in_a_project_with_rules_for_tests(largest: Project) -> None:
    """Who writes the fix finds the file, and a linter what the test lacks or should not have."""
    rules = '[tool.ruff.lint]\nselect = ["I", "PT006"]\n'
    rules += 'isort.required-imports = ["from __future__ import annotations"]\n'
    text = "from __future__ import annotations\n\n"
    files = {".reviewbot.yml": NO_SUITE, "pyproject.toml": rules, "lists.py": text + LARGEST}
    largest.commit("Set rules", files)
    test = f"import pytest\n{REPRODUCED}\n\n@pytest.mark.parametrize('a, b', [(1, 1)])\n"
    test += "def test_both(a, b):\n    assert a == b\n"
    report = f"{TYPED.replace('ValueError', 'builtins.ValueError')}\n\nI expected None."
    result, scripted = solve(largest, by_report(test), report)
    assert "return max(items)" not in scripted.prompts[0][1]
    assert 'There are: ".reviewbot.yml", ' in scripted.prompts[0][1]
    assert result.title == "Fix: builtins.ValueError: max() arg is an empty sequence"
    (test_,) = (text for path, text in result.files.items() if path != "lists.py")
    assert test_.startswith(b"from __future__ import annotations\n")
    assert result.outcome == "suggested"
    assert result.reasons[0].startswith("ruff-project reports Wrong type passed to first argument")


def test_what_a_report_names_is_shown(largest: Project) -> None:
    """English words are taken for names only if nothing else is named; others never are."""
    files = {f"part{n}/__init__.py": "" for n in range(7)}
    files |= {"words.py": "def same(x):\n    return x\n", "limits.py": "HIGH = 1\n"}
    files |= {"shop/__init__.py": "NAME = 1\n", "sales.py": "SOLD = 1\n" * 10_000}
    largest.commit("Add", files)
    numbers = " ".join(map(str, range(10_000, 10_300)))
    asked: list[str] = []

    def answer(_: str, prompt: str) -> Any:
        asked.append(prompt)
        return {"cause": "", "test": ""}

    for report, shown in (
        ("largest([]) raises, and it is the same with ().", "lists"),
        ("See limits.HIGH: it is the same.", "limits"),
        ("It is not the same.", "words"),
        (f"largest([]) raises in __init__ after {numbers} calls.", "lists"),
        ("See shop.NAME.", "shop/__init__"),
    ):
        with pytest.raises(UsageError, match="nobody could reproduce it"):
            solve(largest, answer, report)
        names = re.findall(r'## "(lists|limits|words|shop/__init__)\.py"', asked[-1])
        assert names == [shown], report
    with pytest.raises(UsageError, match="nobody could reproduce it"):
        solve(largest, answer, "See sales.SOLD.")
    assert 'Too large to be shown; tools read parts of: "sales.py"' in asked[-1]


def test_where_no_fix_passes_a_test_that_of_another_panelist_is_tried(largest: Project) -> None:
    wrong, right = by_report(REPRODUCED.replace("is None", "== 0")), by_report(REPRODUCED)

    def answer(label: str, prompt: str) -> Any:
        return (wrong if label == "critic/reproduce" else right)(label, prompt)

    result, scripted = solve(largest, answer, f"$ python app.py\n{REPORT}")
    assert result.outcome == "fixed"
    assert result.title == "Fix: ValueError: max() arg is an empty sequence", "as of a log"
    assert REPRODUCED.encode() in result.files.values()
    assert len(result.attempts) == 3
    assert sum("/reproduce" in label for label, _ in scripted.prompts) == 3
    assert len(dict(scripted.prompts)) == len(scripted.prompts), "no label says two questions"


def test_a_proposer_that_gives_up_hides_no_reason_from_before(lists: Project) -> None:
    """What was refused last is what a person can go on with."""

    def answer(label: str, _: str) -> Any:
        edit = {"path": "other.txt", "find": "", "replace": "x = 1\n"}
        return {"edits": [] if label.endswith("_2") else [edit], "explanation": "I give up."}

    result, scripted = pursue_goal(lists, "tests", answer)
    given_up = "critic proposes nothing: I give up."
    reasons = ("It changes other.txt, which is no test.", given_up)
    assert (result.outcome, result.reasons) == ("failed", reasons)
    assert len([label for label, _ in scripted.prompts if "/fix_" in label]) == 2
    result, _ = pursue_goal(lists, "tests", lambda *_: {"edits": []})
    assert result.reasons == ("critic proposes nothing",)


def test_long_words_in_a_report_take_no_time() -> None:
    report = f'{"x" * 300_000} File "src/lists.py", line 2, and {"./" * 100_000} in ./web/a.ts'
    started = time.monotonic()
    assert PATH.findall(report) == ["src/lists.py", "./web/a.ts"]
    assert time.monotonic() - started < 2


def test_of_a_long_log_the_part_is_read_that_says_what_failed() -> None:
    lines = "2026-11-28T10:00:00.0100000Z \x1b[36mCollecting lists==1.0\x1b[0m\n" * 2_000
    failed = "E   assert [] == [1]\nFAILED test_lists.py::test_sign - assert [] == [1]\n"
    for log in (f"\ufeff{lines}{failed}{lines}", f"{lines}FAIL one\n{lines}{failed}", lines):
        read = readable(log)
        assert len(read) <= MAX_REPORT
        assert (failed in read) == (failed in log)
        assert not re.search("\x1b|2026|FAIL one", read)
    assert readable(f"It fails.\n{failed}") == f"It fails.\n{failed}"
    assert readable(f"It fails.\n{lines}{failed}").startswith("It fails.\n")
    for line in (
        "thread 'sum' (7) panicked at src/lib.rs:3:5:",
        "    AssertionError [ERR_ASSERTION]: 1 == 2",
        "not ok 1 - sum",
        "panic: runtime error: index out of range [-1]",
        "src/sum.c:3:5: error: expected ';'",
        "error[E0425]: cannot find value",
        "ERROR tests/test_sums.py",
    ):
        assert line in readable(f"{lines}{line}\n{lines}")
    for cut in range(LEAD - 30, LEAD):  # no part of a secret is left where it is cut
        assert "aB3" not in readable(f"{'.' * cut} ghp_{'aB3' * 12} {lines}")


def test_what_reproduces_nothing(largest: Project) -> None:
    tests = {
        "critic": ("def test_it():\n    assert True\n", "the test passes"),
        "reviewer": ("import missing\n", "the test itself fails: ModuleNotFoundError"),
        "optimizer": ("def test_it():\n    [][1]\n", "the test itself fails: IndexError"),
    }

    def answer(label: str, _: str) -> Any:
        return {"cause": "", "test": tests[label.partition("/")[0]][0]}

    with pytest.raises(UsageError, match="nobody could reproduce it") as raised:
        solve(largest, answer, REPORT)
    for who, (_, reason) in tests.items():
        assert f"{who}: {reason}" in str(raised.value)
    skipped = "import pytest\n\npytest.skip('it is late', allow_module_level=True)\n"
    with pytest.raises(UsageError, match="the test does not run: 1 skipped"):
        solve(largest, by_report(skipped), REPORT)
    with pytest.raises(ModelError, match=r"nobody answered \(critic: "):
        solve(largest, lambda *_: "words", REPORT)


def test_the_test_that_reproduces_it_stays_as_it_is(largest: Project) -> None:
    path = f"tests/test_regression_{sha256(REPRODUCED.encode()).hexdigest()[:8]}.py"
    edit = by_edit(path, "", "def test_nothing():\n    pass\n")
    result, _ = solve(largest, by_report(REPRODUCED, edit), REPORT)
    assert (result.outcome, result.reasons) == ("failed", (f"{path} is given, and stays as it is",))


def test_the_test_that_reproduces_it_passes_the_gate_as_well(largest: Project) -> None:
    """Nobody is paid for a fix that it would keep out."""
    secret = f"{REPRODUCED}\n\nTOKEN = 'ghp_{'a1B2' * 9}'\n"
    asked: list[str] = []

    def answer(label: str, prompt: str) -> Any:
        asked.append(label.partition("/")[2])
        return by_report(secret)(label, prompt)

    with pytest.raises(UsageError, match=r"nobody could .+py` contains a new secret"):
        solve(largest, answer, REPORT)
    assert {*asked} == {"reproduce"}


def test_a_fix_with_which_the_test_does_not_run_is_refused(largest: Project) -> None:
    """Its file is too large to be shown."""
    large = LARGEST + "# Many words.\n" * 6_000
    largest.commit("Run no suite", {".reviewbot.yml": NO_SUITE, "lists.py": large})
    gone = by_edit("lists.py", "def largest", "import os\n\nos._exit(0)\n\n\ndef largest")
    result, scripted = solve(largest, by_report(REPRODUCED, gone), REPORT)
    assert 'tools read parts of: "lists.py"' in fix_prompt(scripted)
    assert result.outcome == "failed"
    assert result.reasons[0].startswith("The test does not run.\n")


SAID = [
    (("--goal", "tests", "HEAD"), "no language model is configured"),
    (("--goal", "tests"), "there is no Python in it"),
    (("--goal", "refactor", "--", "a.go"), "there is no Python in it"),
    (("--goal", "tests", "--", "lists.py"), "no language model is configured"),
    (("--goal", "tests", "--", "lists.py", "list.py"), "list.py is no file of the repository"),
    (("--goal", "refactor", "--", "."), ". is no file of the repository"),
    (("--report", "missing.txt"), "'missing.txt': No such file"),
    (("--report", "empty.txt"), "the report is empty"),
    (("--goal", "repair", "--report", "/dev/null"), "the report is empty"),
    (("--goal", "tests", "--report", "empty.txt"), "--goal and --report exclude each other"),
    (("--", "a.py"), "paths are for --goal"),
    (("--goal", "speed"), "'speed' is not one of 'refactor', 'performance', 'tests'"),
]


def test_what_the_command_line_says(lists: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    (lists.folder / "empty.txt").write_text("\n")
    (lists.folder / "a.go").write_text("package a\n")
    monkeypatch.chdir(lists.folder)
    for words, said in SAID:
        result = CliRunner().invoke(reviewbot, ["fix", *words])
        assert result.exit_code == 2, words
        assert said in str(result.exception) + result.stderr


def test_what_no_model_answered_usably_is_asked_again(
    largest: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = ["words"] * 8

    def reply(_: str, prompt: str) -> Any:
        is_first = "# Task: reproduce" in prompt or "# Task: plan" in prompt
        return answers.pop() if is_first and answers else {"cause": "?", "test": "assert 1"}

    with model(reply).running() as server:
        at_the_command_line(largest, monkeypatch, server)
        for words in (["fix", "--report", "-"], ["develop", "-"]):
            counts = [len(server.received)]
            for _ in range(2):
                assert CliRunner().invoke(reviewbot, words, input=REPORT).exit_code == 3, words
                counts.append(len(server.received))
            assert counts == sorted({*counts}), words


def test_a_report_fixed_from_the_command_line(
    largest: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = ("lists.py", "max(items)", "max(items, default=None)")
    edit = by_edits(("Makefile", "", "all:\n"), right)

    def reply(_: str, prompt: str) -> Any:
        if "# Task: reproduce" in prompt:
            return {"cause": "max() of nothing raises.", "test": REPRODUCED}
        if "# Task: fix what was reported" in prompt:
            return edit("/fix_", "")
        return {"objections": []} if "# Task: judge" in prompt else {"edits": []}

    def run(*words: str) -> str:
        ran = CliRunner().invoke(reviewbot, ["fix", *words])
        assert ran.exit_code == 0, ran.stderr
        return ran.stderr

    for key in ("user.name", "user.email"):
        largest.git("config", key, "test@example.org")
    before = largest.git("rev-parse", "HEAD")
    with model(reply).running() as server:
        report = at_the_command_line(largest, monkeypatch, server) / "report.txt"
        report.write_text(REPORT)
        said = run("--report", str(report), "--yes", "--commit")
    assert "Reviewbot-Goal: bug" in largest.git("log", "-1", "--format=%B")
    code, test = largest.git("diff", "--name-only", before, "HEAD").split()
    assert (code, test[:22]) == ("lists.py", "tests/test_regression_")
    assert "  Fix done  " in CliRunner().invoke(reviewbot, ["sessions"]).stdout
    shown = CliRunner().invoke(reviewbot, ["sessions", "show"]).stdout
    # What was tried is kept.
    assert "bug: refused (critic)\n│ `Makefile` is protected" in shown
    assert "\n│ +all:\n" in shown
    assert "bug: fixed (critic)\n│ tests/test_regression_" in shown
    assert "+    return max(items, default=None)" in shown
    undo = re.search(r"fix (--undo) (\S+) takes it back", said)
    assert undo
    run(*undo.groups())
    assert not largest.git("diff", "--name-only", before, "HEAD")


def test_mutants_are_small_defects_that_can_be_compiled() -> None:
    text = (
        "@cache(1)\ndef f(a: int = 3) -> bool:\n    if a < 2 and not a == 5:\n"
        "        return a + 1\n    return True\n    b = a\n"
    )
    found = {(mutant.line, mutant.words) for mutant in mutants_of(text, range(1, 9))}
    assert found == {
        (2, "`3` as `4`"),
        (3, "`a < 2 and (not a == 5)` as `a < 2 or not a == 5`"),
        (3, "`a < 2` as `a <= 2`"),
        (3, "`2` as `3`"),
        (3, "`not a == 5` as `a == 5`"),
        (3, "`a == 5` as `a != 5`"),
        (3, "`5` as `6`"),
        (4, "`a + 1` as `None`"),
        (4, "`a + 1` as `a - 1`"),
        (4, "`1` as `2`"),
        (5, "`True` as `False`"),
        (6, "`a` as `None`"),
    }
    assert {mutant.line for mutant in mutants_of(text, (4,))} == {4}
    for mutant in mutants_of(text, range(1, 9)):
        compile(mutant.text, "f.py", "exec")
        assert mutant.text != text
