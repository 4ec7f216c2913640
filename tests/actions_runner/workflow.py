"""Workflow files: which event starts them, in which order jobs run, and what jobs may do."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct

from tests.actions_runner.expressions import Evaluator, as_text

Payload = Mapping[str, Any]

FILTERS = {"types", "workflows", "inputs"}
DEFAULT_TYPES = ("opened", "synchronize", "reopened")
JOB_KEYS = {
    *("name", "needs", "if", "runs-on", "timeout-minutes", "permissions", "concurrency"),
    *("outputs", "env", "environment", "steps"),
}
# Events for which code of a fork or of Dependabot decides what runs.
OF_THE_HEAD = {"pull_request", "pull_request_review", "pull_request_review_comment"}


class WorkflowError(Exception):
    """GitHub refuses the file or ignores a mistake in it, or this runner does not simulate it."""


class Concurrency(Struct, frozen=True):
    """What a workflow or a job says about others of the same group; "" is no group."""

    group: str = ""
    cancel_in_progress: bool = False
    queue: str = "single"


class _Loader(yaml.SafeLoader):
    """YAML 1.2, in which `on` is no boolean."""


_Loader.yaml_implicit_resolvers = {
    first: [each for each in resolvers if not each[0].endswith(":bool") or first in "tTfF"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_yaml(path: Path) -> dict[str, Any]:
    document = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    assert isinstance(document, dict), f"{path} is not a mapping"
    return document


def starts(workflow: Mapping[str, Any], event_name: str, payload: Payload) -> bool:
    """Whether an event starts a workflow: `on:` with types and names of workflows."""
    events = read_events(workflow)
    if event_name not in events:
        return False
    filters = events[event_name] or {}
    if event_name == "schedule":
        return True
    if unknown := set(filters) - FILTERS:
        raise WorkflowError(f"on.{event_name}: {', '.join(unknown)} is not simulated")
    pull_request = event_name in ("pull_request", "pull_request_target")
    types = filters.get("types", DEFAULT_TYPES if pull_request else [payload.get("action")])
    if payload.get("action") not in as_list(types):
        return False
    run = payload.get("workflow_run") or {}
    return event_name != "workflow_run" or run["name"] in filters["workflows"]


def read_events(workflow: Mapping[str, Any]) -> dict[str, Any]:
    """`on:` as a mapping, which may be a name or a list as well."""
    events = workflow["on"]
    return events if isinstance(events, dict) else dict.fromkeys(as_list(events))


def as_list(value: Any) -> list[Any]:
    return [] if value is None else list(value) if isinstance(value, list | tuple) else [value]


def sort_jobs(jobs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Names of jobs, each after those that it needs."""
    ordered: list[str] = []
    while len(ordered) < len(jobs):
        waiting = [name for name in jobs if name not in ordered]
        ready = [name for name in waiting if set(as_list(jobs[name].get("needs"))) <= {*ordered}]
        if not ready:
            raise WorkflowError(f"the needs of {', '.join(waiting)} are unknown or go in a circle")
        ordered.append(ready[0])
    return ordered


def ancestors(job: str, jobs: Mapping[str, Mapping[str, Any]]) -> set[str]:
    needs = set(as_list(jobs[job].get("needs")))
    return needs.union(*(ancestors(name, jobs) for name in needs))


def is_restricted(event_name: str, payload: Payload) -> bool:
    """Whether a run gets no secrets and a token that only reads: for code of a fork or Dependabot.

    https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows
    """
    if event_name not in OF_THE_HEAD:
        return False
    sender = (payload.get("sender") or {}).get("login")
    head = payload["pull_request"]["head"].get("repo") or {}
    return (
        sender == "dependabot[bot]" or head.get("full_name") != payload["repository"]["full_name"]
    )


def find_permissions(workflow: Payload, job: Payload, *, restricted: bool) -> dict[str, str]:
    """The permissions of a job's token. A workflow without any has those of the repository's
    settings, which are not simulated."""
    permissions = job.get("permissions", workflow.get("permissions"))
    if not isinstance(permissions, dict):
        raise WorkflowError("a job has no permissions, or not one by one")
    levels = {name: level for name, level in permissions.items() if level != "none"}
    return {name: "read" if restricted else level for name, level in levels.items()}


def read_concurrency(value: Any, evaluator: Evaluator) -> Concurrency:
    if isinstance(value, dict):
        cancel = evaluator.fill(value.get("cancel-in-progress", False))
        if cancel not in ("true", "false"):
            raise WorkflowError(f"cancel-in-progress is {cancel!r}, not a boolean")
        group = evaluator.fill(value["group"])
        return Concurrency(group, cancel == "true", value.get("queue", "single"))
    return Concurrency(evaluator.fill(value))


def read_dispatch_inputs(workflow: Payload, payload: Payload) -> dict[str, Any]:
    """The `inputs` of a `workflow_dispatch`; the API answers 422 to wrong ones."""
    declared = (read_events(workflow)["workflow_dispatch"] or {}).get("inputs", {})
    given = payload.get("inputs") or {}
    check_names("workflow_dispatch", given, declared)
    values = {}
    for name, about in declared.items():
        if about.get("required") and "default" not in about and not given.get(name):
            raise WorkflowError(f"workflow_dispatch: required input {name!r} not provided")
        value = given.get(name, about.get("default", ""))
        values[name] = as_text(value) == "true" if about.get("type") == "boolean" else value
    return values


def check_names(where: str, given: Collection[str], known: Collection[str]) -> None:
    if unknown := sorted(set(given) - set(known)):
        raise WorkflowError(f"{where} has no input {', '.join(unknown)}, or it is not simulated")
