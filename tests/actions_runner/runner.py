"""The Actions runner: workflow files and composite actions, without Docker and network."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from tests.actions_runner.expressions import Declared, Evaluator
from tests.actions_runner.job import Machine, Steps, status_functions
from tests.actions_runner.results import Conclusion, JobRun, WorkflowRun
from tests.actions_runner.simulated import SarifUpload, git
from tests.actions_runner.workflow import (
    JOB_KEYS,
    OF_THE_HEAD,
    Payload,
    WorkflowError,
    ancestors,
    as_list,
    find_permissions,
    is_restricted,
    read_concurrency,
    read_dispatch_inputs,
    read_yaml,
    sort_jobs,
    starts,
)
from tests.fake_github import GitHub

FIRST_RUN = 7_000_000_001


class Runner(Struct, kw_only=True):
    """Runs workflows of a repository; artifacts of one run are there for the next.

    Attributes:
        folder: where machines and artifacts are.
        environment: variables of the machine, which each step has. Without them, PATH is that of
            the tests, and VIRTUAL_ENV their environment: the sandbox sees its packages.
        actions: folders of composite actions, by `owner/name`. Others are simulated.
        sarif_uploads: what code scanning received.
    """

    folder: Path
    github: GitHub
    secrets: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    actions: Mapping[str, Path] = field(default_factory=dict)
    sarif_uploads: list[SarifUpload] = field(default_factory=list)

    def artifacts_folder(self, run_id: int | str) -> Path:
        """Where the artifacts of a run are, a folder for each. Tests may write there."""
        return self.folder / "artifacts" / str(run_id)

    def run_workflow(
        self, path: Path, event_name: str, payload: Payload, *, run_id: int | None = None
    ) -> WorkflowRun:
        """Run all jobs of a workflow file, one after another.

        Args:
            run_id: of a run that GitHub knows already.
        """
        return self._run(read_yaml(path), event_name, payload, run_id, name=path.name)

    def run_action(
        self,
        folder: Path,
        inputs: Mapping[str, str],
        event_name: str,
        payload: Payload,
        *,
        permissions: Mapping[str, str],
    ) -> JobRun:
        """Run the composite action in a folder as the only step of a job."""
        declared = read_yaml(folder / "action.yml").get("outputs") or {}
        job = {
            "permissions": dict(permissions),
            "outputs": {name: f"${{{{ steps.action.outputs.{name} }}}}" for name in declared},
            "steps": [{"id": "action", "uses": str(folder.absolute()), "with": dict(inputs)}],
        }
        run = self._run({"on": {event_name: {}}, "jobs": {"job": job}}, event_name, payload)
        return run.jobs["job"]

    def _run(
        self,
        workflow: Mapping[str, Any],
        event_name: str,
        payload: Payload,
        run_id: int | None = None,
        name: str = "action",
    ) -> WorkflowRun:
        number = run_id or FIRST_RUN + len(list(self.folder.glob("runs/*")))
        (self.folder / "runs" / str(number)).mkdir(parents=True)
        run = WorkflowRun(id=number, name=workflow.get("name", name))
        if not starts(workflow, event_name, payload):
            return run
        github = self._github_context(event_name, payload, run)
        contexts: dict[str, Any] = {"github": github, "vars": self.variables, "inputs": {}}
        if event_name == "workflow_dispatch":
            contexts["inputs"] = Declared(read_dispatch_inputs(workflow, payload))
        if "concurrency" in workflow:
            run.concurrency = read_concurrency(workflow["concurrency"], Evaluator(contexts))
        for job in sort_jobs(workflow["jobs"]):
            run.jobs[job] = self._run_job(workflow, job, contexts, run)
        artifacts = self.artifacts_folder(number)
        run.artifacts = {path.name: path for path in sorted(artifacts.glob("*"))}
        return run

    def _github_context(
        self, event_name: str, payload: Payload, run: WorkflowRun
    ) -> dict[str, Any]:
        repository = payload["repository"]
        sender = (payload.get("sender") or {}).get("login", "octocat")
        pull = payload["pull_request"] if event_name in OF_THE_HEAD else None
        ref = payload.get("ref") or f"refs/heads/{repository.get('default_branch', 'main')}"
        head_ref = base_ref = ""
        if pull:
            ref = f"refs/pull/{pull['number']}/merge"
            head_ref, base_ref = pull["head"]["ref"], pull["base"]["ref"]
            sha = pull.get("merge_commit_sha") or pull["head"]["sha"]
        else:
            sha = payload.get("after") or self._read_ref(repository["full_name"], ref)
        return {
            "event_name": event_name,
            "event": payload,
            "repository": repository["full_name"],
            "repository_owner": repository["full_name"].partition("/")[0],
            "actor": sender,
            "triggering_actor": sender,
            "ref": ref,
            "ref_name": re.sub("^refs/[a-z]+/", "", ref),
            "sha": sha,
            "head_ref": head_ref,
            "base_ref": base_ref,
            "run_id": str(run.id),
            "run_number": "1",
            "run_attempt": "1",
            "workflow": run.name,
            "api_url": self.github.api_url,
            "graphql_url": self.github.graphql_url,
            "server_url": self.github.server_url,
        }

    def _read_ref(self, repository: str, ref: str) -> str:
        token = self.github.token("github-actions[bot]", {"contents": "read", "metadata": "read"})
        url = f"{self.github.server_url}/{repository}.git"
        return git(self.folder, "ls-remote", url, ref, token=token).partition("\t")[0]

    def _run_job(
        self, workflow: Mapping[str, Any], name: str, contexts: dict[str, Any], run: WorkflowRun
    ) -> JobRun:
        job = workflow["jobs"][name]
        if unknown := set(job) - JOB_KEYS:
            raise WorkflowError(f"{name}: {', '.join(unknown)} is not simulated")
        github = contexts["github"]
        restricted = is_restricted(github["event_name"], github["event"])
        permissions = find_permissions(workflow, job, restricted=restricted)
        needs = {
            each: {"result": run.jobs[each].conclusion, "outputs": run.jobs[each].outputs}
            for each in as_list(job.get("needs"))
        }
        contexts = {**contexts, "needs": Declared(needs)}
        results = {run.jobs[each].conclusion for each in ancestors(name, workflow["jobs"])}
        bad: tuple[Conclusion, ...] = ("failure", "skipped")
        status: Conclusion = next((each for each in bad if each in results), "success")
        evaluator = Evaluator(contexts, status_functions(status))
        result = JobRun(
            id=name,
            permissions=permissions,
            folder=self.folder / "runs" / str(run.id) / name,
            outputs=Declared.fromkeys(job.get("outputs", {}), ""),
        )
        if "concurrency" in job:
            result.concurrency = read_concurrency(job["concurrency"], evaluator)
        if not evaluator.holds(job.get("if")):
            return result
        scopes = {each.replace("-", "_"): level for each, level in permissions.items()}
        token = self.github.token("github-actions[bot]", {**scopes, "metadata": "read"})
        github = {**github, "job": name, "token": token}
        machine = Machine(self, result.folder, github, permissions)
        secrets = {"GITHUB_TOKEN": token, **({} if restricted else self.secrets)}
        contexts = {**contexts, "github": machine.github, "secrets": secrets}
        env = {**workflow.get("env", {}), **job.get("env", {})}
        machine.env = Evaluator(contexts).fill_all(env)
        steps = Steps(machine, job["steps"], contexts, {})
        result.conclusion = steps.run()
        result.steps = machine.results
        for key, output in steps.evaluator().fill_all(job.get("outputs")).items():
            # GitHub drops an output that may contain a secret.
            result.outputs[key] = output if machine.masks.hide(output) == output else ""
        return result
