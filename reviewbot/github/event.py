"""What started a run: the payload of a webhook, read as far as it matters.

Payloads of GitHub Enterprise Server and of new events differ, so whatever is missing or has another
type counts as absent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct

from reviewbot.errors import UsageError
from reviewbot.github.snapshot import Author

MAX_BYTES = 32_000_000  # GitHub's own limit is 25 MB
SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")

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

    id: int
    body: str
    author: Author | None
    is_inline: bool = False


class Event(Struct, frozen=True, kw_only=True):
    """What happened.

    Attributes:
        number: of the pull request, 0 if there is none or if it is not known yet.
        issue: the number of an issue that is no pull request.
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
    issue: int = 0
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
    except (ValueError, RecursionError) as error:
        message = f"GITHUB_EVENT_PATH holds no JSON: {error}"
        raise UsageError(message, hint="run this inside of a workflow") from error
    subject = SUBJECTS.get(name, "nothing")
    number = asked_by = about = 0
    if name == "workflow_dispatch":
        number, asked_by = _given(root, "pull_request"), _given(root, "comment")
        about = _given(root, "issue")
        subject = "dispatch" if number else "issue" if about and asked_by else "audit"
    pull = run = group = None  # what it is about
    if subject in ("pull_request", "comment"):
        issue = _get(root, dict, "issue")
        pull = issue if _get(issue, dict, "pull_request") else None
        pull = pull if issue else _get(root, dict, "pull_request")
        number = _get(pull, int, "number") or 0
        about = 0 if number else _get(issue, int, "number") or 0
    elif subject == "finished_run":
        run = _get(root, dict, "workflow_run")
    elif subject == "merge_group":
        group = _get(root, dict, "merge_group")
    comment = CommentEvent(
        id=_get(root, int, "comment", "id") or 0,
        body=_text(root, "comment", "body"),
        author=_author(root, "comment", "user"),
        is_inline=name == "pull_request_review_comment",
    )
    return Event(
        name=name,
        subject=subject,
        action=_text(root, "action"),
        sender=_author(root, "sender"),
        number=number,
        issue=about,
        is_open=_text(pull, "state") != "closed",
        is_draft=_get(pull, bool, "draft") is True,
        is_locked=_get(pull, bool, "locked") is True,
        author=_author(pull, "user"),
        labels=tuple(_text(label, "name") for label in _get(pull, list, "labels") or []),
        label=_text(root, "label", "name"),
        base_sha=_sha(group, "base_sha"),
        head_sha=_sha(pull, "head", "sha") or _sha(run or group, "head_sha"),
        head_ref=_text(pull, "head", "ref") or _text(run, "head_branch"),
        head_repository=_text(pull, "head", "repo", "full_name")
        or _text(run, "head_repository", "full_name"),
        comment=comment if subject == "comment" else None,
        run_id=_get(run, int, "id") or 0,
        run_event=_text(run, "event"),
        conclusion=_text(run, "conclusion"),
        asked_by=asked_by,
        default_branch=_text(root, "repository", "default_branch"),
    )


def _given(root: Any, name: str) -> int:
    """An input is a text, but a caller of the API may give a number."""
    value = (_get(root, dict, "inputs") or {}).get(name)
    text = str(value).strip() if isinstance(value, str | int) else ""
    match = re.fullmatch(r"#?([1-9][0-9]{0,18})", text)
    if text and not match:
        raise UsageError(f"the input {name} is {text[:40]!r}", hint="give a number")
    return int(match[1]) if match else 0


def _get(node: Any, kind: type[T], *path: str) -> T | None:
    """What is at the end of a path; None if it is not there or has another type."""
    for key in path:
        node = node.get(key) if isinstance(node, dict) else None
    return node if type(node) is kind else None


def _text(node: Any, *path: str) -> str:
    return _get(node, str, *path) or ""


def _sha(node: Any, *path: str) -> str:
    found = _text(node, *path)
    return found if SHA.fullmatch(found) else ""


def _author(node: Any, *path: str) -> Author | None:
    login = _text(node, *path, "login")
    return Author(login, _text(node, *path, "type") or "User") if login else None
