"""Whole steps of development, and tests that are red: built and repaired by scripted models."""

import re
import shutil
from typing import Any

import pytest
from click.testing import CliRunner, Result
from conftest import Project
from lean import lean_environment
from scripted import Answer, Scripted, by_edit, by_edits, work

from reviewbot.cli.commands import reviewbot
from reviewbot.errors import ModelError, UsageError
from reviewbot.fixing import develop, pursue
from reviewbot.tasks.described import INSTEAD, MAX_REPAIRED
from reviewbot.tasks.task import TaskResult
from tests.github_job import model
from tests.served import at_the_command_line
from tests.test_go import go_variables

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
BUILD = {"path": "calc.py", "find": "", "replace": CODE}
WRONG = {**BUILD, "replace": CODE.replace("+", "-")}
MORE = (
    "\n\ndef divide(a: int, b: int) -> float:\n    if b == 0:\n"
    '        raise ValueError("the divisor is 0")\n    return a / b\n'
)


def developer(steps: list[dict[str, str]], tests: list[str], edits: list[dict[str, str]]) -> Answer:
    """Plans these steps, and answers with the next of these tests and edits; {} gives up."""
    left = {"tests": [*tests], "edits": [*edits]}

    def answer(label: str, _: str) -> Any:
        phase = label.partition("/")[2]
        if phase == "plan":
            return {"increments": steps}
        if phase.startswith("accept_"):
            return {"test": left["tests"].pop(0)}
        if phase.startswith("fix_"):
            if not left["edits"]:
                return "no answer"
            edit = left["edits"].pop(0)
            return {"edits": [edit] if edit else [], "explanation": "Built." if edit else "2 != 3"}
        return {"objections": []} if phase.startswith("judge_") else {"edits": []}

    return answer


def build(project: Project, answer: Answer) -> tuple[list[TaskResult], Scripted]:
    return work(project, answer, lambda c, h: develop("A calculator.", c, h))


@pytest.fixture
def empty(project: Project) -> Project:
    project.commit("Begin", {"README.md": "# A calculator\n"})
    return project


def test_each_step_begins_with_a_test_and_builds_on_those_before(empty: Project) -> None:
    more = {"path": "calc.py", "find": "    return a + b\n", "replace": f"    return a + b\n{MORE}"}
    answer = developer(STEPS, [ADD, DIVIDE], [WRONG, BUILD, more])
    (first, second), scripted = build(empty, answer)
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
    assert "at most 8." in prompts["critic/plan"]
    assert "assert divide(6, 3) == 2" in prompts["critic/fix_step_2_1"]
    assert "return a + b" in prompts["optimizer/accept_2_1"]
    # A draft that fails a test is made again with its output.
    assert "fails: assert -1 == 3" in prompts["critic/fix_step_1_2"]
    output = "\n>       assert add(1, 2) == 3\nE       assert -1 == 3"
    assert output in prompts["critic/fix_step_1_2"]
    # Judges of a step know what it is for, and what others are for.
    one, other = prompts["reviewer/judge_step_1_2"], prompts["reviewer/judge_step_2_1"]
    for prompt, words in ((one, "assert add(1, 2) == 3"), (other, "assert divide(6, 3) == 2")):
        assert "A calculator." in prompt
        assert words in prompt
    assert 'come later, and are not asked for here: "Divide numbers"' in one
    assert 'built already: "Add numbers"' in other


def test_a_test_that_cannot_be_used_is_written_again(empty: Project) -> None:
    """For the gate, a linter, and because it does not fail. What a linter says is shown at last."""
    empty.commit("Rules", {"pyproject.toml": '[tool.ruff.lint]\nselect = ["E501"]\n'})
    long = f"    assert True  # {'much ' * 20}\n"
    skipped = f"import pytest\n\npytest.skip('later', allow_module_level=True)\n{ADD}{long}"
    expects = "import pytest\nfrom calc import leave\n\n\ndef test_leave():\n"
    expects += f"    with pytest.raises(SystemExit):\n        leave()\n{long}"
    code = {**BUILD, "replace": "def leave() -> None:\n    raise SystemExit(2)\n"}
    step = {**STEPS[0], "title": "Add two numbers and print the multiplication table"}
    # What is only suggested is the last step.
    (done,), scripted = build(empty, developer([step, STEPS[1]], [skipped, expects], [code]))
    prompt = dict(scripted.prompts)["optimizer/accept_1_2"]
    assert "adds skip, which keeps tests from running" in prompt
    assert "reports Line too long" in prompt
    assert "without the step" in prompt
    assert "tests/test_add_two_numbers_and_print_the.py" in done.files
    assert done.outcome == "suggested"
    assert "reports Line too long" in done.reasons[0]
    idle = "def test_nothing():\n    assert True\n"
    with pytest.raises(UsageError, match="step 1 has no test that can be used: The test passes"):
        build(empty, developer([step], [idle, idle], []))


def test_a_test_that_no_code_can_pass_is_written_again(empty: Project) -> None:
    wrong = ADD.replace("assert add(1, 2) == 3", "assert add(1, 1) == 3")
    idle = "def test_nothing():\n    assert True\n"
    (done,), scripted = build(empty, developer(STEPS[:1], [idle, wrong, ADD], [{}, BUILD]))
    assert done.outcome == "fixed"
    assert ADD.encode() in done.files.values()
    prompts = dict(scripted.prompts)
    assert "or no right code can pass it, say so" in prompts["critic/fix_step_1_1"]
    assert "No code was accepted for that test" not in prompts["optimizer/accept_1_1"]
    for words in (wrong, "critic proposes nothing: 2 != 3", "No code was accepted for that test"):
        assert words in prompts["optimizer/accept_1_3"]
    assert len(prompts) == len(scripted.prompts), "no label says two questions"
    # The second one is the last.
    (stopped,), _ = build(empty, developer(STEPS, [wrong, f"{wrong}\n"], [{}, {}]))
    assert (stopped.outcome, stopped.reasons) == ("failed", ("critic proposes nothing: 2 != 3",))


def test_it_ends_at_the_first_step_that_does_not_work(empty: Project) -> None:
    # Who wrote its test is asked once more, and stands by it.
    (stopped,), scripted = build(empty, developer(STEPS, [ADD, ADD], [WRONG] * 3))
    assert (stopped.outcome, len(stopped.attempts)) == ("failed", 3)
    assert stopped.reasons[0].startswith("pytest reports test_add fails: assert -1 == 3")
    assert scripted.prompts[-1][0] == "optimizer/accept_1_2"
    # A proposer that does not answer says nothing against a test.
    # It may plan more than it is asked for: nothing is left out without a word.
    many = [*STEPS, *({**STEPS[0], "title": f"Part {n}"} for n in range(9))]
    (stopped,), scripted = build(empty, developer(many, [ADD], []))
    assert '"Part 8".' in dict(scripted.prompts)["optimizer/accept_1_1"]
    assert stopped.reasons[0].startswith("critic did not answer: ")
    assert not [label for label, _ in scripted.prompts if label.endswith("accept_1_2")]
    (first, second), _ = build(empty, developer(STEPS, [ADD, "", ""], [BUILD]))
    assert [first.outcome, second.outcome] == ["fixed", "failed"]
    assert "gave no test for step 2" in second.reasons[0]


def test_a_step_that_is_there_already_hinders_none_after_it(empty: Project) -> None:
    steps = [STEPS[0], {**STEPS[0], "title": "Add more numbers"}, STEPS[1]]
    more = {"path": "calc.py", "find": "    return a + b\n", "replace": f"    return a + b\n{MORE}"}
    results, _ = build(empty, developer(steps, [ADD, ADD, ADD, DIVIDE], [BUILD, more]))
    assert [result.outcome for result in results] == ["fixed", "not_needed", "fixed"]


def test_without_a_plan_nothing_is_built(empty: Project) -> None:
    with pytest.raises(UsageError, match="there is no plan: it is empty"):
        build(empty, developer([], [], []))
    with pytest.raises(UsageError, match="there is no plan: 1 and 2 differ"):
        build(empty, lambda *_: {"increments": [], "problem": "1 and 2 differ"})
    long = "A" * 20_001
    with pytest.raises(UsageError, match="the description is too long"):
        work(empty, lambda *_: pytest.fail("somebody is asked"), lambda c, h: develop(long, c, h))
    with pytest.raises(ModelError, match="there is no plan: the answer is"):
        build(empty, lambda *_: "words")


RED = "def total(prices):\n    return sum(prices) + 1\n"
MENDED = by_edit("cart.py", "sum(prices) + 1", "sum(prices)")
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


def mend(
    project: Project, answer: Answer = MENDED, log: str = "", **variables: str
) -> tuple[TaskResult, str]:
    """The result of repairing what is red, and the first question for a fix."""
    result, scripted = work(
        project, answer, lambda c, h: pursue("repair", (), c, h, log), **variables
    )
    return result, dict(scripted.prompts)["critic/fix_repair_1"]


def test_what_is_red_is_repaired(red: Project) -> None:
    edits = [("cart.py", "sum(prices) + 1", f"sum(prices){more}") for more in (" + 2", "")]
    result, scripted = work(red, by_edits(*edits), lambda c, h: pursue("repair", (), c, h, LOG))
    (attempt,) = result.attempts
    assert "test_cart.py::test_empty still fails" in " ".join(attempt.reasons)
    assert result.outcome == "fixed"
    assert result.title == "Repair 2 tests that fail: test_cart.py::test_empty"
    assert result.facts == ("Tests that failed and pass now: 2, such as test_cart.py::test_empty.",)
    prompt = dict(scripted.prompts)["critic/fix_repair_1"]
    assert "\n===== 2 failed =====\nE  assert 2 == 1\n" in prompt
    assert "return sum(prices) + 1" in prompt
    assert "Words\n\nREADME.md (added)\n+# Cart\n" in prompt  # the last commit
    judged = dict(scripted.prompts)["reviewer/judge_repair_2"]
    assert "test_cart.py::test_total: assert 2 == 1" in judged
    assert re.search(r"What changed last, whether it is the cause or not:\n<<<\w+\nWords\n", judged)


def test_a_repair_loses_no_test(project: Project) -> None:
    half = "CASES = [1, 2]\n\n\ndef half(n):\n    return n // 2\n"
    test = "import pytest\nfrom cart import CASES, half\n\n\n@pytest.mark.parametrize('n', CASES)\n"
    test += "def test_half(n):\n    assert half(n) * 2 == n\n"
    project.commit("Halves", {"cart.py": half, "test_cart.py": test})
    edits = [("cart.py", "[1, 2]", "[2]"), ("cart.py", "n // 2", "n / 2")]
    result, _ = mend(project, by_edits(*edits))
    (lost,) = result.attempts
    assert lost.reasons == ("test_cart.py::test_half[1] does not run any more.",)
    assert result.outcome == "fixed"


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
    project.commit("Add", files)
    result, prompt = mend(project, by_edit("cart.go", "add(n)", "sum(n)"), **go_variables())
    assert (result.outcome, result.reasons) == ("fixed", ())
    assert prompt.count("undefined: add\n") == 1
    assert '"bench_test.go" and 1 more with the same output: "undefined: add"' in prompt
    assert '## "cart.go"' in prompt


def test_what_a_red_test_calls_is_found_or_named_if_it_is_too_large(project: Project) -> None:
    """Its output does not name it, and frames of an environment in the project hide it no more.

    Another file cannot be imported because of it.
    """
    value = "from cart import total\n\nVALUE = total([1])\n"
    tests = {"test_cart.py": f"{value}\n\ndef test_value():\n    assert VALUE == 1\n"}
    tests["test_all.py"] = f"{value}assert VALUE == 1\n\n\ndef test_all():\n    pass\n"
    for more in ("", "\n\n" + "# A comment\n" * 6_000):
        project.commit("A cart", {"cart.py": RED + more, **tests})
    shutil.copytree(lean_environment(), project.folder / ".venv", symlinks=True)
    answer = by_edit("cart.py", "sum(prices) + 1", "(\n        sum(prices)" + "\n" * 6 + "    )")
    result, scripted = work(
        project,
        answer,
        lambda c, h: pursue("repair", (), c, h),
        VIRTUAL_ENV=str(project.folder / ".venv"),
    )
    for label in ("critic/fix_repair_1", "optimizer/optimise_repair"):
        prompt = dict(scripted.prompts)[label]
        assert 'Too large to be shown; tools read parts of: "cart.py"' in prompt
    assert result.outcome == "fixed"
    assert result.facts == ("Tests that failed and pass now: 2, such as test_all.py.",)
    assert result.title == "Repair 2 tests that fail: test_all.py"


def test_what_changed_last_is_shown_although_nothing_names_it(project: Project) -> None:
    cart = "from rates import RATE\n\n\ndef total(prices):\n    return sum(prices) * RATE\n"
    test = "from cart import total\n\n\ndef test_{0}():\n    assert total([{0}]) == {0}\n"
    tests = {f"test_{n}.py": test.format(n) for n in range(1, MAX_REPAIRED + 2)}
    for rate in (1, 2):
        project.commit("Rates", {"cart.py": cart, "rates.py": f"RATE = {rate}\n", **tests})
    _, prompt = mend(project, lambda *_: {"edits": []})
    assert '## "rates.py"' in prompt


def test_a_log_says_which_of_the_tests_that_fail_are_to_be_repaired(red: Project) -> None:
    """Another one fails on this machine alone: without a log, what fails before as well."""
    here = "\n\ndef test_here():\n    assert False\n"
    red.commit("Test", {"test_cart.py": TESTS + here})
    result, prompt = mend(red, log=f"{LOG}FAILED test_cart.py::test_total\nFAILED test_empty\n")
    assert "test_here" not in prompt.partition("# Files as they are now")[0].partition("changed")[0]
    assert result.outcome == "fixed"
    assert result.title == "Repair 2 of 3 tests that fail: test_cart.py::test_empty"
    result, prompt = mend(red, log=LOG)
    assert '"test_cart.py::test_here": "assert False"' in prompt
    assert result.outcome == "failed"
    red.commit("Mend", {"cart.py": RED.replace(" + 1", "")})
    red.commit("Break", {"cart.py": RED})
    result, prompt = mend(red)
    assert result.outcome == "fixed"
    assert result.title == "Repair 2 of 3 tests that fail: test_cart.py::test_empty"


def test_where_nothing_is_red_the_log_is_a_report(project: Project) -> None:
    project.commit("A cart", {"cart.py": RED.replace(" + 1", ""), "test_cart.py": TESTS})
    with pytest.raises(UsageError, match="there is nothing to repair: no test fails"):
        mend(project)
    asked: list[str] = []

    def answer(_: str, prompt: str) -> Any:
        asked.append(prompt)
        return {"cause": "?", "test": ""}

    with pytest.raises(UsageError, match="no test fails here; nobody could reproduce it"):
        mend(project, answer, "Collecting\n" * 2_000 + "Boom")
    assert all("\nBoom\n" in prompt for prompt in asked)
    test = "from cart import total\n\n\ndef test_none():\n    assert total(None) == 0\n"

    def solve(label: str, _: str) -> Any:
        return {"cause": "?", "test": test} if "/reproduce" in label else {"edits": []}

    error = "TypeError: 'NoneType' object is not iterable"
    log = f"Collecting\n{LOG}{error}\nCleaning up\n"
    result, _ = work(project, solve, lambda c, h: pursue("repair", (), c, h, log))
    assert (result.kind, result.title) == ("bug", f"Fix: {error}")


def test_without_python_nobody_is_asked_for_a_test_or_a_plan(project: Project) -> None:
    project.commit("A page", {"page.js": "export const title = 'Cart';\n"})
    with pytest.raises(UsageError, match="there is no Python here") as raised:
        mend(project, lambda *_: pytest.fail("somebody is asked"), "not ok 1 - title")
    assert raised.value.hint == INSTEAD
    project.commit("Test", {"page.test.js": "", "package.json": '{"scripts": {"test": "jest"}}'})
    for log in ("", "not ok 1 - title"):  # here no test runs
        with pytest.raises(UsageError, match="npm-test: ") as raised:
            mend(project, lambda *_: pytest.fail("somebody is asked"), log)
        assert (raised.value.hint or "").startswith("make the tests run here")
    with pytest.raises(UsageError, match="there is no Python here"):
        build(project, lambda *_: pytest.fail("somebody is asked"))


def test_steps_from_the_command_line(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Begun where nothing but the plan is there, and no commit yet."""
    plans = STEPS[:1], STEPS, [STEPS[0], {**STEPS[0], "title": "Add more numbers"}]

    def reply(_: str, prompt: str) -> Any:
        answers: dict[str, Any] = {
            "# Task: plan": {"increments": plans[("More" in prompt) + 2 * ("Again" in prompt)]},
            "# Task: write the test": {"test": "" if CODE in prompt and "More" in prompt else ADD},
            "# Task: build one step": {"edits": [BUILD], "explanation": ""},
            "# Task: judge": {"objections": []},
        }
        return next((said for task, said in answers.items() if task in prompt), {"edits": []})

    def run(*words: str, text: str = "A calculator\n") -> Result:
        return CliRunner().invoke(reviewbot, words, input=text)

    with model(reply).running() as server:
        at_the_command_line(project, monkeypatch, server)
        assert "the description is empty" in run("develop", "-", text=" \n").stderr
        (project.folder / "plan.md").write_text("A calculator\n")
        shown = run("develop", "plan.md")
        assert "reviewbot: plan: Add numbers (" in shown.stderr
        assert "reviewbot: step 1 of 1: Add numbers (" in shown.stderr
        assert "reviewbot: step" not in run("develop", "-", "-q").stderr
        assert "1 fix is ready; --yes writes" in shown.stderr
        assert not (project.folder / "calc.py").exists()
        partly = run("develop", "-", "--yes", text="A calculator. More\n")
        assert partly.exit_code == 1
        assert "reviewer gave no test for step 2" in partly.stdout
        assert (project.folder / "calc.py").read_text() == CODE
        run("fix", "--undo")
        assert "there is no commit yet" in run("develop", "plan.md", "--commit").stderr
        project.commit("Begin")
        for key in ("user.name", "user.email"):
            project.git("config", key, "test@example.org")
        done = run("develop", "-", "--yes", "--commit", text="A calculator. Again\n")
    assert done.exit_code == 0, done.stderr
    assert "Add numbers" in done.stdout
    assert "Add more numbers\n  What is there passes its tests already.\n" in done.stdout
    assert project.git("log", "-1", "--format=%s") == "Add numbers"
    assert project.git("show", "HEAD:calc.py") == CODE.strip()
    assert run("fix", "--undo").exit_code == 0
    assert not (project.folder / "calc.py").exists()
