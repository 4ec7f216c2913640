"""One machine for one job: folders, the environment of a step, and a step's script run as the runner runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.action import said
from tests.action.expressions import Evaluator, as_text
from tests.action.world import OFFLINE, World

MOST_SECONDS = 300.0
SHELLS = {"bash": ("bash", "--noprofile", "--norc", "-eo", "pipefail"), "": ("bash", "-e"), "sh": ("sh", "-e")}
STATUS = ("success", "failure", "always", "cancelled")


@dataclass
class Step:
    """What a step came to. ``outcome`` is before, ``conclusion`` after ``continue-on-error``."""

    name: str
    outcome: str = "success"
    conclusion: str = "success"
    outputs: dict[str, str] = field(default_factory=dict)
    log: str = ""
    exit_code: int = 0

    def context(self) -> dict[str, Any]:
        return {"outputs": self.outputs, "outcome": self.outcome, "conclusion": self.conclusion}


@dataclass
class Machine:
    """A job's machine. ``github`` is the context; ``permissions`` are those of its token."""

    world: World
    folder: Path
    github: dict[str, Any]
    permissions: dict[str, str]
    env: dict[str, str] = field(default_factory=dict)
    path: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)
    scripts: int = 0

    def __post_init__(self) -> None:
        for folder in (self.temp, self.workspace, self.folder / "home", self.folder / "files"):
            folder.mkdir(parents=True, exist_ok=True)
        if self.world.venv is not None:
            (self.temp / "reviewbot-venv").symlink_to(self.world.venv)
        self.event_path.write_text(json.dumps(self.github["event"]), encoding="utf-8")
        self.github["workspace"] = str(self.workspace)

    @property
    def temp(self) -> Path:
        return self.folder / "temp"

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    @property
    def event_path(self) -> Path:
        return self.folder / "files" / "event.json"

    def runner(self) -> dict[str, str]:
        return {
            "temp": str(self.temp),
            "os": self.world.system,
            "arch": "X64",
            "environment": "github-hosted" if self.world.hosted else "self-hosted",
            "name": "played",
            "tool_cache": str(self.folder),
        }

    def environment(self, own: Mapping[str, str]) -> dict[str, str]:
        """The whole environment of a step, by the runner's precedence."""
        told = self.github
        return {
            "PATH": os.pathsep.join([*self.path, self.world.search_path()]),
            "HOME": str(self.folder / "home"),
            "LANG": "C.UTF-8",
            **OFFLINE,
            **self.world.environment,
            **self.env,
            **own,
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            **{f"RUNNER_{name.upper()}": value for name, value in self.runner().items()},
            **{
                f"GITHUB_{name.upper()}": as_text(told.get(name))
                for name in (
                    *("actor", "repository", "repository_owner", "event_name", "sha", "ref", "ref_name", "head_ref", "base_ref"),
                    *("run_id", "run_number", "run_attempt", "workflow", "job", "workspace", "action_path"),
                )
                if told.get(name) is not None
            },
            "GITHUB_EVENT_PATH": str(self.event_path),
            **self.world.urls(),
        }

    def run(self, script: str, *, shell: str, own: Mapping[str, str], name: str, folder: Path | None = None) -> Step:
        """Run a script for real, and read what it left in the runner's files."""
        self.scripts += 1
        files = self.folder / "files" / str(self.scripts)
        files.mkdir()
        (files / "script.sh").write_text(script, encoding="utf-8")
        left = {kind: files / kind for kind in ("OUTPUT", "ENV", "PATH", "STATE", "STEP_SUMMARY")}
        for path in left.values():
            path.touch()
        environment = {**self.environment(own), **{f"GITHUB_{kind}": str(path) for kind, path in left.items()}}
        code, log = execute([*SHELLS[shell], str(files / "script.sh")], environment, folder or self.workspace)
        self.log.append(log)
        step = Step(name, log=log, exit_code=code)
        try:
            step.outputs = said.assignments(left["OUTPUT"].read_text(encoding="utf-8"))
            self.env |= said.assignments(left["ENV"].read_text(encoding="utf-8"))
            self.path[:0] = [line for line in reversed(left["PATH"].read_text(encoding="utf-8").splitlines()) if line]
            self.summaries.append(said.summary(left["STEP_SUMMARY"].read_bytes()))
        except said.FileError as exc:
            self.log.append(f"::error::{exc}\n")
            step.exit_code = step.exit_code or 1
        step.outcome = step.conclusion = "failure" if step.exit_code else "success"
        return step

    def fail(self, name: str, message: str) -> Step:
        """A step that ends with an error of its own."""
        line = f"::error::{message}\n"
        self.log.append(line)
        return Step(name, "failure", "failure", log=line, exit_code=1)


@dataclass
class Sequence:
    """Steps one after the other, in a job or in a composite action."""

    machine: Machine
    contexts: dict[str, Any]
    play: Callable[[dict[str, Any], Evaluator, dict[str, str]], Step]
    status: str = "success"
    steps: dict[str, Step] = field(default_factory=dict)
    played: list[Step] = field(default_factory=list)

    def go(self, steps: list[dict[str, Any]]) -> str:
        """Play them all; ``success`` or ``failure``."""
        for described in steps:
            self._step(described)
        return self.status

    def evaluator(self) -> Evaluator:
        told = {
            **self.contexts,
            "github": self.machine.github,
            "runner": self.machine.runner(),
            "env": dict(self.machine.env),
            "steps": {name: step.context() for name, step in self.steps.items()},
            "job": {"status": self.status},
        }
        return Evaluator(told, status_functions(self.status))

    def _step(self, described: dict[str, Any]) -> None:
        evaluator = self.evaluator()
        name = described.get("name") or described.get("id") or described.get("uses") or "run"
        if not holds(evaluator, described.get("if")):
            step = Step(name, "skipped", "skipped")
        else:
            own = {key: evaluator.fill(as_text(value)) for key, value in (described.get("env") or {}).items()}
            evaluator.contexts["env"] = {**evaluator.contexts["env"], **own}
            step = self.play(described, evaluator, own)
        if step.outcome == "failure":
            if described.get("continue-on-error"):
                step.conclusion = "success"
            else:
                self.status = "failure"
        self.played.append(step)
        if described.get("id"):
            self.steps[described["id"]] = step

    def script(self, described: dict[str, Any], evaluator: Evaluator, own: dict[str, str]) -> Step:
        """A ``run:`` step."""
        name = described.get("name") or described.get("id") or "run"
        folder = self.machine.workspace / evaluator.fill(str(described.get("working-directory", ".")))
        script = evaluator.fill(described["run"])
        return self.machine.run(script, shell=described.get("shell", ""), own=own, name=name, folder=folder)


def status_functions(status: str) -> dict[str, Callable[[], bool]]:
    return {
        "success": lambda: status == "success",
        "failure": lambda: status == "failure",
        "always": lambda: True,
        "cancelled": lambda: status == "cancelled",
    }


def holds(evaluator: Evaluator, condition: str | bool | None) -> bool:
    """An ``if:``; one that names no status function asks for success too."""
    if condition is None:
        return evaluator.holds("success()")
    names_status = any(f"{name}(" in str(condition).lower() for name in STATUS)
    return (names_status or evaluator.holds("success()")) and evaluator.holds(condition)


def execute(command: list[str], environment: dict[str, str], folder: Path) -> tuple[int, str]:
    """Exit code and both streams together. Whatever the command started is ended with it."""
    with subprocess.Popen(
        command,
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            log, _ = process.communicate(timeout=MOST_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            log, _ = process.communicate()
            return 124, log.decode("utf-8", "replace") + f"\n::error::longer than {MOST_SECONDS} seconds\n"
    return process.returncode, log.decode("utf-8", "replace")
