"""GitHub's runner, played: our action and our workflows with their own scripts, on files and environments as GitHub lays them.

``run_action`` runs ``action.yml`` once for an event; ``run_workflow`` runs a workflow file with all its jobs, each on a machine
of its own with a token of its own permissions::

    world = World(tmp_path, repository="octo/shop", forge=hub, secrets={"OPENAI_API_KEY": "…"})
    first = run_workflow(WORKFLOWS / "review-collect.yml", "pull_request", event, world)
    then = run_workflow(WORKFLOWS / "review-publish.yml", "workflow_run", finished(first, …), world)
    assert then.jobs["publish"].outputs ...

Scripts run for real; ``uses:`` of others are played by ``tests.action.uses``; ``OWNER/reviewbot@…`` and ``./…`` are this
repository's action. Not played: matrices, services, containers, reusable workflows, concurrency (its group is told), masks
(``log`` is what was printed, so that a leak is seen).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.action import said, uses
from tests.action.expressions import Evaluator, as_text
from tests.action.said import Annotation
from tests.action.steps import Machine, Sequence, Step, holds, status_functions
from tests.action.world import TOP, World

ACTION = TOP / "action.yml"
WORKFLOWS = TOP / "docs" / "workflows"
OWN = re.compile(r"(?:OWNER/reviewbot@[0-9a-f]{40}|\./.*)")
FOREIGN = re.compile(r"(?P<name>[^@]+)@[0-9a-f]{40}")

#: Events that a fork's head, or Dependabot, starts without secrets and with a token that reads.
OF_THE_HEAD = ("pull_request", "pull_request_review", "pull_request_review_comment")
#: Which actions of an event start a workflow that names none.
DEFAULT_TYPES = {"pull_request": ("opened", "synchronize", "reopened")}


@dataclass(frozen=True)
class Result:
    """What became of one use of the action, or of a job. ``steps`` in their order; ``log`` is unmasked. ``concurrency`` is the group
    that a job asks for, a skipped one too: whether GitHub looks at it then is told both ways."""

    outputs: dict[str, str]
    summary: str
    annotations: tuple[Annotation, ...]
    exit_code: int
    log: str
    steps: tuple[Step, ...] = ()
    result: str = "success"
    permissions: dict[str, str] = field(default_factory=dict)
    concurrency: str = ""
    machine: Machine | None = None

    def step(self, name: str) -> Step:
        return next(step for step in self.steps if step.name == name)


@dataclass(frozen=True)
class Run:
    """A run of a workflow; no jobs where the event does not start it."""

    id: int
    name: str
    jobs: dict[str, Result]

    @property
    def conclusion(self) -> str:
        results = [job.result for job in self.jobs.values()]
        return "failure" if "failure" in results else "success" if "success" in results else "skipped"

    @property
    def log(self) -> str:
        return "".join(job.log for job in self.jobs.values())


def read(path: Path) -> dict[str, Any]:
    """A YAML document whose ``on`` is no boolean."""
    return parse(path.read_text(encoding="utf-8"))


def parse(text: str) -> dict[str, Any]:
    found = yaml.load(text, Loader=Plain)
    assert isinstance(found, dict)
    return found


class Plain(yaml.SafeLoader):
    """YAML as GitHub reads it: only true and false are booleans."""


Plain.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in known if tag != "tag:yaml.org,2002:bool" or first in "tTfF"]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def run_action(
    inputs: Mapping[str, str],
    event_name: str,
    event: Mapping[str, Any],
    world: World,
    *,
    permissions: Mapping[str, str] | None = None,
    action: Path = ACTION,
) -> Result:
    """One use of a composite action, as the only step of a job. ``permissions`` are those of its token."""
    machine = new_machine(
        world, event_name, event, dict(permissions or {"contents": "read", "pull-requests": "write", "checks": "write"})
    )
    step = composite(machine, action, dict(inputs))
    return _told(machine, [step, *inner(step)], step.outputs, step.outcome)


def run_workflow(
    path: Path,
    event_name: str,
    event: Mapping[str, Any],
    world: World,
    *,
    variables: Mapping[str, str] | None = None,
    run_id: int | None = None,
) -> Run:
    """All jobs of a workflow, one after the other in the order of their needs. Secrets and variables are the world's. ``run_id``:
    the number of a run that the forge knows already, for artifacts."""
    described = read(path)
    number = next(world.runs) if run_id is None else run_id
    name = described.get("name", path.name)
    jobs: dict[str, Result] = {}
    if starts(described, event_name, event):
        for key in in_order(described["jobs"]):
            jobs[key] = _Job(described, key, world, {**world.variables, **(variables or {})}).play(
                event_name, event, (number, name, jobs)
            )
    return Run(number, name, jobs)


def starts(workflow: Mapping[str, Any], event_name: str, event: Mapping[str, Any]) -> bool:
    """Whether an event starts a workflow: its name, and its action among the types."""
    on = workflow["on"]
    triggers = on if isinstance(on, dict) else dict.fromkeys([on] if isinstance(on, str) else on)
    if event_name not in triggers:
        return False
    details = triggers[event_name] or {}
    if event_name == "schedule":
        return True
    types = details.get("types") or DEFAULT_TYPES.get(event_name)
    if types and event.get("action") not in types:
        return False
    return event_name != "workflow_run" or (event["workflow_run"]["name"] in details["workflows"])


def in_order(jobs: Mapping[str, Any]) -> list[str]:
    """The names of jobs, each after those that it needs."""
    ordered: list[str] = []
    while len(ordered) < len(jobs):
        ready = [name for name, job in jobs.items() if name not in ordered and set(needs_of(job)) <= set(ordered)]
        assert ready, "jobs need each other"
        ordered.append(ready[0])
    return ordered


def needs_of(job: Mapping[str, Any]) -> list[str]:
    needs = job.get("needs") or []
    return [needs] if isinstance(needs, str) else list(needs)


def is_foreign(event_name: str, event: Mapping[str, Any], repository: str) -> bool:
    """The head is a fork's, or Dependabot's: no secrets, and a token that reads."""
    if event_name not in OF_THE_HEAD:
        return False
    pull = event["pull_request"]
    from_bot = (event.get("sender") or {}).get("login") == "dependabot[bot]"
    return from_bot or (pull["head"].get("repo") or {}).get("full_name") != repository


def new_machine(
    world: World,
    event_name: str,
    event: Mapping[str, Any],
    permissions: dict[str, str],
    *,
    run: tuple[int, str, str] | None = None,
) -> Machine:
    """A machine with nothing on it, and the github context of an event. ``run``: id, workflow, job."""
    run_id, workflow, job = run or (next(world.runs), "a workflow", "a job")
    pull = event.get("pull_request") if event_name in OF_THE_HEAD else None
    default = f"refs/heads/{world.default_branch}"
    github: dict[str, Any] = {
        "event_name": event_name,
        "event": dict(event),
        "repository": world.repository,
        "repository_owner": world.repository.split("/")[0],
        "actor": (event.get("sender") or {}).get("login", "octocat"),
        "ref": f"refs/pull/{pull['number']}/merge" if pull else event.get("ref", default) if event_name == "push" else default,
        "sha": (pull.get("merge_commit_sha") or pull["head"]["sha"]) if pull else event.get("after") or world.default_sha(),
        "head_ref": pull["head"]["ref"] if pull else "",
        "base_ref": pull["base"]["ref"] if pull else "",
        "run_id": str(run_id),
        "run_number": "1",
        "run_attempt": "1",
        "workflow": workflow,
        "job": job,
        "token": world.token(permissions),
        **{name.removeprefix("GITHUB_").lower(): url for name, url in world.urls().items()},
    }
    github["ref_name"] = github["ref"].removeprefix("refs/heads/").removeprefix("refs/")
    return Machine(world, world.folder / f"machine-{next(world.machines)}", github, permissions)


def composite(machine: Machine, path: Path, given: dict[str, str], own: Mapping[str, str] | None = None) -> Step:
    """A composite action on a machine. An input that it does not have is an error of the test, as GitHub only warns."""
    described = read(path)
    known = described.get("inputs") or {}
    assert set(given) <= set(known), f"{path.name} has no input {sorted(set(given) - set(known))}"
    outer = Evaluator({"github": machine.github, "runner": machine.runner()})
    defaults = {name: outer.fill(as_text((about or {}).get("default"))) for name, about in known.items()}
    before, machine.env = dict(machine.env), {**machine.env, **(own or {})}
    machine.github["action_path"] = str(path.parent)
    assert described["runs"]["using"] == "composite"

    def play(step: dict[str, Any], evaluator: Evaluator, env: dict[str, str]) -> Step:
        assert "uses" not in step, "our action uses no other"
        assert step.get("shell"), "a step of a composite action names its shell"
        return sequence.script(step, evaluator, env)

    sequence = Sequence(machine, {"inputs": {**defaults, **given}}, play)
    outcome = sequence.go(described["runs"]["steps"])
    outputs = {name: sequence.evaluator().fill(about["value"]) for name, about in (described.get("outputs") or {}).items()}
    left = {name: value for name, value in machine.env.items() if name not in (own or {})}
    machine.env = {**{name: value for name, value in before.items() if name in (own or {})}, **left}
    code = next((step.exit_code for step in sequence.played if step.exit_code), 0)
    log = "".join(step.log for step in sequence.played)
    return Composite(described.get("name", path.parent.name), outcome, outcome, outputs, log, code, tuple(sequence.played))


@dataclass
class Composite(Step):
    """A step that was a composite action, with its own steps."""

    inner: tuple[Step, ...] = ()


def inner(step: Step) -> tuple[Step, ...]:
    return step.inner if isinstance(step, Composite) else ()


def _told(machine: Machine, steps: list[Step], outputs: dict[str, str], outcome: str, **more: Any) -> Result:
    log = "".join(machine.log)
    code = next(
        (step.exit_code for step in steps if step.conclusion == "failure" and step.exit_code), 0 if outcome == "success" else 1
    )
    summary = "\n".join(text for text in machine.summaries if text)
    return Result(
        outputs,
        summary,
        tuple(said.annotated(log)),
        code,
        log,
        tuple(steps),
        outcome,
        machine.permissions,
        machine=machine,
        **more,
    )


@dataclass
class _Job:
    """A job of a workflow."""

    workflow: dict[str, Any]
    name: str
    world: World
    variables: dict[str, str]

    @property
    def described(self) -> dict[str, Any]:
        job = self.workflow["jobs"][self.name]
        assert not {"strategy", "services", "container", "uses"} & set(job), "this is not played"
        return dict(job)

    def play(self, event_name: str, event: Mapping[str, Any], run: tuple[int, str, dict[str, Result]]) -> Result:
        run_id, workflow, before = run
        job, foreign = self.described, is_foreign(event_name, event, self.world.repository)
        permissions = self._permissions(foreign)
        machine = new_machine(self.world, event_name, event, permissions, run=(run_id, workflow, self.name))
        contexts = self._contexts(before)
        needed = status_functions("success" if all(result == "success" for result in self._ancestors(before)) else "failure")
        evaluator = Evaluator({"github": machine.github, **contexts}, needed)
        group = evaluator.fill(as_text((job.get("concurrency") or {}).get("group")))
        if not holds(evaluator, job.get("if")):
            return Result({}, "", (), 0, "", result="skipped", permissions=permissions, concurrency=group)
        contexts["secrets"] = {"GITHUB_TOKEN": machine.github["token"], **({} if foreign else self.world.secrets)}
        machine.env = {
            name: evaluator.fill(as_text(value))
            for name, value in {**(self.workflow.get("env") or {}), **(job.get("env") or {})}.items()
        }
        sequence = Sequence(machine, contexts, lambda step, known, own: self._step(sequence, step, known, own))
        outcome = sequence.go(job["steps"])
        outputs = {name: sequence.evaluator().fill(value) for name, value in (job.get("outputs") or {}).items()}
        played = [found for step in sequence.played for found in (step, *inner(step))]
        return _told(machine, played, outputs, outcome, concurrency=group)

    def _permissions(self, foreign: bool) -> dict[str, str]:
        told = self.described.get("permissions", self.workflow.get("permissions"))
        assert isinstance(told, dict), "a workflow of ours says its permissions"
        return {name: "read" if foreign and level == "write" else level for name, level in told.items()}

    def _contexts(self, before: Mapping[str, Result]) -> dict[str, Any]:
        needs = {name: {"outputs": before[name].outputs, "result": before[name].result} for name in needs_of(self.described)}
        return {"needs": needs, "vars": self.variables, "inputs": {}, "secrets": {}}

    def _ancestors(self, before: Mapping[str, Result]) -> list[str]:
        found, waiting = [], needs_of(self.described)
        while waiting:
            name = waiting.pop()
            found.append(before[name].result)
            waiting += needs_of(self.workflow["jobs"][name])
        return found

    @staticmethod
    def _step(sequence: Sequence, step: dict[str, Any], evaluator: Evaluator, own: dict[str, str]) -> Step:
        if "uses" not in step:
            return sequence.script(step, evaluator, own)
        machine = sequence.machine
        given = {name: evaluator.fill(as_text(value)) for name, value in (step.get("with") or {}).items()}
        name, used = step.get("name") or step["uses"], step["uses"]
        if OWN.fullmatch(used):
            assert not used.startswith("./") or (machine.workspace / used).is_dir(), f"{used} was not checked out"
            played = composite(machine, ACTION, given, own)
        else:
            foreign = FOREIGN.fullmatch(used)
            assert foreign, f"{used} is not pinned"
            play, inputs = uses.ACTIONS[foreign["name"]]
            assert set(given) <= inputs, f"{used}: {sorted(set(given) - inputs)} is not played"
            played = play(machine, given)
        played.name = name
        return played


def event_of_run(run: Run, event_name: str, event: Mapping[str, Any], *, conclusion: str | None = None) -> dict[str, Any]:
    """The ``workflow_run`` event that a finished run of a ``pull_request`` workflow starts, as far as workflows read it."""
    head = event["pull_request"]["head"]
    return {
        "action": "completed",
        "repository": event["repository"],
        "sender": event.get("sender"),
        "workflow": {"name": run.name},
        "workflow_run": {
            "id": run.id,
            "name": run.name,
            "event": event_name,
            "status": "completed",
            "conclusion": conclusion or run.conclusion,
            "head_branch": head["ref"],
            "head_sha": head["sha"],
            "head_repository": head.get("repo"),
            "pull_requests": [],
        },
    }
