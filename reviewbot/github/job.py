"""The job of a workflow: the event that started it, inputs, variables, and what it leaves behind.

Payloads of GitHub Enterprise Server and of new events differ, so whatever is missing or has another
type counts as absent.
"""

import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import msgspec
from msgspec import Struct

from reviewbot.config.load import Layer, environment_layer, flag_layer, load_settings, read_layer
from reviewbot.errors import UsageError
from reviewbot.git.fetch import COMMIT
from reviewbot.github.pulls import Author
from reviewbot.text.plain import plain

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
Mode = Literal["all", "collect", "debate", "publish"]
Autofix = Literal["off", "suggest", "commit", "pull_request"]
# In no variable that a review gets.
HIDDEN = (
    *("GITHUB_TOKEN", "GH_TOKEN", "GITHUB_APP_PRIVATE_KEY"),
    *("ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"),
)
KEY = re.compile(r"_API_KEY$|^AWS_(ACCESS_KEY_ID|BEARER_TOKEN_BEDROCK|CONTAINER_CREDENTIALS)")

T = TypeVar("T")
Subject = Literal[
    "pull_request",
    "comment",
    "finished_run",
    "dispatch",
    "issue",
    "merge_group",
    "audit",
    "nothing",
]
SUBJECTS: Mapping[str, Subject] = {
    "pull_request": "pull_request",
    "pull_request_target": "nothing",  # it would run a fork's code beside secrets
    "issue_comment": "comment",
    "pull_request_review_comment": "comment",
    "workflow_run": "finished_run",
    "workflow_dispatch": "audit",  # "dispatch" if it names a pull request, "issue" for an issue
    "merge_group": "merge_group",
    "schedule": "audit",
}


class CommentEvent(Struct, frozen=True, kw_only=True):
    """A comment. `is_inline` if it is in a thread about lines."""

    id: int = 0
    body: str = ""
    author: Author | None = None
    is_inline: bool = False


class Event(Struct, frozen=True, kw_only=True):
    """What happened.

    Attributes:
        number: of the pull request, 0 if there is none or if it is not known yet.
        issue: the number of an issue that is no pull request.
        base_sha: of a merge group.
        head_repository: `owner/name`; empty if it was deleted.
        is_retargeted: the pull request has another base branch than before.
        asked_by: the comment for which a dispatch was made; 0 if there is none.
    """

    subject: Subject
    action: str = ""
    sender: Author | None = None
    number: int = 0
    issue: int = 0
    label: str = ""
    base_sha: str = ""
    head_sha: str = ""
    head_ref: str = ""
    head_repository: str = ""
    comment: CommentEvent = CommentEvent()
    run_event: str = ""
    conclusion: str = ""
    is_retargeted: bool = False
    asked_by: int = 0
    default_branch: str = ""


class Job(Struct, frozen=True, kw_only=True):
    """What the runner says.

    Attributes:
        app: the id and the private key of an app, whose token is used instead.
        variables: the environment without tokens of GitHub.
        workspace: the checkout of the workflow, if it has one.
        documents: the folder for what goes from one job to the next.
    """

    event: Event
    inputs: Mapping[str, str]
    mode: Mode
    autofix: Autofix
    allow_approve: bool = False
    dry_run: bool = False
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
    def has_keys(self) -> bool:
        """Of an app, of vendors, of servers that the configuration names, and of clouds."""
        settings = load_settings(self.layers()).settings
        named = {provider.key_variable for provider in settings.providers.values()}
        return bool(self.app) or any(name in named or KEY.search(name) for name in self.variables)

    def layers(self) -> list[Layer]:
        """Settings of the environment, the file and the inputs. Raises ReviewbotError."""
        given = {key: self.inputs[name] for name, key in INPUTS.items() if key}
        values: dict[str, object] = {key: text for key, text in given.items() if text}
        if minutes := self.inputs["timeout_minutes"]:
            values["limits.seconds"] = 60 * _number("timeout_minutes", minutes)
        layers = [environment_layer(self.variables)]
        if name := self.inputs["config_file"]:
            path = self.workspace / name
            if not path.is_file():
                raise UsageError(f"config_file names {name}, and there is no such file")
            layers.append(read_layer(name, "flags", path.read_bytes()))
        return [*layers, flag_layer(values, "the inputs")]


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
    app = variables.get("GITHUB_APP_ID", ""), variables.get("GITHUB_APP_PRIVATE_KEY", "")
    repository = variables.get("GITHUB_REPOSITORY", "")
    server = variables.get("GITHUB_SERVER_URL", "https://github.com").rstrip("/")
    run = variables.get("GITHUB_RUN_ID", "")
    return Job(
        event=read_event(variables.get("GITHUB_EVENT_NAME", ""), payload),
        inputs=given,
        mode=_choice(given, "mode", get_args(Mode)),
        autofix=_choice(given, "autofix", get_args(Autofix)),
        allow_approve=_choice(given, "allow_approve", ("false", "true")) == "true",
        dry_run=_choice(given, "dry_run", ("false", "true")) == "true",
        repository=repository,
        api_url=variables.get("GITHUB_API_URL", "https://api.github.com"),
        server_url=server,
        token=variables.get("GITHUB_TOKEN", ""),
        app=app if all(app) else None,
        variables={name: v for name, v in variables.items() if name not in HIDDEN and v},
        workspace=Path(variables.get("GITHUB_WORKSPACE", ".")),
        documents=Path(variables.get("RUNNER_TEMP", "/tmp"), "reviewbot"),
        run_url=f"{server}/{repository}/actions/runs/{run}" if run.isdecimal() else "",
        run_id=int(run) if run.isdecimal() else 0,
        is_rerun=variables.get("GITHUB_RUN_ATTEMPT", "1") != "1",
        sha=variables.get("GITHUB_SHA", ""),
    )


def read_event(name: str, payload: bytes) -> Event:
    """Raises UsageError if the payload is none, or if a dispatch names no pull request."""
    try:
        root = msgspec.json.decode(payload)
    except (ValueError, RecursionError) as error:
        message = f"GITHUB_EVENT_PATH holds no JSON: {error}"
        raise UsageError(message, hint="run this inside of a workflow") from error
    subject = SUBJECTS.get(name, "nothing")
    run, group = _get(root, dict, "workflow_run"), _get(root, dict, "merge_group")
    issue, pull = _get(root, dict, "issue"), _get(root, dict, "pull_request")
    if issue:
        pull = issue if _get(issue, dict, "pull_request") else None
    number, asked_by = _get(pull, int, "number") or 0, 0
    about = 0 if number else _get(issue, int, "number") or 0
    if name == "workflow_dispatch":
        number, about, asked_by = (_given(root, n) for n in ("pull_request", "issue", "comment"))
        if not number and bool(about) != bool(asked_by):
            raise UsageError("give the inputs issue and comment together, or neither of them")
        subject = "dispatch" if number else "issue" if about else "audit"
    comment = CommentEvent(
        id=_get(root, int, "comment", "id") or 0,
        body=_text(root, "comment", "body"),
        author=_author(root, "comment", "user"),
        is_inline=name == "pull_request_review_comment",
    )
    return Event(
        subject=subject,
        action=_text(root, "action"),
        sender=_author(root, "sender"),
        number=number,
        issue=about,
        label=_text(root, "label", "name"),
        base_sha=_sha(group, "base_sha"),
        head_sha=_sha(pull, "head", "sha") or _sha(run or group, "head_sha"),
        head_ref=_text(pull, "head", "ref") or _text(run, "head_branch"),
        head_repository=_text(pull, "head", "repo", "full_name")
        or _text(run, "head_repository", "full_name"),
        comment=comment,
        run_event=_text(run, "event"),
        conclusion=_text(run, "conclusion"),
        is_retargeted=_get(root, dict, "changes", "base") is not None,
        asked_by=asked_by,
        default_branch=_text(root, "repository", "default_branch"),
    )


class Runner:
    """What the job leaves behind: outputs, a summary, lines in the log."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._output = variables.get("GITHUB_OUTPUT", "")
        self._summary = variables.get("GITHUB_STEP_SUMMARY", "")

    def say(self, words: str, level: Literal["error", "warning", "notice"] | None = None) -> None:
        """A line of ours in the log, or an annotation. Nothing in it is a command."""
        start, line = f"::{level} title=reviewbot::", plain(words)
        print(start + line.replace("%", "%25") if level else line, flush=True)

    def put(self, **outputs: object) -> None:
        """Set outputs. What follows is delimited by a line that nobody can guess."""
        for name, value in outputs.items():
            text = str(value).lower() if isinstance(value, bool) else str(value)
            end = f"end-{secrets.token_hex(16)}"
            _write(self._output, f"{name}<<{end}\n{text}\n{end}", "a")

    def summarise(self, markdown: str) -> None:
        """Write the summary of this step, in place of an earlier one."""
        _write(self._summary, markdown, "w")


def _write(path: str, text: str, mode: str) -> None:
    if path:
        with Path(path).open(mode, encoding="utf-8", errors="replace") as file:
            file.write(f"{text}\n")


def _choice(inputs: Mapping[str, str], name: str, choices: Sequence[str]) -> Any:
    """An input that is one of these words, the first of them if it is empty."""
    given = inputs[name].lower() or choices[0]
    if given not in choices:
        hint = f"choose one of {', '.join(choices)}"
        raise UsageError(f"the input {name} is {given[:40]!r}", hint=hint)
    return given


def _number(name: str, text: str) -> int:
    match = re.fullmatch(r"#?([1-9][0-9]{0,18})", text)
    if not match:
        raise UsageError(f"the input {name} is {text[:40]!r}", hint="give a whole number from 1")
    return int(match[1])


def _given(root: Any, name: str) -> int:
    """An input is a text, but a caller of the API may give a number."""
    value = (_get(root, dict, "inputs") or {}).get(name)
    return _number(name, str(value).strip()) if value not in (None, "") else 0


def _get(node: Any, kind: type[T], *path: str) -> T | None:
    """What is at the end of a path; None if it is not there or has another type."""
    for key in path:
        node = node.get(key) if isinstance(node, dict) else None
    return node if type(node) is kind else None


def _text(node: Any, *path: str) -> str:
    return _get(node, str, *path) or ""


def _sha(node: Any, *path: str) -> str:
    found = _text(node, *path)
    return found if COMMIT.fullmatch(found) else ""


def _author(node: Any, *path: str) -> Author | None:
    login = _text(node, *path, "login")
    return Author(login, _text(node, *path, "type") or "User") if login else None
