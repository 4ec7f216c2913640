"""Whole steps of development, and tests that are red: built and repaired by scripted models."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from conftest import Project
from lean import lean_environment
from scripted import Answer, Scripted, by_edit

from reviewbot.cli.commands import reviewbot
from reviewbot.errors import UsageError
from reviewbot.fixing import develop, repair
from reviewbot.tasks.task import TaskResult
from tests.github_job import model, panel_of
from tests.test_go import compile_library
from tests.test_goals import work

STEPS = [
    {"title": "Add numbers", "behaviour": "calc.add(a, b) returns the sum of two integers."},
    {"title": "Divide numbers", "behaviour": "calc.divide(a, b); ValueError if b is 0."},
]
ADD = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
DIVIDE = (
    "import pytest\nfrom calc import divide\n\n\ndef test_divide():\n    assert divide(6, 3) == 2\n"
    "    with pytest.raises(ValueError):\n        divide(1, 0)\n"
)
CODE = "def add(a: int, b: int) -> int:\n    return a + b\n"
MORE = (
    "\n\ndef divide(a: int, b: int) -> float:\n    if b == 0:\n"
    '        raise ValueError("the divisor is 0")\n    return a / b\n'
)


def developer(steps: list[dict[str, str]], tests: list[str], edits: list[dict[str, str]]) -> Answer:
    """Plans these steps, and answers with the next of these tests and edits."""
    left = {"tests": [*tests], "edits": [*edits]}

    def answer(label: str, _: str) -> Any:
        phase = label.partition("/")[2]
        if phase == "plan":
            return {"increments": steps}
        if phase.startswith("accept_"):
            return {"test": left["tests"].pop(0)}
        if phase.startswith("fix_"):
            return {"edits": [left["edits"].pop(0)], "explanation": "Built."}
        return {"objections": []} if phase.startswith("judge_") else {"edits": []}

    return answer


def build(project: Project, answer: Answer) -> tuple[list[TaskResult], Scripted]:
    return work(project, answer, lambda c, h: develop("A calculator.", c, h))


@pytest.fixture
def empty(project: Project) -> Project:
    project.commit("Begin", {"README.md": "# A calculator\n"})
    return project


def test_each_step_begins_with_a_test_and_builds_on_those_before(empty: Project) -> None:
    edits = [
        {"path": "calc.py", "find": "", "replace": CODE},
        {"path": "calc.py", "find": "    return a + b\n", "replace": f"    return a + b\n{MORE}"},
    ]
    (first, second), scripted = build(empty, developer(STEPS, [ADD, DIVIDE], edits))
    assert [first.outcome, second.outcome] == ["fixed", "fixed"]
    assert second.files["calc.py"] == (CODE + MORE).encode()
    (test,) = [path for path in second.files if path.startswith("tests/")]
    assert first.facts[0].endswith(" fails without the step and passes with it.")
    assert second.files[test] == DIVIDE.encode()
    labels = [label for label, _ in scripted.prompts]
    assert labels[:2] == ["critic/plan", "optimizer/accept_1_1"]
    assert "critic/fix_step_1_1" in labels
    # Who writes the code reads the test, and who writes the next test reads the code so far.
    prompts = dict(scripted.prompts)
    assert "assert divide(6, 3) == 2" in prompts["critic/fix_step_2_1"]
    assert "return a + b" in prompts["optimizer/accept_2_1"]


def test_judges_of_a_step_know_what_it_is_for_and_what_others_are_for(empty: Project) -> None:
    edits = [
        {"path": "calc.py", "find": "", "replace": CODE},
        {"path": "calc.py", "find": "    return a + b\n", "replace": f"    return a + b\n{MORE}"},
    ]
    _, scripted = build(empty, developer(STEPS, [ADD, DIVIDE], edits))
    first, second = (dict(scripted.prompts)[f"reviewer/judge_step_{n}_1"] for n in (1, 2))
    for prompt, test in ((first, "assert add(1, 2) == 3"), (second, "assert divide(6, 3) == 2")):
        assert "A calculator." in prompt
        assert test in prompt
    assert 'come later, and are not asked for here: "Divide numbers"' in first
    assert 'built already: "Add numbers"' in second


def test_a_draft_that_fails_a_test_is_made_again_with_its_output(empty: Project) -> None:
    wrong = {"path": "calc.py", "find": "", "replace": CODE.replace("+", "-")}
    right = {"path": "calc.py", "find": "", "replace": CODE}
    (done,), scripted = build(empty, developer(STEPS[:1], [ADD], [wrong, right]))
    assert done.outcome == "fixed"
    prompt = dict(scripted.prompts)["critic/fix_step_1_2"]
    assert "fails: assert -1 == 3" in prompt
    assert "\n>       assert add(1, 2) == 3\nE       assert -1 == 3" in prompt


def test_a_test_is_named_after_whole_words_of_its_step(empty: Project) -> None:
    title = "Add two numbers and print the multiplication table"
    edits = [{"path": "calc.py", "find": "", "replace": CODE}]
    (done,), _ = build(empty, developer([{**STEPS[0], "title": title}], [ADD], edits))
    assert "tests/test_add_two_numbers_and_print_the.py" in done.files


def test_a_test_that_passes_without_the_step_is_written_again(empty: Project) -> None:
    idle = "def test_nothing():\n    assert True\n"
    edits = [{"path": "calc.py", "find": "", "replace": CODE}]
    (done,), scripted = build(empty, developer(STEPS[:1], [idle, ADD], edits))
    assert done.outcome == "fixed"
    assert "The test passes without the step" in dict(scripted.prompts)["optimizer/accept_1_2"]
    with pytest.raises(UsageError, match="step 1 has no test that can be used: The test passes"):
        build(empty, developer(STEPS[:1], [idle, idle], edits))


def test_a_test_that_the_gate_refuses_is_written_again(empty: Project) -> None:
    skipped = f"import pytest\n\npytest.skip('later', allow_module_level=True)\n{ADD}"
    expects = "import pytest\nfrom calc import leave\n\n\ndef test_leave():\n"
    expects += "    with pytest.raises(SystemExit):\n        leave()\n"
    code = "def leave() -> None:\n    raise SystemExit(2)\n"
    edits = [{"path": "calc.py", "find": "", "replace": code}]
    (done,), scripted = build(empty, developer(STEPS[:1], [skipped, expects], edits))
    prompt = dict(scripted.prompts)["optimizer/accept_1_2"]
    assert "adds skip, which keeps tests from running" in prompt
    assert done.outcome == "fixed"


def test_a_test_that_a_linter_objects_to_is_written_again(empty: Project) -> None:
    empty.commit("Rules", {"pyproject.toml": '[tool.ruff.lint]\nselect = ["E501"]\n'})
    long = ADD + f"    assert add(2, 3) == 5  # {'much ' * 20}\n"
    edits = [{"path": "calc.py", "find": "", "replace": CODE}]
    (done,), scripted = build(empty, developer(STEPS[:1], [long, ADD], edits))
    assert (done.outcome, done.reasons) == ("fixed", ())
    assert "reports Line too long" in dict(scripted.prompts)["optimizer/accept_1_2"]
    (shown,), _ = build(empty, developer(STEPS[:1], [long, long], edits))
    assert shown.outcome == "suggested"


def test_it_ends_at_the_first_step_that_does_not_work(empty: Project) -> None:
    wrong = {"path": "calc.py", "find": "", "replace": CODE.replace("+", "-")}
    (stopped,), _ = build(empty, developer(STEPS, [ADD], [wrong] * 3))
    assert stopped.outcome == "failed"
    assert stopped.reasons[0].startswith("pytest reports test_add fails: assert -1 == 3")
    right = {"path": "calc.py", "find": "", "replace": CODE}
    (first, second), _ = build(empty, developer(STEPS, [ADD, "", ""], [right]))
    assert [first.outcome, second.outcome] == ["fixed", "failed"]
    assert "gave no test for step 2" in second.reasons[0]


def test_without_a_plan_nothing_is_built(empty: Project) -> None:
    with pytest.raises(UsageError, match="there is no plan"):
        build(empty, developer([], [], []))


RED = "def total(prices):\n    return sum(prices) + 1\n"
TESTS = (
    "from cart import total\n\n\ndef test_total():\n    assert total([1]) == 1\n\n\n"
    "def test_empty():\n    assert total([]) == 0\n\n\ndef test_kind():\n"
    "    assert isinstance(total([]), int)\n"
)

# As GitHub shows it, and as `gh run view --log` prints it.
LOG = "\ufeff2026-11-27T10:00:02.3234567Z \x1b[31m===== 2 failed =====\x1b[0m\n"
LOG += "test\tRun tests\t2026-11-27T10:00:02.3234567Z E  assert 2 == 1\n"


@pytest.fixture
def red(project: Project) -> Project:
    """The tests fail at base and at head: no review says so."""
    project.commit("A cart", {"cart.py": RED, "test_cart.py": TESTS})
    project.commit("Words", {"README.md": "# Cart\n"})
    return project


def test_what_is_red_is_repaired(red: Project) -> None:
    answer = by_edit("cart.py", "sum(prices) + 1", "sum(prices)")
    result, scripted = work(red, answer, lambda c, h: repair(LOG, c, h))
    assert result.outcome == "fixed"
    assert result.title == "Repair 2 tests that fail: test_cart.py::test_empty"
    assert result.facts == ("Tests that failed and pass now: 2, such as test_cart.py::test_empty.",)
    prompt = dict(scripted.prompts)["critic/fix_repair_1"]
    assert "\n===== 2 failed =====\nE  assert 2 == 1\n" in prompt
    assert "return sum(prices) + 1" in prompt
    assert "Words\n\nREADME.md (added)\n+# Cart\n" in prompt  # the last commit
    judged = dict(scripted.prompts)["reviewer/judge_repair_1"]
    assert "test_cart.py::test_total: assert 2 == 1" in judged


@pytest.mark.parametrize(
    ("find", "replace", "reason"),
    [
        ("sum(prices) + 1", "sum(prices) + 2", "test_cart.py::test_empty still fails"),
        ("return sum(prices) + 1", "return float(sum(prices))", "test_kind"),
        ("return sum(prices) + 1", "return 0", "test_cart.py::test_total still fails"),
    ],
)
def test_what_repairs_less_or_breaks_more_is_refused(
    red: Project, find: str, replace: str, reason: str
) -> None:
    answer = by_edit("cart.py", find, replace)
    result, _ = work(red, answer, lambda c, h: repair("", c, h))
    assert result.outcome == "failed"
    assert any(reason in words for words in result.reasons), result.reasons


def test_a_file_that_cannot_be_imported_is_repaired(project: Project) -> None:
    typo = RED.replace("total", "totl").replace(" + 1", "")
    project.commit("A cart", {"cart.py": typo, "test_cart.py": TESTS})
    answer = by_edit("cart.py", "totl", "total")
    result, _ = work(project, answer, lambda c, h: repair("", c, h))
    assert result.outcome == "fixed"
    assert result.facts == ("Tests that failed and pass now: 1, such as test_cart.py.",)
    assert result.title == "Repair 1 test that fails: test_cart.py"


@pytest.mark.skipif(not shutil.which("go"), reason="Go is not installed")
def test_what_does_not_compile_is_shown_once_and_repaired(project: Project) -> None:
    test = 'package cart\n\nimport "testing"\n\nfunc {}(t *testing.{}) {{\n\tif Total(1) != 1 {{\n'
    test += "\t\tt.Fatal()\n\t}}\n}}\n"
    files = {
        "go.mod": "module example.org/cart\n\ngo 1.21\n",
        "cart.go": "package cart\n\nfunc Total(n int) int { return add(n) }\n",
        "sum.go": "package cart\n\nfunc sum(n int) int { return n }\n",
        "cart_test.go": test.format("TestTotal", "T"),
        "bench_test.go": test.format("BenchmarkTotal", "B"),
    }
    project.commit("A cart", {**files, "cart.go": files["sum.go"].replace("sum", "Total")})
    compile_library(project.folder, ".")
    project.commit("Add", files)
    answer = by_edit("cart.go", "add(n)", "sum(n)")
    variables = {name: os.environ[name] for name in ("HOME", "PATH")}
    result, scripted = work(project, answer, lambda c, h: repair("", c, h), **variables)
    assert (result.outcome, result.reasons) == ("fixed", ())
    prompt = dict(scripted.prompts)["critic/fix_repair_1"]
    assert prompt.count("undefined: add\n") == 1
    assert '"bench_test.go" and 1 more with the same output: "undefined: add"' in prompt
    assert '## "cart.go"' in prompt


def test_what_a_red_test_calls_is_shown_though_its_output_does_not_name_it(
    project: Project,
) -> None:
    test = "from cart import total\n\nVALUE = total([1])\n"
    test += "\n\ndef test_value():\n    assert VALUE == 1\n"
    project.commit("A cart", {"cart.py": RED, "test_cart.py": test})
    answer = by_edit("cart.py", "sum(prices) + 1", "sum(prices)")
    result, scripted = work(project, answer, lambda c, h: repair("", c, h))
    assert result.outcome == "fixed"
    assert "return sum(prices) + 1" in dict(scripted.prompts)["critic/fix_repair_1"]


def test_frames_of_an_environment_in_the_project_hide_no_source(red: Project) -> None:
    shutil.copytree(lean_environment(), red.folder / ".venv", symlinks=True)
    answer = by_edit("cart.py", "sum(prices) + 1", "sum(prices)")
    environment = str(red.folder / ".venv")
    result, scripted = work(red, answer, lambda c, h: repair("", c, h), VIRTUAL_ENV=environment)
    assert result.outcome == "fixed"
    assert "return sum(prices) + 1" in dict(scripted.prompts)["critic/fix_repair_1"]


def test_a_file_that_is_too_large_to_be_shown_is_named(red: Project) -> None:
    large = RED + "\n\n" + "# A comment\n" * 6_000
    red.commit("Explain", {"cart.py": large})
    answer = by_edit("cart.py", "sum(prices) + 1", "sum(prices)")
    result, scripted = work(red, answer, lambda c, h: repair("", c, h))
    assert result.outcome == "fixed"
    prompt = dict(scripted.prompts)["critic/fix_repair_1"]
    assert 'Too large to be shown; tools read parts of: "cart.py"' in prompt


def test_where_nothing_is_red_the_log_is_a_report(project: Project, tmp_path: Path) -> None:
    assert tmp_path
    project.commit("A cart", {"cart.py": RED.replace(" + 1", ""), "test_cart.py": TESTS})
    with pytest.raises(UsageError, match="there is nothing to repair: no test fails"):
        work(project, by_edit("a", "b", "c"), lambda c, h: repair("", c, h))
    asked: list[str] = []

    def answer(_: str, prompt: str) -> Any:
        asked.append(prompt)
        return {"cause": "?", "test": ""}

    with pytest.raises(UsageError, match="nobody could reproduce it"):
        work(project, answer, lambda c, h: repair("Collecting\n" * 2_000 + "Boom", c, h))
    assert all("What a run that failed reports\n" in p and "\nBoom\n" in p for p in asked)


def test_without_python_nobody_is_asked_to_reproduce_a_log(project: Project) -> None:
    project.commit("A page", {"page.js": "export const title = 'Cart';\n"})
    asked: list[str] = []

    def answer(label: str, _: str) -> Any:
        asked.append(label)
        return {"cause": "?", "test": ""}

    with pytest.raises(UsageError, match="there is no Python here"):
        work(project, answer, lambda c, h: repair("not ok 1 - title", c, h))
    assert not asked


def test_steps_are_committed_from_the_command_line_and_taken_back(
    empty: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reply(_: str, prompt: str) -> Any:
        if "# Task: plan" in prompt:
            return {"increments": STEPS[:1]}
        if "# Task: write the test" in prompt:
            return {"test": ADD}
        if "# Task: build one step" in prompt:
            return {"edits": [{"path": "calc.py", "find": "", "replace": CODE}], "explanation": ""}
        return {"objections": []} if "# Task: judge" in prompt else {"edits": []}

    def run(*words: str, text: str = "") -> Result:
        return CliRunner().invoke(reviewbot, words, input=text)

    monkeypatch.chdir(empty.folder)
    monkeypatch.setenv("VIRTUAL_ENV", lean_environment())
    monkeypatch.setenv("XDG_CONFIG_HOME", str(empty.folder / ".git"))
    assert "the description is empty" in run("develop", "-", text=" \n").stderr
    with model(reply).running() as server:
        (empty.folder / ".git/reviewbot").mkdir()
        config = panel_of(server, "critic", "reviewer")
        (empty.folder / ".git/reviewbot/config.yml").write_text(config)
        shown = run("develop", "-", "-v", text="A calculator\n")
        assert "reviewbot: step 1 of 1: Add numbers (" in shown.stderr
        assert "1 fix is ready; --yes writes" in shown.stderr
        assert not (empty.folder / "calc.py").exists()
        done = run("develop", "-", "--yes", "--commit", text="A calculator\n")
    assert done.exit_code == 0, done.stderr
    assert "Add numbers" in done.stdout
    assert empty.git("log", "-1", "--format=%s") == "Add numbers"
    assert empty.git("show", "HEAD:calc.py") == CODE.strip()
    assert run("fix", "--undo").exit_code == 0
    assert not (empty.folder / "calc.py").exists()
