"""The runner itself: what a step leaves behind reaches later steps and jobs as on GitHub."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.actions_runner import Annotation, Concurrency, JobRun, Runner, WorkflowError
from tests.actions_runner.commands import FileError, Masks, read_assignments, read_commands
from tests.actions_runner.expressions import Declared, Evaluator, ExpressionError
from tests.actions_runner.workflow import read_dispatch_inputs, starts

SAMPLES = Path(__file__).parent / "actions_runner/samples"
# What GitHub's own evaluator makes of expressions.
EXPRESSIONS = json.loads((SAMPLES / "expressions.json").read_text(encoding="utf-8"))
CONTEXTS = EXPRESSIONS["contexts"]
EVENT: dict[str, Any] = {
    "action": "opened",
    "number": 7,
    "sender": {"login": "ada"},
    "repository": {"full_name": "octo/shop", "default_branch": "main"},
    "pull_request": {
        "number": 7,
        "head": {"ref": "topic", "sha": "1" * 40, "repo": {"full_name": "octo/shop"}},
        "base": {"ref": "main", "sha": "2" * 40},
    },
}
HEAD = {**EVENT["pull_request"]["head"], "repo": {"full_name": "eve/shop"}}
FORK = {**EVENT, "pull_request": {**EVENT["pull_request"], "head": HEAD}}
PUSH = {**EVENT, "ref": "refs/heads/main", "after": "3" * 40}


class Origin:
    """A GitHub with one repository, at `file:`. `tokens` has the permissions of each token."""

    def __init__(self, folder: Path) -> None:
        self.api_url = self.graphql_url = "http://127.0.0.1:9"
        self.server_url = f"file://{folder}"
        self.tokens: list[Mapping[str, str]] = []
        self._folder = folder / "octo/shop.git"

    def token(self, login: str, permissions: Mapping[str, str]) -> str:
        assert login == "github-actions[bot]"
        self.tokens.append(permissions)
        return f"ghs_{len(self.tokens):036}"

    def commit(self, file: Path) -> str:
        self._folder.mkdir(parents=True)
        (self._folder / file.name).write_bytes(file.read_bytes())
        git = ("git", "-C", str(self._folder), "-c", "user.name=A", "-c", "user.email=a@b.org")
        for words in ("init -qb main", "add --all", "commit -qm x"):
            subprocess.run([*git, *words.split()], check=True)
        return subprocess.check_output([*git, "rev-parse", "HEAD"], text=True).strip()


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    return Origin(tmp_path / "origin")


@pytest.fixture
def runner(tmp_path: Path, origin: Origin) -> Runner:
    return Runner(folder=tmp_path, github=origin, secrets={"KEY": "k3y-of-tests"})


def run_action(runner: Runner, **inputs: str) -> JobRun:
    folder, permissions = SAMPLES / "toy", {"checks": "write"}
    return runner.run_action(folder, inputs, "pull_request", EVENT, permissions=permissions)


def test_expressions_have_the_values_that_github_gives_them() -> None:
    evaluator = Evaluator(CONTEXTS)
    values = {text: evaluator.evaluate(text) for text in EXPRESSIONS["values"]}
    assert values == EXPRESSIONS["values"]
    for text in EXPRESSIONS["errors"]:
        with pytest.raises(ExpressionError):
            evaluator.evaluate(text)


def test_expressions_are_in_texts_and_conditions() -> None:
    evaluator = Evaluator(CONTEXTS, {"success": lambda: False, "always": lambda: True})
    assert evaluator.fill("a ${{ inputs.mode }} b ${{ '}}' }}") == "a all b }}"
    assert evaluator.holds("always() && inputs.mode == 'all'")
    assert not evaluator.holds("${{ contains('always()', 'a') }}")
    with pytest.raises(ExpressionError, match="'mod' is none of mode"):
        Evaluator({"inputs": Declared(mode="all")}).evaluate("inputs.mod")
    with pytest.raises(ExpressionError, match="always true"):
        evaluator.holds("${{ inputs.empty }} && true")


@settings(max_examples=50)
@given(st.text(alphabet="ab'.[]()!&|=<>* 01,${}githubinputs", max_size=30))
def test_any_text_is_an_expression_or_is_refused(text: str) -> None:
    with suppress(ExpressionError):
        json.dumps(Evaluator(CONTEXTS).evaluate(text))


def test_commands_annotate_mask_and_stop() -> None:
    output = (
        "::add-mask::one%0Atwo\n one two s3cret\n::stop-commands::x\n::error::no\n::x::\n"
        "  ::error title=a%3Ab,line=3::yes 100%25%0Atwo\nsee ##[warning]old\n::nothing::x\n"
        "::set-output name=a::b\n" + "::notice::n\n" * 11
    )
    commands = read_commands(output, Masks("s3cret"))
    assert commands.annotations[:2] == [
        Annotation("error", "yes 100%\n***", {"title": "a:b", "line": "3"}),
        Annotation("warning", "old"),
    ]
    assert len(commands.annotations) == 2 + 10
    assert commands.log.splitlines()[1] == " *** *** ***"
    assert commands.outputs == {"a": "b"}


@settings(max_examples=50)
@given(st.dictionaries(st.from_regex(r"[a-z_]{1,9}", fullmatch=True), st.text(max_size=20)))
def test_files_of_the_runner_carry_any_text(values: dict[str, str]) -> None:
    text = "".join(f"{name}<<E-N-D\n{value}\nE-N-D\n" for name, value in values.items())
    assert read_assignments(text) == values
    for wrong in ("lonely", "a<<END\nnever ends", "=x", "a<<\n\n"):
        with pytest.raises(FileError):
            read_assignments(text + wrong)


def test_what_a_step_writes_reaches_the_next_steps_and_the_caller(
    runner: Runner, origin: Origin
) -> None:
    job = run_action(runner)
    assert job.outputs == {"greeting": "tool says ada", "long": "one\n=two", "end": "octo/shop"}
    assert (job.conclusion, job.summary, job.annotations) == ("success", "# Greeted\n", [])
    assert job.log == "opened\nonly after success\n"
    assert origin.tokens == [{"checks": "write", "metadata": "read"}]


def test_a_step_that_fails_ends_the_action_but_not_what_always_runs(runner: Runner) -> None:
    job = run_action(runner, broken="true")
    assert (job.conclusion, job.outputs["end"]) == ("failure", "octo/shop")
    assert job.annotations == [Annotation("error", "Process completed with exit code 1.")]
    assert job.log == "opened\n##[error]Process completed with exit code 1.\n"


def test_inputs_and_actions_that_do_not_exist_are_errors(runner: Runner, tmp_path: Path) -> None:
    with pytest.raises(WorkflowError, match="has no input whom"):
        run_action(runner, whom="ada")
    path = tmp_path / "wrong.yml"
    for step, message in {
        "uses: a/b@v1": "a/b@v1 is not simulated",
        "{uses: actions/checkout@v6, with: {paht: x}}": "actions/checkout@v6 has no input paht",
        "{if: secrets.KEY, run: x}": "the context secrets is not available here",
        "run: ${{ steps.one.outputs.x }}": "'one' is none of nothing",
        "run: ${{ needs.one.outputs.x }}": "'one' is none of nothing",
    }.items():
        path.write_text(f"on: push\npermissions: {{}}\njobs:\n  a:\n    steps:\n    - {step}")
        with pytest.raises((WorkflowError, ExpressionError), match=message):
            runner.run_workflow(path, "push", PUSH)


def test_jobs_run_on_machines_of_their_own_with_what_they_need(
    runner: Runner, origin: Origin
) -> None:
    run = runner.run_workflow(SAMPLES / "first.yml", "pull_request", EVENT)
    make = run.jobs["make"]
    assert run.jobs["take"].outputs == {"text": "stset-fo-y3k"}
    assert make.outputs == {"name": "file.txt", "leak": ""}
    assert make.log.startswith("job workflow ***\n##[error]an artifact with the name all already")
    assert make.output == "job workflow k3y-of-tests\n"
    assert [path.name for path in run.artifacts["all"].rglob("*")] == ["out", "file.txt"]
    assert run.concurrency == Concurrency("all-refs/pull/7/merge", cancel_in_progress=True)
    assert make.concurrency == Concurrency("made-7")
    assert (make.steps[4].exit_code, make.steps[4].conclusion) == (3, "success")
    assert make.steps[5].conclusion == "skipped"
    assert origin.tokens[0] == {"contents": "write", "metadata": "read"}
    successful = [name for name, job in run.jobs.items() if job.conclusion == "success"]
    assert successful == ["make", "take", "last"]
    assert {run.jobs[name].conclusion for name in ("never", "follows", "end")} == {"skipped"}


def test_a_run_for_a_fork_has_no_secret_and_only_reads(runner: Runner, origin: Origin) -> None:
    run = runner.run_workflow(SAMPLES / "first.yml", "pull_request", FORK)
    assert run.jobs["take"].outputs == {"text": ""}
    assert origin.tokens[0] == {"contents": "read", "metadata": "read"}


def test_a_workflow_run_takes_artifacts_of_another_run_and_an_action_of_its_checkout(
    runner: Runner, origin: Origin, tmp_path: Path
) -> None:
    sha = origin.commit(SAMPLES / "toy/action.yml")
    first = runner.run_workflow(SAMPLES / "first.yml", "pull_request", FORK)
    (first.artifacts["files"] / "file.txt").write_text("forged\n")
    about = {"id": first.id, "name": "first", "head_branch": "topic"}
    payload = {**EVENT, "action": "completed", "workflow_run": about}
    run = runner.run_workflow(SAMPLES / "second.yml", "workflow_run", payload)
    tokens = "base/.git/config:1\nother/.git/config:0\n"
    assert run.log == f"forged\n{tokens}completed\nonly after success\n"
    assert run.jobs["take"].step("actions/checkout@v7").outputs["commit"] == sha

    path, text = tmp_path / "second.yml", (SAMPLES / "second.yml").read_text()
    path.write_text(text.replace("actions: read, ", ""))
    refused = runner.run_workflow(path, "workflow_run", payload).jobs["take"]
    assert refused.annotations == [Annotation("error", "Resource not accessible by integration")]


STARTS: list[tuple[Any, str, dict[str, Any], bool]] = [
    (["push", "pull_request"], "pull_request", EVENT, True),
    ("pull_request", "pull_request", {**EVENT, "action": "closed"}, False),
    ({"issue_comment": None}, "issue_comment", EVENT, True),
    ({"pull_request": {"branches": ["release/*"]}}, "pull_request", EVENT, False),
    ({"pull_request": {"branches": ["**", "!main"]}}, "pull_request", EVENT, False),
    ({"push": {"branches": ["a/*"]}}, "push", {"ref": "refs/heads/a/b"}, True),
    ({"push": {"branches": ["a/*"]}}, "push", {"ref": "refs/heads/a/b/c"}, False),
    ({"push": {"branches-ignore": ["a/**"]}}, "push", {"ref": "refs/heads/a/b/c"}, False),
    ({"push": {"branches": ["**"]}}, "push", {"ref": "refs/tags/v1"}, False),
    ({"schedule": [{"cron": "0 3 * * 1"}]}, "schedule", {}, True),
]


def test_an_event_starts_a_workflow_by_name_type_and_branch() -> None:
    for on, event_name, payload, expected in STARTS:
        assert starts({"on": on}, event_name, payload) == expected, on


def test_inputs_of_a_dispatch_have_defaults_and_types() -> None:
    declared = {"number": {"required": True}, "dry_run": {"type": "boolean", "default": False}}
    workflow = {"on": {"workflow_dispatch": {"inputs": declared}}}
    inputs = read_dispatch_inputs(workflow, {"inputs": {"number": "7"}})
    assert inputs == {"number": "7", "dry_run": False}
    for wrong in ({}, {"number": "7", "pull": "7"}):
        with pytest.raises(WorkflowError, match="workflow_dispatch"):
            read_dispatch_inputs(workflow, {"inputs": wrong})


def test_an_environment_is_made_without_network_and_runs_the_real_program(runner: Runner) -> None:
    job, refused = runner.run_workflow(SAMPLES / "uv.yml", "push", PUSH).jobs.values()
    assert "reviewbot, version" in job.log
    assert "error: No interpreter found at path `python3`" in job.log
    assert "this needs `==` and a hash: a==1" in job.log
    assert job.conclusion == "failure"
    assert refused.log == "##[error]Resource not accessible by integration\n"
    assert [(each.text, each.ref, each.sha) for each in runner.sarif_uploads] == [
        ('{"version": "2.1.0"}\n', "refs/heads/main", "3" * 40)
    ]
