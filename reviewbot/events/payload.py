"""A forge's payload (a webhook's body, the file of ``GITHUB_EVENT_PATH``) read into an :class:`~reviewbot.domain.event.Event`.

Absent and null fields become empty: GitHub adds and drops fields over the years, and Enterprise servers lag behind. A field that
is there has the type and the form that GitHub documents, or the whole payload is refused with its path. Field names after
https://docs.github.com/webhooks/webhook-events-and-payloads; ``schedule`` is no webhook, its payload is ``{"schedule": cron}``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from reviewbot.domain.event import Event, FinishedRun, Happening, SaidComment
from reviewbot.domain.forge import (
    Author,
    AuthorKind,
    PullRequest,
    PullState,
)
from reviewbot.errors import UsageError
from reviewbot.events.field import HINT, Field
from reviewbot.screen import strict_json

MAX_BYTES = 25_000_000
"""GitHub's own cap: https://docs.github.com/webhooks/webhook-events-and-payloads#payload-cap."""

CRON, PULL_REQUEST = "schedule", "pull_request"
"""Names in ``Event.inputs``: when a schedule strikes, and the input of a dispatch that names a pull request."""

_NUMBER = re.compile("[1-9][0-9]{0,17}")
_REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "pull_request_target": "it hands secrets and a write token to a run about a stranger's code; "
        "use pull_request, and for forks the pair of pull_request (mode collect) and workflow_run (modes debate and publish)",
    }
)


def read(name: str, payload: bytes | str | Mapping[str, Any], repository: str = "") -> Event:
    """What happened. ``name`` is the event's name, ``repository`` (``owner/name``) where this runs, when that is known.

    Raises UsageError, and nothing else, with the path of the field that is wrong.
    """
    if not name:
        raise UsageError("the event has no name", hint="GITHUB_EVENT_NAME says it")
    if name in _REFUSED:
        raise UsageError(f"runs on {name} are refused: {_REFUSED[name]}", hint="change 'on:' in the workflow")
    root = Field(_value(name, payload), "$", name[:80])
    if not isinstance(root.value, dict):
        raise root.wrong("an object is expected")
    event = Event(
        kind=_KINDS.get(name, Happening.OTHER),
        action=root.at("action").text(),
        repository=_repository(root, repository),
        sender=_author(root.at("sender")),
        default_branch=root.at("repository", "default_branch").text(),
    )
    more = _READERS.get(event.kind)
    return more(event, root) if more else event


def _value(name: str, payload: bytes | str | Mapping[str, Any]) -> Any:
    """The payload as plain JSON values. A mapping goes the same way as bytes, so that both are refused for the same reasons."""
    try:
        text = json.dumps(dict(payload)) if isinstance(payload, Mapping) else payload
        return strict_json.loads(text, max_bytes=MAX_BYTES)
    except (strict_json.InvalidJson, TypeError, ValueError, RecursionError) as exc:
        raise UsageError(f"the payload of {name[:80]} is not valid JSON: {str(exc)[:200]}", hint=HINT) from exc


def _repository(root: Field, here: str) -> str:
    told = root.at("repository", "full_name").repository()
    if here and told and here.lower() != told.lower():
        raise root.at("repository", "full_name").wrong(f"this runs in {here[:200]}")
    return told or Field(here or None, "$.repository.full_name", root.name).repository()


def _author(at: Field) -> Author | None:
    """An account; ``None`` where it was deleted. Only a word of GitHub's makes it a user."""
    login = at.at("login").login()
    if not login:
        return None
    said = at.at("type").text()
    kind = AuthorKind(said) if said in list(AuthorKind) else AuthorKind.UNKNOWN
    return Author(login, at.at("id").count(), AuthorKind.BOT if login.endswith("[bot]") else kind)


def _pull(at: Field, event: Event) -> PullRequest | None:
    """``repository`` is the one in which this happened, never what the pull request calls its base: it decides what a fork is."""
    number = at.at("number").number()
    if number is None:
        return None
    return PullRequest(
        repository=event.repository,
        number=number,
        title=at.at("title").text(),
        body=at.at("body").text(),
        author=_author(at.at("user")),
        state=_state(at),
        is_draft=at.at("draft").truth(),
        is_locked=at.at("locked").truth(),
        labels=tuple(label.at("name").text() for label in at.at("labels").items()),
        base_ref=at.at("base", "ref").text(),
        base_sha=at.at("base", "sha").sha(),
        head_ref=at.at("head", "ref").text(),
        head_sha=at.at("head", "sha").sha(),
        head_repository=at.at("head", "repo", "full_name").repository() or None,
        changed_files=at.at("changed_files").count(),
        node_id=at.at("node_id").text(),
        url=at.at("html_url").text(),
    )


def _state(at: Field) -> PullState:
    if at.at("merged").truth() or at.at("merged_at").text():
        return PullState.MERGED
    said = at.at("state").text() or PullState.OPEN.value
    if said not in (PullState.OPEN, PullState.CLOSED):
        raise at.at("state").wrong("open or closed is expected")
    return PullState(said)


def _on_pull(event: Event, root: Field) -> Event:
    pull = _pull(root.at("pull_request"), event)
    return replace(
        event,
        number=pull.number if pull else root.at("number").number(),
        label=root.at("label", "name").text(),
        pull=pull,
        before=root.at("before").sha(),
        after=root.at("after").sha(),
    )


def _on_comment(event: Event, root: Field) -> Event:
    """A pull request is an issue, too: there the issue has a ``pull_request``."""
    issue = root.at("issue")
    on_issue = not issue.at("pull_request").object()
    return replace(event, number=issue.at("number").number(), on_issue=on_issue, comment=_said(root.at("comment")))


def _on_review_comment(event: Event, root: Field) -> Event:
    pull = _pull(root.at("pull_request"), event)
    said = _said(root.at("comment"))
    replies_to = root.at("comment", "in_reply_to_id").number()
    comment = replace(said, inline=True, replies_to=replies_to) if said else None
    return replace(event, number=pull.number if pull else None, pull=pull, comment=comment)


def _said(at: Field) -> SaidComment | None:
    number = at.at("id").number()
    if number is None:
        return None
    return SaidComment(number, at.at("node_id").text(), body=at.at("body").text(), author=_author(at.at("user")))


def _on_run(event: Event, root: Field) -> Event:
    at = root.at("workflow_run")
    number = at.at("id").number()
    if number is None:
        return event
    run = FinishedRun(
        id=number,
        event=at.at("event").text(),
        conclusion=at.at("conclusion").text() or None,
        head_repository=at.at("head_repository", "full_name").repository() or None,
        head_ref=at.at("head_branch").text(),
        head_sha=at.at("head_sha").sha(),
    )
    return replace(event, run=run)


def _on_dispatch(event: Event, root: Field) -> Event:
    """Inputs are texts, but a caller of the API may give numbers and booleans."""
    at = root.at("inputs")
    inputs = tuple((name, text) for name in at.object() if (text := _input(at.at(name))))
    number = dict(inputs).get(PULL_REQUEST, "").removeprefix("#")
    if number and not _NUMBER.fullmatch(number):
        raise at.at(PULL_REQUEST).wrong("the number of a pull request is expected")
    return replace(event, number=int(number) if number else None, ref=root.at("ref").text(), inputs=inputs)


def _input(at: Field) -> str:
    if isinstance(at.value, bool | int | float):
        return json.dumps(at.value)
    return at.text().strip()


def _on_schedule(event: Event, root: Field) -> Event:
    return replace(event, inputs=((CRON, root.at("schedule").text()),))


def _on_push(event: Event, root: Field) -> Event:
    return replace(event, ref=root.at("ref").text(), before=root.at("before").sha(), after=root.at("after").sha())


_KINDS: Mapping[str, Happening] = MappingProxyType({kind.value: kind for kind in Happening if kind is not Happening.OTHER})

_READERS: Mapping[Happening, Callable[[Event, Field], Event]] = MappingProxyType(
    {
        Happening.PULL_REQUEST: _on_pull,
        Happening.COMMENT: _on_comment,
        Happening.REVIEW_COMMENT: _on_review_comment,
        Happening.RUN_FINISHED: _on_run,
        Happening.DISPATCH: _on_dispatch,
        Happening.SCHEDULE: _on_schedule,
        Happening.PUSH: _on_push,
    }
)
