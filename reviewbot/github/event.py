"""What started a run: the payload of a webhook, read as far as it matters.

Payloads of GitHub Enterprise Server and of new events differ, so whatever is missing or has another
type counts as absent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from reviewbot.errors import UsageError
from reviewbot.github.snapshot import Author

MAX_BYTES = 32_000_000  # GitHub's own limit is 25 MB
SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")

Subject = Literal[
    "pull_request", "comment", "finished_run", "dispatch", "merge_group", "audit", "nothing"
]
SUBJECTS: Mapping[str, Subject] = {
    "pull_request": "pull_request",
    "pull_request_target": "nothing",  # it would run a fork's code beside secrets
    "issue_comment": "comment",
    "pull_request_review_comment": "comment",
    "workflow_run": "finished_run",
    "workflow_dispatch": "audit",  # "dispatch" if it names a pull request
    "merge_group": "merge_group",
    "schedule": "audit",
}


class CommentEvent(Struct, frozen=True, kw_only=True):
    """A comment. `is_inline` if it is in a thread about lines."""

    id: int
    body: str
    author: Author | None
    is_inline: bool = False


class Event(Struct, frozen=True, kw_only=True):
    """What happened.

    Attributes:
        number: of the pull request, 0 if there is none or if it is not known yet.
        base_sha: of a merge group.
        head_sha: of the pull request, the merge group or the run that finished, at that time.
        head_repository: `owner/name`; empty if it was deleted.
        asked_by: the comment for which a dispatch was made; 0 if there is none.
    """

    name: str
    subject: Subject
    action: str = ""
    sender: Author | None = None
    number: int = 0
    is_open: bool = True
    is_draft: bool = False
    is_locked: bool = False
    author: Author | None = None
    labels: tuple[str, ...] = ()
    label: str = ""
    base_sha: str = ""
    head_sha: str = ""
    head_ref: str = ""
    head_repository: str = ""
    comment: CommentEvent | None = None
    run_id: int = 0
    run_event: str = ""
    conclusion: str = ""
    asked_by: int = 0
    default_branch: str = ""


def read_event(name: str, payload: bytes) -> Event:
    """Raises UsageError if the payload is none, or if a dispatch names no pull request."""
    if len(payload) > MAX_BYTES:
        raise UsageError(f"the payload of {name} has more than {MAX_BYTES // 1_000_000} MB")
    try:
        root = msgspec.json.decode(payload)
    except (msgspec.DecodeError, RecursionError) as error:
        message = f"GITHUB_EVENT_PATH holds no JSON: {error}"
        raise UsageError(message, hint="run this inside of a workflow") from error
    pull = _object(root, "pull_request")
    issue = _object(root, "issue")
    subject = SUBJECTS.get(name, "nothing")
    event = Event(
        name=name,
        subject=subject,
        action=_text(root, "action"),
        sender=_author(_object(root, "sender")),
        label=_text(_object(root, "label"), "name"),
        default_branch=_text(_object(root, "repository"), "default_branch"),
    )
    replace = msgspec.structs.replace
    if subject in ("pull_request", "comment") and pull and not issue:
        head = _object(pull, "head")
        event = replace(
            event,
            number=_number(pull, "number"),
            is_open=_text(pull, "state") != "closed",
            is_draft=pull.get("draft") is True,
            is_locked=pull.get("locked") is True,
            author=_author(_object(pull, "user")),
            labels=tuple(_text(label, "name") for label in _list(pull, "labels")),
            head_sha=_sha(head, "sha"),
            head_ref=_text(head, "ref"),
            head_repository=_text(_object(head, "repo"), "full_name"),
        )
    elif subject == "comment" and _object(issue, "pull_request"):
        event = replace(
            event,
            number=_number(issue, "number"),
            is_open=_text(issue, "state") != "closed",
            is_locked=issue.get("locked") is True,
            author=_author(_object(issue, "user")),
        )
    if subject == "comment":
        comment = _object(root, "comment")
        found = CommentEvent(
            id=_number(comment, "id"),
            body=_text(comment, "body"),
            author=_author(_object(comment, "user")),
            is_inline=name == "pull_request_review_comment",
        )
        event = replace(event, comment=found)
    if subject == "finished_run":
        run = _object(root, "workflow_run")
        event = replace(
            event,
            run_id=_number(run, "id"),
            run_event=_text(run, "event"),
            conclusion=_text(run, "conclusion"),
            head_sha=_sha(run, "head_sha"),
            head_ref=_text(run, "head_branch"),
            head_repository=_text(_object(run, "head_repository"), "full_name"),
        )
    if subject == "merge_group":
        group = _object(root, "merge_group")
        shas = {"base_sha": _sha(group, "base_sha"), "head_sha": _sha(group, "head_sha")}
        event = replace(event, **shas)
    if name == "workflow_dispatch":
        inputs = _object(root, "inputs")
        number, asked_by = _given(inputs, "pull_request"), _given(inputs, "comment")
        subject = "dispatch" if number else "audit"
        event = replace(event, subject=subject, number=number, asked_by=asked_by)
    return event


def _given(inputs: Mapping[str, Any], name: str) -> int:
    """An input is a text, but a caller of the API may give a number."""
    value = inputs.get(name)
    text = str(value).strip() if isinstance(value, str | int) else ""
    match = re.fullmatch(r"#?([1-9][0-9]{0,18})", text)
    if text and not match:
        raise UsageError(f"the input {name} is {text[:40]!r}", hint="give a number")
    return int(match[1]) if match else 0


def _object(node: Any, key: str) -> dict[str, Any]:
    found = node.get(key) if isinstance(node, dict) else None
    return found if isinstance(found, dict) else {}


def _list(node: Mapping[str, Any], key: str) -> list[Any]:
    found = node.get(key)
    return found if isinstance(found, list) else []


def _text(node: Any, key: str) -> str:
    found = node.get(key) if isinstance(node, dict) else None
    return found if isinstance(found, str) else ""


def _number(node: Mapping[str, Any], key: str) -> int:
    found = node.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0


def _sha(node: Mapping[str, Any], key: str) -> str:
    found = _text(node, key)
    return found if SHA.fullmatch(found) else ""


def _author(node: Mapping[str, Any]) -> Author | None:
    login = _text(node, "login")
    return Author(login, _text(node, "type") or "User") if login else None
