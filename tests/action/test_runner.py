"""The runner that plays GitHub: what steps leave behind reaches later steps, outputs and jobs as GitHub carries it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.action import said
from tests.action.runner import event_of_run, run_action, run_workflow, starts
from tests.action.world import World, packed, unpacked

TOY = """\
name: toy
inputs:
  who: {description: whom, default: "${{ github.actor }}"}
  broken: {description: whether it fails, default: "false"}
outputs:
  greeting: {description: the text, value: "${{ steps.greet.outputs.text }}"}
  long: {description: of several lines, value: "${{ steps.greet.outputs.long }}"}
  after: {description: whether the end was reached, value: "${{ steps.end.outputs.ran }}"}
runs:
  using: composite
  steps:
    - id: prepare
      shell: bash
      env: {WHO: "${{ inputs.who }}"}
      run: |
        echo "GREETED=$WHO" >>"$GITHUB_ENV"
        mkdir -p "$RUNNER_TEMP/tools"
        printf '#!/bin/sh\\necho "tool says $1"\\n' >"$RUNNER_TEMP/tools/tool"
        chmod +x "$RUNNER_TEMP/tools/tool"
        echo "$RUNNER_TEMP/tools" >>"$GITHUB_PATH"
    - id: greet
      shell: bash
      run: |
        echo "text=$(tool "$GREETED")" >>"$GITHUB_OUTPUT"
        printf 'long<<END\\none\\n=two\\nEND\\n' >>"$GITHUB_OUTPUT"
        echo "# Greeted" >>"$GITHUB_STEP_SUMMARY"
        echo "::warning file=a.py,line=3::first%0Asecond"
        jq -r .action "$GITHUB_EVENT_PATH"
    - if: ${{ inputs.broken == 'true' }}
      shell: bash
      run: |
        false | true
        echo "not reached"
    - id: end
      if: always() && steps.greet.outcome == 'success'
      shell: bash
      run: echo "ran=${RUNNER_OS}" >>"$GITHUB_OUTPUT"
    - shell: bash
      run: echo "only after success"
"""

EVENT: dict[str, Any] = {
    "action": "opened",
    "number": 7,
    "sender": {"login": "ada"},
    "repository": {"full_name": "octo/shop", "default_branch": "main"},
    "pull_request": {
        "number": 7,
        "head": {"ref": "topic", "sha": "1" * 40, "repo": {"full_name": "octo/shop", "id": 1}},
        "base": {"ref": "main", "sha": "2" * 40},
    },
}
FORKED = {
    **EVENT,
    "pull_request": {
        **EVENT["pull_request"],
        "head": {"ref": "topic", "sha": "1" * 40, "repo": {"full_name": "eve/shop", "id": 2}},
    },
}

PIN = "0" * 40
FIRST = f"""\
name: first
on:
  pull_request:
    types: [opened]
permissions: {{}}
jobs:
  make:
    permissions: {{contents: write}}
    runs-on: ubuntu-24.04
    concurrency: {{group: "made-${{{{ github.event.number }}}}"}}
    outputs:
      name: ${{{{ steps.write.outputs.name }}}}
    steps:
      - id: write
        env: {{KEY: "${{{{ secrets.KEY }}}}"}}
        run: |
          mkdir -p "$RUNNER_TEMP/out" && echo "with key: $KEY" >"$RUNNER_TEMP/out/file.txt"
          echo "name=file.txt" >>"$GITHUB_OUTPUT"
      - uses: actions/upload-artifact@{PIN}
        with: {{name: handed, path: "${{{{ runner.temp }}}}/out/file.txt"}}
  take:
    needs: make
    permissions: {{contents: read}}
    runs-on: ubuntu-24.04
    outputs:
      text: ${{{{ steps.read.outputs.text }}}}
    steps:
      - uses: actions/download-artifact@{PIN}
        with: {{name: handed, path: "${{{{ runner.temp }}}}/in"}}
      - id: read
        env: {{NAME: "${{{{ needs.make.outputs.name }}}}"}}
        run: echo "text=$(cat "$RUNNER_TEMP/in/$NAME")" >>"$GITHUB_OUTPUT"
  never:
    if: github.event.action == 'closed'
    runs-on: ubuntu-24.04
    steps: [{{run: "exit 1"}}]
  follows:
    needs: [take, never]
    runs-on: ubuntu-24.04
    steps: [{{run: "exit 1"}}]
"""
SECOND = f"""\
name: second
on:
  workflow_run:
    workflows: [first]
    types: [completed]
permissions: {{}}
jobs:
  take:
    permissions: {{actions: read}}
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/download-artifact@{PIN}
        with:
          name: handed
          path: in
          run-id: ${{{{ github.event.workflow_run.id }}}}
          github-token: ${{{{ github.token }}}}
      - run: cat in/file.txt
"""


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "world", secrets={"KEY": "k3y"})


def toy(world: World, **inputs: str) -> Any:
    path = world.folder / "toy" / "action.yml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TOY, encoding="utf-8")
    return run_action(inputs, "pull_request", EVENT, world, action=path)


def workflow(world: World, text: str) -> Path:
    path = world.folder / "workflow.yml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_what_a_step_leaves_reaches_the_next_ones_and_the_caller(world: World) -> None:
    result = toy(world)
    assert result.outputs == {"greeting": "tool says ada", "long": "one\n=two", "after": "Linux"}
    assert (result.exit_code, result.result, result.summary) == (0, "success", "# Greeted\n")
    assert [(note.level, note.text, note.properties) for note in result.annotations] == [
        ("warning", "first\nsecond", {"file": "a.py", "line": "3"})
    ]
    assert "opened" in result.log
    assert "only after success" in result.log


def test_a_failing_step_ends_the_action_but_not_what_always_runs(world: World) -> None:
    result = toy(world, who="eve", broken="true")
    assert result.outputs["greeting"] == "tool says eve"
    assert result.outputs["after"] == "Linux"
    assert (result.exit_code, result.result) == (1, "failure")
    assert "not reached" not in result.log
    assert "only after success" not in result.log


def test_an_input_that_the_action_does_not_have_is_an_error_of_the_test(world: World) -> None:
    with pytest.raises(AssertionError, match="whom"):
        toy(world, whom="ada")


def test_jobs_run_on_machines_of_their_own_with_what_they_need(world: World) -> None:
    run = run_workflow(workflow(world, FIRST), "pull_request", EVENT, world)
    assert run.jobs["take"].outputs == {"text": "with key: k3y"}
    assert run.jobs["make"].concurrency == "made-7"
    assert run.jobs["make"].permissions == {"contents": "write"}
    assert (run.jobs["never"].result, run.jobs["follows"].result, run.conclusion) == ("skipped", "skipped", "success")


def test_a_forks_run_has_no_secret_and_a_token_that_reads(world: World) -> None:
    run = run_workflow(workflow(world, FIRST), "pull_request", FORKED, world)
    assert run.jobs["take"].outputs == {"text": "with key: "}
    assert run.jobs["make"].permissions == {"contents": "read"}


def test_another_event_starts_nothing(world: World) -> None:
    run = run_workflow(workflow(world, FIRST), "pull_request", {**EVENT, "action": "closed"}, world)
    assert (run.jobs, run.conclusion) == ({}, "skipped")
    assert not starts({"on": ["push"]}, "pull_request", EVENT)
    assert starts({"on": "pull_request"}, "pull_request", EVENT)


def test_a_workflow_run_takes_over_the_artifact_of_the_run_that_ended_and_of_no_other(world: World) -> None:
    first = run_workflow(workflow(world, FIRST), "pull_request", FORKED, world)
    run_workflow(workflow(world, FIRST), "pull_request", EVENT, world)
    second = run_workflow(workflow(world, SECOND), "workflow_run", event_of_run(first, "pull_request", FORKED), world)
    assert second.jobs["take"].log == "with key: \n"
    without = SECOND.replace("{actions: read}", "{contents: read}")
    refused = run_workflow(workflow(world, without), "workflow_run", event_of_run(first, "pull_request", FORKED), world)
    assert refused.jobs["take"].annotations[0].text == "Resource not accessible by integration"
    assert refused.conclusion == "failure"


def test_a_cache_is_read_by_its_own_branch_and_those_that_left_it(world: World) -> None:
    text = f"""\
on: [pull_request, workflow_dispatch]
permissions: {{}}
jobs:
  keep:
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/cache/restore@{PIN}
        with: {{path: kept, key: "k-${{{{ github.run_id }}}}", restore-keys: k-}}
      - run: if [ -e kept/runs ]; then cat kept/runs; fi; mkdir -p kept; echo "$GITHUB_RUN_ID" >>kept/runs
      - uses: actions/cache/save@{PIN}
        with: {{path: kept, key: "k-${{{{ github.run_id }}}}"}}
"""
    of_main = run_workflow(workflow(world, text), "workflow_dispatch", {}, world)
    of_pull = run_workflow(workflow(world, text), "pull_request", EVENT, world)
    again = run_workflow(workflow(world, text), "pull_request", EVENT, world)
    main_again = run_workflow(workflow(world, text), "workflow_dispatch", {}, world)
    assert of_main.log == ""
    assert of_pull.log == f"{of_main.id}\n"
    assert again.log == f"{of_main.id}\n{of_pull.id}\n"
    assert main_again.log == f"{of_main.id}\n", "what a pull request saved is not the default branch's"


def test_an_archive_writes_no_link_and_nothing_outside_its_folder(tmp_path: Path) -> None:
    import io
    import zipfile

    (tmp_path / "a.txt").write_text("a")
    data = io.BytesIO(packed({"ok/a.txt": tmp_path / "a.txt"}))
    with zipfile.ZipFile(data, "a") as archive:
        archive.writestr("../evil.txt", "evil")
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    unpacked(data.getvalue(), tmp_path / "into")
    assert sorted(path.name for path in (tmp_path / "into").rglob("*")) == ["a.txt", "ok"]
    assert not (tmp_path / "evil.txt").exists()


def test_commands_between_stop_and_start_are_text() -> None:
    log = "::stop-commands::x\n::error::no\n::x::\n::error title=a%3Ab::yes\n"
    assert [(note.text, note.properties) for note in said.annotated(log)] == [("yes", {"title": "a:b"})]


@pytest.mark.parametrize("text", ["lonely", "a<<END\nnever ends"])
def test_a_file_that_the_runner_refuses_fails_the_step(text: str) -> None:
    with pytest.raises(said.FileError):
        said.assignments(text)


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,9}", fullmatch=True), st.text().filter(lambda text: "\r" not in text)))
def test_blocks_carry_any_text(values: dict[str, str]) -> None:
    text = "".join(f"{name}<<E-N-D\n{value}\nE-N-D\n" for name, value in values.items())
    if not any("E-N-D" in value for value in values.values()):
        assert said.assignments(text) == values
