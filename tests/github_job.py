"""A job of a workflow that runs `reviewbot github` in this process, against the fake GitHub."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from reviewbot.github.action import main
from tests.fake_github import GitHub, Pull
from tests.fake_github import rules as fake_rules
from tests.fake_github.records import Issue
from tests.fake_openai import answer
from tests.vendor_server import Received, Sent, VendorServer

REVIEWER = {"contents": "read", "pull_requests": "write", "checks": "write", "metadata": "read"}
# What linters and scans find without a sandbox: jobs here are many, and each is to take a moment.
BASE = {"a.py": "def half(n):\n    return n / 2\n", "README.md": "An app.\n"}
FAULTY = {"a.py": "def half(n):\n    return m / 2\n"}


@dataclass(frozen=True)
class Ran:
    """How a job ended: outputs by name, its summary, calls of the API, operations that wrote."""

    exit_code: int
    outputs: dict[str, str]
    summary: str
    log: str
    calls: int
    writes: list[str]


@dataclass
class Jobs:
    """Jobs of one repository. `variables` are added to those of each."""

    github: GitHub
    folder: Path
    capsys: pytest.CaptureFixture[str]
    repository: str = "octo/app"
    permissions: dict[str, str] = field(default_factory=lambda: dict(REVIEWER))
    variables: dict[str, str] = field(default_factory=dict)
    config: str = ""
    number: int = 0

    def run(self, name: str, payload: dict[str, Any], **inputs: str) -> Ran:
        self.number += 1
        calls, writes = self.github.calls(), len(self.github.writes())
        variables = self.prepare(name, payload, **inputs)
        self.capsys.readouterr()
        code = main(variables)
        log = self.capsys.readouterr()
        return Ran(
            code,
            outputs_of(Path(variables["GITHUB_OUTPUT"]).read_text()),
            Path(variables["GITHUB_STEP_SUMMARY"]).read_text(),
            log.out + log.err,
            self.github.calls() - calls,
            self.github.writes()[writes:],
        )

    def prepare(self, name: str, payload: dict[str, Any], **inputs: str) -> dict[str, str]:
        """The variables of a job; its temporary folder is new unless `temp` names one."""
        here = self.folder / f"job-{self.number}-{len(list(self.folder.glob('job-*')))}"
        workspace = here / "workspace"
        workspace.mkdir(parents=True)
        (workspace / "operator.yml").write_text(self.config)
        (here / "event.json").write_text(json.dumps(payload))
        for file in ("output", "summary"):
            (here / file).write_text("")
        inputs = {"config_file": "operator.yml"} | inputs if self.config else inputs
        temp = inputs.pop("temp", str(here / "temp"))
        token = inputs.pop("token", "") or self.github.token(permissions=self.permissions)
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(here),
            "GITHUB_EVENT_NAME": name,
            "GITHUB_EVENT_PATH": str(here / "event.json"),
            "GITHUB_REPOSITORY": self.repository,
            "GITHUB_API_URL": self.github.api_url,
            "GITHUB_SERVER_URL": self.github.server_url,
            "GITHUB_WORKSPACE": str(workspace),
            "GITHUB_OUTPUT": str(here / "output"),
            "GITHUB_STEP_SUMMARY": str(here / "summary"),
            "GITHUB_RUN_ID": "77",
            "GITHUB_TOKEN": token,
            "RUNNER_TEMP": temp,
            **self.variables,
            **{f"INPUT_{key.upper()}": value for key, value in inputs.items()},
        }

    def push(self, pull: Pull, action: str = "synchronize", **inputs: str) -> Ran:
        """The job of a pull request that was opened or pushed to."""
        event = self.github.event("pull_request", pull=pull, action=action)
        return self.run("pull_request", event, **inputs)

    def say(self, pull: Pull | Issue, login: str, body: str, **inputs: str) -> Ran:
        """The job that a new comment starts. Those that it orders are run as well."""
        comment = fake_rules.create_comment(pull, self.github.user(login), body)
        ran = self.run("issue_comment", self.github.event("issue_comment", comment=comment))
        home = pull.repository
        while home.dispatches:
            inputs_ = home.dispatches.pop(0).inputs
            event = self.github.event("workflow_dispatch", repository=home, inputs=inputs_)
            ran = self.run("workflow_dispatch", event, **inputs)
        return ran

    def ask(self, pull: Pull | Issue, body: str, login: str = "ann", **inputs: str) -> str:
        """What the newest comment says once a command is obeyed."""
        self.say(pull, login, body, **inputs)
        return pull.comments[-1].body

    @contextmanager
    def panel(self, reply: Callable[[str, str], Any], *roles: str) -> Iterator[None]:
        """Models that answer by a function of their name and the prompt."""
        with model(reply).running() as server:
            self.config = panel_of(server, *(roles or ("critic", "reviewer")))
            yield


def panel_of(server: VendorServer, *roles: str) -> str:
    """Settings in which models of a server have roles."""
    prices = [{"model": role, "input": 1, "output": 1} for role in roles]
    return json.dumps(
        {
            "providers": {"gpu": {"base_url": f"{server.url}/v1", "prices": prices}},
            "panel": {role: {"model": f"gpu:{role}"} for role in roles},
            "review": {"effort": "medium"},
        }
    )


def model(reply: Callable[[str, str], Any]) -> VendorServer:
    """A server whose models answer by a function of the model's name and the prompt."""

    def script(received: Received) -> Sent:
        body = received.body
        prompt = "\n".join(str(message["content"]) for message in body["messages"])
        return answer(json.dumps(reply(body["model"], prompt)))

    return VendorServer(script)


def outputs_of(text: str) -> dict[str, str]:
    """What GITHUB_OUTPUT says, as the runner reads it: `name<<END`, lines, `END`."""
    found = re.findall(r"^([a-z_]+)<<(\S+)\n(.*?)\n\2$", text, re.MULTILINE | re.DOTALL)
    return {name: value for name, _, value in found}


def summary_of(pull: Pull) -> str:
    """The one summary, without its hidden lines."""
    (body,) = [c.body for c in pull.comments if c.body.startswith("<!-- reviewbot:summary -->")]
    return body.split("\n", 2)[2]
