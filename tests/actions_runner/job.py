"""A job: a machine with its folders, and steps that run on it one after another."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.actions_runner.commands import FileError, Masks, read_assignments
from tests.actions_runner.expressions import Declared, Evaluator, Function
from tests.actions_runner.results import Conclusion, StepRun
from tests.actions_runner.simulated import SIMULATED, ActionError
from tests.actions_runner.workflow import WorkflowError, check_names, read_yaml
from tests.lean import lean_environment

if TYPE_CHECKING:
    from tests.actions_runner.runner import Runner

MAX_SECONDS = 120
SHELLS = {"": ("bash", "-e"), "bash": ("bash", "--noprofile", "--norc", "-eo", "pipefail")}
FILES = ("OUTPUT", "ENV", "PATH", "STEP_SUMMARY")


class Machine:
    """What the steps of a job share.

    Attributes:
        github: the context of this name; what is text there is in the environment as well.
        env: of the workflow and the job, and what steps wrote to GITHUB_ENV.
    """

    def __init__(
        self, runner: Runner, folder: Path, github: dict[str, Any], permissions: Mapping[str, str]
    ) -> None:
        self.runner, self.folder, self.permissions = runner, folder, permissions
        self.workspace, self.temp = folder / "workspace", folder / "temp"
        for each in (self.workspace, self.temp, folder / "home", folder / "files"):
            each.mkdir(parents=True)
        event = folder / "files" / "event.json"
        event.write_text(json.dumps(github["event"]), encoding="utf-8")
        self.github = {**github, "workspace": str(self.workspace), "event_path": str(event)}
        self.env: dict[str, str] = {}
        self.masks = Masks(github["token"], *runner.secrets.values())
        self.results: list[StepRun] = []
        fixed = {"os": "Linux", "arch": "X64", "environment": "github-hosted", "name": "runner"}
        self.context = {**fixed, "temp": str(self.temp), "tool_cache": str(folder / "tools")}

    def run_script(
        self, step: Mapping[str, str], github: Mapping[str, Any], env: dict[str, str]
    ) -> StepRun:
        """Run a script and read the files that it wrote."""
        files = self.folder / "files" / str(len(list((self.folder / "files").iterdir())))
        files.mkdir()
        for kind in FILES:
            (files / kind).touch()
        (files / "script").write_text(step["run"], encoding="utf-8")
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "home"),
            "LANG": "C.UTF-8",
            "PIP_NO_INDEX": "1",
            "VIRTUAL_ENV": lean_environment(),
            **self.runner.environment,
            **self.env,
            **env,
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            **{f"RUNNER_{name.upper()}": value for name, value in self.context.items()},
            **{
                f"GITHUB_{name.upper()}": value
                for name, value in github.items()
                if isinstance(value, str) and name != "token"
            },
            **{f"GITHUB_{kind}": str(files / kind) for kind in FILES},
        }
        ended = subprocess.run(
            [*SHELLS[step.get("shell", "")], str(files / "script")],
            env=environment,
            cwd=self.workspace / step.get("working-directory", "."),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=MAX_SECONDS,
        )
        result = StepRun(log=self.masks.hide(ended.stdout.decode("utf-8", "replace")))
        if ended.returncode:
            self.fail(result, f"Process completed with exit code {ended.returncode}.")
        texts = {kind: (files / kind).read_text("utf-8", "replace") for kind in FILES}
        try:
            result.outputs |= read_assignments(texts["OUTPUT"])
            self.env |= read_assignments(texts["ENV"])
        except FileError as error:
            self.fail(result, str(error))
        if texts["PATH"]:
            raise WorkflowError("GITHUB_PATH is not simulated")
        result.summary = self.masks.hide(texts["STEP_SUMMARY"])
        return result

    def fail(self, result: StepRun, message: str) -> None:
        result.log += f"##[error]{self.masks.hide(message)}\n"
        result.outcome = "failure"


class Steps:
    """The steps of a job or of a composite action.

    Attributes:
        contexts: those that do not change from step to step.
        env: of the step that uses the action.
    """

    def __init__(
        self,
        machine: Machine,
        steps: Sequence[Mapping[str, Any]],
        contexts: Mapping[str, Any],
        env: Mapping[str, str],
    ) -> None:
        self._machine, self._steps, self._contexts, self._env = machine, steps, contexts, env
        self._known = Declared({step["id"]: {"outputs": {}} for step in steps if "id" in step})
        self.status: Conclusion = "success"

    def run(self) -> Conclusion:
        for step in self._steps:
            result = self._run(step)
            result.conclusion = result.outcome
            if result.outcome == "failure":
                allowed = self.evaluator().fill(step.get("continue-on-error", False))
                result.conclusion = "success" if allowed == "true" else "failure"
            if result.conclusion == "failure":
                self.status = "failure"
            if result.id:
                outcome = {"outcome": result.outcome, "conclusion": result.conclusion}
                self._known[result.id] = {"outputs": result.outputs, **outcome}
            self._machine.results.append(result)
        return self.status

    def evaluator(self, env: Mapping[str, str] | None = None) -> Evaluator:
        """An evaluator for what follows the steps that ran so far."""
        contexts = {
            **self._contexts,
            "runner": self._machine.context,
            "env": {**self._machine.env, **self._env, **(env or {})},
            "steps": self._known,
            "job": {"status": self.status},
        }
        return Evaluator(contexts, status_functions(self.status))

    def _run(self, step: Mapping[str, Any]) -> StepRun:
        env = self.evaluator().fill_all(step.get("env"))
        evaluator = self.evaluator(env)
        # GitHub does not let an `if:` read secrets.
        contexts = {name: evaluator.contexts[name] for name in {*evaluator.contexts} - {"secrets"}}
        if not Evaluator(contexts, evaluator.functions).holds(step.get("if")):
            result = StepRun(outcome="skipped")
        elif "uses" in step:
            inputs = evaluator.fill_all(step.get("with"))
            result = self._use(step["uses"], inputs, {**self._env, **env})
        else:
            texts = evaluator.fill_all({key: step[key] for key in step if key not in ("env", "if")})
            script_env = {**self._env, **env}
            result = self._machine.run_script(texts, self._contexts["github"], script_env)
        result.name = evaluator.fill(step.get("name") or step.get("id") or step.get("uses", "run"))
        result.id = step.get("id", "")
        return result

    def _use(self, uses: str, inputs: dict[str, str], env: dict[str, str]) -> StepRun:
        machine, name = self._machine, uses.partition("@")[0]
        if uses.startswith((".", "/")) or name in machine.runner.actions:
            folder = machine.workspace / machine.runner.actions.get(name, uses)
            return run_composite(machine, folder, inputs, env)
        if name not in SIMULATED:
            raise WorkflowError(f"{uses} is not simulated")
        simulate, known = SIMULATED[name]
        check_names(uses, inputs, known.split())
        result = StepRun()
        try:
            result.outputs = simulate(machine, inputs)
        except ActionError as error:
            machine.fail(result, str(error))
        return result


def run_composite(
    machine: Machine, folder: Path, inputs: Mapping[str, str], env: Mapping[str, str]
) -> StepRun:
    """Run the composite action in a folder."""
    action = read_yaml(folder / "action.yml")
    declared = action.get("inputs") or {}
    check_names(str(folder / "action.yml"), inputs, declared)
    github = {**machine.github, "action_path": str(folder)}
    evaluator = Evaluator({"github": github, "runner": machine.context})
    defaults = evaluator.fill_all({name: declared[name].get("default") for name in declared})
    contexts = {"github": github, "inputs": Declared({**defaults, **inputs})}
    steps = Steps(machine, action["runs"]["steps"], contexts, env)
    result = StepRun(outcome=steps.run())
    outputs = {name: about["value"] for name, about in action.get("outputs", {}).items()}
    result.outputs = Declared(steps.evaluator().fill_all(outputs))
    return result


def status_functions(status: Conclusion) -> dict[str, Function]:
    return {
        "success": lambda: status == "success",
        "failure": lambda: status == "failure",
        "always": lambda: True,
        "cancelled": lambda: False,  # nobody cancels
    }
