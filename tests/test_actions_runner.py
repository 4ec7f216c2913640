"""The runner itself: what a step leaves behind reaches later steps and jobs as on GitHub."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.actions_runner import Runner, WorkflowError, WorkflowRun
from tests.actions_runner.expressions import Declared, Evaluator, ExpressionError
from tests.fake_github import GitHub, Pull

CONTEXTS = {
    "github": {"actor": "Ada", "event": {"labels": ["bug"], "draft": False}},
    "inputs": Declared(mode="all", empty=""),
}
VALUES: dict[str, Any] = {
    "inputs.mode == 'ALL' && github.Actor": "Ada",
    "inputs.empty || !github.event.draft": True,
    "github.nothing.at.all == ''": True,
    "contains(github.event.labels, 'BUG') && startsWith('it''s', 'IT')": True,
    "format('{0}-{1}', github.actor, inputs.mode) != 'x'": True,
    'fromJSON(\'{"a": {"b": null}}\').a.b': None,
}


def test_expressions_have_the_values_that_github_gives_them() -> None:
    evaluator = Evaluator(CONTEXTS, {"success": lambda: False, "always": lambda: True})
    assert {text: evaluator.evaluate(text) for text in VALUES} == VALUES
    assert evaluator.fill("a ${{ inputs.mode }} b ${{ '}}' }}") == "a all b }}"
    assert evaluator.holds("always() && inputs.mode == 'all'")
    assert not evaluator.holds("${{ contains('always()', 'a') }}")
    for text in ("inputs.mod", "nothing.here", "(inputs.mode", "a()", "1 + 1", "inputs.mode 'x'"):
        with pytest.raises(ExpressionError):
            evaluator.evaluate(text)
    with pytest.raises(ExpressionError, match="always true"):
        evaluator.holds("${{ inputs.empty }} && true")


def run(runner: Runner, pull: Pull, jobs: dict[str, Any], **about: Any) -> WorkflowRun:
    path = runner.folder / "w.yml"
    path.write_text(yaml.safe_dump({"on": "pull_request", "permissions": {}, "jobs": jobs} | about))
    event = pull.repository.github.event("pull_request", pull=pull)
    return runner.run_workflow(path, "pull_request", event)


@pytest.fixture
def runner(tmp_path: Path, github: GitHub) -> Runner:
    return Runner(folder=tmp_path, github=github, secrets={"KEY": "k3y-of-tests"})


UPLOAD = {"uses": "actions/upload-artifact@v7", "with": {"name": "all", "path": "out.txt"}}
DOWNLOAD = {"uses": "actions/download-artifact@v7", "with": {"name": "all"}}
WRITE = (
    'echo "$KEY" | rev >out.txt\necho "is $KEY"\nA=1\n'
    'echo "name<<END\none\n=two\nEND" >>"$GITHUB_OUTPUT"\n'
    'echo "# Done" >>"$GITHUB_STEP_SUMMARY"\n'
)
JOBS: dict[str, Any] = {
    "make": {
        "permissions": {"contents": "write"},
        "outputs": {"name": "${{ steps.write.outputs.name }}", "leak": "${{ secrets.KEY }}"},
        "steps": [
            {"id": "write", "env": {"KEY": "${{ secrets.KEY }}"}, "run": WRITE},
            UPLOAD,
            UPLOAD | {"continue-on-error": True},
            {"if": "always()", "run": 'echo "token: ${GITHUB_TOKEN:-none}"'},
            {"run": "false | true; exit 3", "shell": "bash"},
            {"run": "echo never"},
        ],
    },
    "take": {
        "needs": "make",
        "if": "always() && needs.make.result == 'failure'",
        "steps": [DOWNLOAD, {"run": "cat out.txt"}],
    },
    "follows": {"needs": "make", "steps": [{"run": "exit 1"}]},
}


def test_what_steps_leave_behind_reaches_later_ones_and_secrets_do_not(
    runner: Runner, pull: Pull
) -> None:
    ended = run(runner, pull, JOBS, concurrency={"group": "${{ github.ref }}"})
    make, take = ended.jobs["make"], ended.jobs["take"]
    assert (make.conclusion, make.outputs) == ("failure", {"name": "one\n=two", "leak": ""})
    assert make.log.startswith("is ***\n##[error]an artifact with the name all already")
    assert make.log.endswith("token: none\n##[error]Process completed with exit code 1.\n")
    assert make.summary == "# Done\n"
    assert (take.conclusion, take.log) == ("success", "stset-fo-y3k\n")
    assert ended.jobs["follows"].conclusion == "skipped"
    assert ended.concurrency.group == "refs/pull/1/merge"
    assert make.permissions == {"contents": "write"}


def test_a_run_for_a_fork_has_no_secret_and_only_reads(runner: Runner, pull: Pull) -> None:
    fork = pull.repository.fork("eve/app")
    fork.commit("mine", {"a.py": "mine\n"})
    theirs = pull.repository.pull("Mine", "mine", head_repository=fork, author="eve")
    ended = run(runner, theirs, JOBS)
    assert ended.jobs["make"].permissions == {"contents": "read"}
    assert ended.jobs["take"].log == "\n"


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"uses": "a/b@v1"}, "a/b@v1 is not simulated"),
        ({"uses": "actions/checkout@v6", "with": {"paht": "x"}}, "has no input paht"),
        ({"if": "secrets.KEY", "run": "x"}, "the context secrets is not available here"),
        ({"run": "${{ steps.one.outputs.x }}"}, "'one' is none of nothing"),
    ],
)
def test_inputs_and_actions_that_do_not_exist_are_errors(
    runner: Runner, pull: Pull, step: Any, message: str
) -> None:
    with pytest.raises((WorkflowError, ExpressionError), match=message):
        run(runner, pull, {"a": {"steps": [step]}})
    with pytest.raises(WorkflowError, match="typ is not simulated"):
        run(runner, pull, {}, on={"pull_request": {"typ": ["opened"]}})
    with pytest.raises(WorkflowError, match="has no permissions"):
        run(runner, pull, {"a": {"steps": [], "permissions": "write-all"}})
