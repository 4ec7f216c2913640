"""The job of a workflow in which reviewbot runs: inputs, variables, and what it leaves behind."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from msgspec import Struct

from reviewbot.config.load import Layer, environment_layer, flag_layer, read_layer
from reviewbot.errors import UsageError
from reviewbot.github.activity import Mode
from reviewbot.github.event import Event, read_event
from reviewbot.llm.providers import VENDORS
from reviewbot.text.plain import without_commands

# The inputs of action.yml, but for keys and token. Those with a key of the configuration set it.
INPUTS: Mapping[str, str] = {
    "models": "",
    "config_file": "",
    "mode": "",
    "effort": "review.effort",
    "fail_on": "review.fail_on",
    "min_severity": "review.min_severity",
    "max_comments": "github.max_comments",
    "allow_approve": "",
    "autofix": "",
    "max_cost_usd": "limits.cost_usd",
    "timeout_minutes": "",
    "sarif_file": "",
    "dry_run": "",
}
OUTPUTS = (
    "verdict",
    "complete",
    "skip_reason",
    "findings_json",
    "summary_comment_url",
    "comments_inline",
    "comments_resolved",
    "reviewed_sha",
    "cost_usd",
    "autofix_sha",
)
Autofix = Literal["off", "suggest", "commit", "pull_request"]
Level = Literal["error", "warning", "notice"]


class Job(Struct, frozen=True, kw_only=True):
    """What the runner says.

    Attributes:
        repository: `owner/name`.
        token, app: of GitHub: a token, or the id and the private key of an app. They are in no
            variable that a review gets.
        variables: the environment without them.
        workspace: the checkout of the workflow, if it has one.
        documents: the folder for what goes from one job to the next.
    """

    event: Event
    inputs: Mapping[str, str]
    repository: str
    api_url: str
    server_url: str
    token: str
    app: tuple[str, str] | None
    variables: Mapping[str, str]
    workspace: Path
    documents: Path
    run_url: str = ""
    run_id: int = 0
    is_rerun: bool = False
    sha: str = ""

    @property
    def git_url(self) -> str:
        return f"{self.server_url}/{self.repository}.git"

    @property
    def mode(self) -> Mode:
        mode: Mode = self._choice("mode", Mode, "all")
        return mode

    @property
    def autofix(self) -> Autofix:
        autofix: Autofix = self._choice("autofix", Autofix, "off")
        return autofix

    @property
    def has_keys(self) -> bool:
        names = {name for vendor in VENDORS.values() for name in vendor.key_names}
        return any(self.variables.get(name) for name in names)

    def _choice(self, name: str, choices: Any, default: str) -> Any:
        given = self.inputs[name] or default
        if given not in get_args(choices):
            hint = f"choose one of {', '.join(get_args(choices))}"
            raise UsageError(f"the input {name} is {given[:40]!r}", hint=hint)
        return given

    def is_on(self, name: str) -> bool:
        value = self.inputs[name].lower()
        if value not in ("", "true", "false"):
            raise UsageError(f"the input {name} is {value[:40]!r}", hint="give true or false")
        return value == "true"

    def layers(self) -> list[Layer]:
        """Settings of the environment, the file and the inputs. Raises ReviewbotError."""
        values: dict[str, object] = {}
        for name, key in INPUTS.items():
            if key and self.inputs[name]:
                values[key] = _value(name, self.inputs[name])
        if minutes := self.inputs["timeout_minutes"]:
            if not re.fullmatch(r"[1-9][0-9]{0,3}", minutes):
                hint = "give a whole number of minutes"
                raise UsageError(f"the input timeout_minutes is {minutes[:40]!r}", hint=hint)
            values["limits.seconds"] = 60 * int(minutes)
        layers = [environment_layer(self.variables)]
        if name := self.inputs["config_file"]:
            path = self.workspace / name
            if not path.is_file():
                raise UsageError(f"config_file names {name}, and there is no such file")
            layers.append(read_layer(name, "flags", path.read_bytes()))
        return [*layers, flag_layer(values)]


def read_job(variables: Mapping[str, str]) -> Job:
    """Raises UsageError outside of a workflow."""
    if not variables.get("GITHUB_EVENT_PATH"):
        message = "GITHUB_EVENT_PATH is not set: this is no job of a GitHub workflow"
        raise UsageError(message, hint="on your own machine, use reviewbot review")
    try:
        payload = Path(variables["GITHUB_EVENT_PATH"]).read_bytes()
    except OSError as error:
        raise UsageError(f"GITHUB_EVENT_PATH cannot be read: {error}") from error
    given = {name: variables.get(f"INPUT_{name.upper()}", "").strip() for name in INPUTS}
    hidden = (
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "GITHUB_APP_PRIVATE_KEY",
        "ACTIONS_RUNTIME_TOKEN",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
    )
    repository = variables.get("GITHUB_REPOSITORY", "")
    server = variables.get("GITHUB_SERVER_URL", "https://github.com").rstrip("/")
    run = variables.get("GITHUB_RUN_ID", "")
    return Job(
        event=read_event(variables.get("GITHUB_EVENT_NAME", ""), payload),
        inputs=given,
        repository=repository,
        api_url=variables.get("GITHUB_API_URL", "https://api.github.com"),
        server_url=server,
        token=variables.get("GITHUB_TOKEN", ""),
        app=(variables["GITHUB_APP_ID"], variables["GITHUB_APP_PRIVATE_KEY"])
        if variables.get("GITHUB_APP_ID") and variables.get("GITHUB_APP_PRIVATE_KEY")
        else None,
        variables={name: v for name, v in variables.items() if name not in hidden and v},
        workspace=Path(variables.get("GITHUB_WORKSPACE", ".")),
        documents=Path(variables.get("RUNNER_TEMP", "/tmp"), "reviewbot"),
        run_url=f"{server}/{repository}/actions/runs/{run}" if run.isdecimal() else "",
        run_id=int(run) if run.isdecimal() else 0,
        is_rerun=variables.get("GITHUB_RUN_ATTEMPT", "1") != "1",
        sha=variables.get("GITHUB_SHA", ""),
    )


class Runner:
    """What the job leaves behind: outputs, a summary, lines in the log."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._output = variables.get("GITHUB_OUTPUT", "")
        self._summary = variables.get("GITHUB_STEP_SUMMARY", "")

    def say(self, words: str, level: Level | None = None) -> None:
        """A line of ours in the log, or an annotation. Nothing in it is a command."""
        line = " ".join(without_commands(words).split("\n"))
        escaped = line.replace("%", "%25").replace("\r", "%0D") if level else line
        print(f"::{level} title=reviewbot::{escaped}" if level else line, flush=True)

    def put(self, outputs: Mapping[str, object]) -> None:
        """Set outputs. What follows is delimited by a line that nobody can guess."""
        if self._output:
            with Path(self._output).open("a", encoding="utf-8", errors="replace") as file:
                for name, value in outputs.items():
                    text = str(value).lower() if isinstance(value, bool) else str(value)
                    end = f"end-{secrets.token_hex(16)}"
                    file.write(f"{name}<<{end}\n{text}\n{end}\n")

    def summarise(self, markdown: str) -> None:
        if self._summary:
            with Path(self._summary).open("a", encoding="utf-8", errors="replace") as file:
                file.write(f"{markdown}\n")


def _value(name: str, text: str) -> object:
    if name in ("max_comments", "max_cost_usd"):
        try:
            return int(text) if name == "max_comments" else float(text)
        except ValueError as error:
            raise UsageError(f"the input {name} is {text[:40]!r}", hint="give a number") from error
    return text
