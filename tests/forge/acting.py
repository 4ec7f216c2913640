"""``reviewbot github`` as the Action calls it: a process of its own, with the runner's files and variables, against the fake hub."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from tests.forge.hub import Hub

REVIEWER = {"contents": "read", "pull_requests": "write", "issues": "write", "checks": "write", "metadata": "read"}
COMMAND = (sys.executable, "-c", "from reviewbot.cli import program; program()", "github")


@dataclass(frozen=True, slots=True)
class Ran:
    """How a run ended: outputs by name, the job's summary, how many calls of the API it made, which operations wrote."""

    exit_code: int
    outputs: dict[str, str]
    summary: str
    stdout: str
    stderr: str
    calls: int
    writes: tuple[str, ...]


@dataclass
class Actor:
    """A repository's Action. ``folder`` holds what a runner has; ``state`` travels from run to run, ``temp`` does not."""

    hub: Hub
    folder: Path
    token: str
    repository: str = "octo/app"
    sha: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = COMMAND

    def run(self, name: str, event: dict[str, Any], **inputs: str) -> Ran:
        """One run to its end."""
        calls, writes = self.hub.calls(), len(self.hub.writes())
        process = self.start(name, event, **inputs)
        stdout, stderr = process.communicate(timeout=120)
        return Ran(
            process.returncode,
            outputs_of((self.folder / "output").read_text()),
            (self.folder / "summary").read_text(),
            stdout.decode(),
            stderr.decode(),
            self.hub.calls() - calls,
            tuple(self.hub.writes()[writes:]),
        )

    def start(self, name: str, event: dict[str, Any], **inputs: str) -> subprocess.Popen[bytes]:
        """A run that was begun."""
        for folder in ("workspace", "temp", "home"):
            (self.folder / folder).mkdir(parents=True, exist_ok=True)
        for file in ("output", "summary"):
            (self.folder / file).write_text("")
        (self.folder / "event.json").write_text(json.dumps(event))
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "home"),
            "CI": "true",
            "GITHUB_EVENT_NAME": name,
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
            "GITHUB_REPOSITORY": self.repository,
            "GITHUB_API_URL": self.hub.api_url,
            "GITHUB_GRAPHQL_URL": self.hub.graphql_url,
            "GITHUB_SERVER_URL": self.hub.server_url,
            "GITHUB_WORKSPACE": str(self.folder / "workspace"),
            "GITHUB_RUN_ID": "77",
            "GITHUB_SHA": str(event.get("after") or self.sha),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "RUNNER_TEMP": str(self.folder / "temp"),
            "GITHUB_TOKEN": self.token,
            **self.environment,
            **{f"INPUT_{key.upper()}": value for key, value in inputs.items()},
        }
        return subprocess.Popen(
            self.command, env=variables, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )

    @property
    def documents(self) -> Path:
        """What goes from job to job."""
        return self.folder / "temp" / "reviewbot"


def kill(process: subprocess.Popen[bytes]) -> None:
    """As a machine that goes away: the whole group, at once."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)


def outputs_of(text: str) -> dict[str, str]:
    """What ``$GITHUB_OUTPUT`` says, as the runner reads it: ``name<<END``, lines, ``END``."""
    found = re.findall(r"^([A-Za-z_]+)<<(\S+)\n(.*?)\n\2$", text, re.MULTILINE | re.DOTALL)
    return {name: value for name, _, value in found}


def zipped(**files: str | bytes) -> bytes:
    """An artifact."""
    made = BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"{name}.json", text)
    return made.getvalue()
