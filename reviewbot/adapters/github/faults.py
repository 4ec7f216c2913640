"""What GitHub's refusals mean: status, headers and body in, an error of the ForgeError family out. GitHub's words are quoted
on one line, bounded, and without anything that looks like a secret.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reviewbot.adapters.github import reading
from reviewbot.adapters.github.exchange import Answer, Call, LostError
from reviewbot.errors import (
    DeferredError,
    ForgeError,
    GoneError,
    InvalidError,
    NotAuthorizedError,
    NotPermittedError,
    StaleError,
    UnsureError,
)
from reviewbot.screen import secrets

MOST_WORDS = 300
SECONDARY_SECONDS = 60.0
"""How long to wait for a secondary limit that does not say: at least a minute, then exponentially longer (GitHub's guide to its
rate limits)."""

_LIMIT = re.compile(
    r"^API rate limit exceeded|secondary rate limit|submitted too quickly|abuse detection"
    r"|please retry your request again later\.$|please wait a few minutes before you try again\.$",
    re.IGNORECASE,
)

#: Said of a token, whatever is left of its limit: waiting does not change it.
_NO_PERMISSION = re.compile(r"not accessible by|is locked|archived|must have", re.IGNORECASE)

_PERMIT = "give the token the permission, or run where it has it"
_DELETED = "look whether it was deleted"
_LATER = "run it again later"
_LOOK = "look at the pull request before doing it again"

#: What GitHub's words mean, whatever the status. The first that is found holds.
_WORDS: tuple[tuple[re.Pattern[str], type[ForgeError], str], ...] = (
    (re.compile(r"is locked|lock prevents|archived so is read-only", re.I), GoneError, "unlock the conversation"),
    (
        re.compile(r"(?:oid|commit_?id)\W* is not part of the pull request|no commit found for sha|not a fast[ -]forward"
                   r"|expected branch to point to|no commit exists with specified expectedheadoid"
                   r"|is at [0-9a-f]{40,64} but expected", re.I),
        StaleError,
        "the run for the newer head does it",
    ),
    (
        re.compile(r"repository rule violations found|changes must be made through a pull request|protected branch", re.I),
        NotPermittedError,
        "its branch is guarded: suggest the change instead",
    ),
    (
        re.compile(r"not permitted to create", re.I),
        NotPermittedError,
        "allow it in the repository's settings under Actions, or give the token of an app",
    ),
)  # fmt: skip

#: What a status means where the words say nothing better, with the next step.
_STATUSES: Mapping[int, tuple[type[ForgeError], str]] = {
    400: (InvalidError, "report this as a bug"),
    401: (NotAuthorizedError, "give a token that is valid"),
    403: (NotPermittedError, _PERMIT),
    409: (ForgeError, _LATER),
    410: (GoneError, _DELETED),
    413: (InvalidError, "say less"),
    422: (InvalidError, ""),
    451: (GoneError, _DELETED),
}

#: What the type of a GraphQL error means.
_TYPES: Mapping[str, tuple[type[ForgeError], str]] = {
    "STALE_DATA": (StaleError, "the run for the newer head does it"),
    "FORBIDDEN": (NotPermittedError, _PERMIT),
    "INSUFFICIENT_SCOPES": (NotPermittedError, _PERMIT),
    "BRANCH_PROTECTION_RULE_VIOLATION": (NotPermittedError, "its branch is guarded: suggest the change instead"),
    "NOT_FOUND": (GoneError, _DELETED),
    "UNPROCESSABLE": (InvalidError, ""),
}

_PASSING_TYPES = frozenset({"", "INTERNAL", "SERVICE_UNAVAILABLE", "TIMEOUT"})


@dataclass(frozen=True, slots=True)
class Said:
    """The words of a refusal: ``message``, and one word for each entry of ``errors``."""

    message: str
    reasons: tuple[str, ...] = ()

    def __str__(self) -> str:
        return one_line(": ".join(word for word in (self.message, ", ".join(self.reasons)) if word))


@dataclass(frozen=True, slots=True)
class GraphqlFault:
    """One entry of ``errors`` in an answer of GraphQL. ``path`` is what could not be told, empty where it is all."""

    type: str
    message: str
    path: tuple[str, ...] = ()

    @property
    def is_limit(self) -> bool:
        """A rate limit, primary or secondary."""
        return self.type == "RATE_LIMITED" or bool(_LIMIT.search(self.message))

    @property
    def is_passing(self) -> bool:
        """GitHub's own trouble: it may go well the next time. Errors of a query's text have no type either, but say where."""
        return not self.is_limit and self.type in _PASSING_TYPES and "something went wrong" in self.message.lower()


def said(answer: Answer) -> Said:
    """What a body says, whatever it is: both shapes of a 422, a page for browsers, or nothing."""
    if answer.is_page:
        return Said("an HTML page")
    try:
        body = reading.loads(answer.body)
    except ForgeError:
        return Said("")
    if not isinstance(body, dict):
        return Said("")
    errors = body.get("errors")
    reasons = tuple(_reason(item) for item in errors[:20]) if isinstance(errors, list) else (_reason(errors),) if errors else ()
    return Said(_text(body.get("message")), tuple(reason for reason in reasons if reason))


def limited(answer: Answer, attempt: int) -> float | None:
    """Seconds for which a rate limit holds, ``None`` where it is none. ``attempt`` counts from 1: a secondary limit that does
    not say how long it lasts is given twice the time with each."""
    if answer.status not in (403, 429):
        return None
    message = said(answer).message
    is_told = _number(answer.headers.get("retry-after")) is not None or _is_used_up(answer)
    if answer.status == 429 or _LIMIT.search(message) or (is_told and not _NO_PERMISSION.search(message)):
        return holds(answer, attempt)
    return None


def holds(answer: Answer, attempt: int) -> float:
    """Seconds until a limit is lifted: as GitHub says, or until the reset by its own clock, or a minute and more."""
    after = _number(answer.headers.get("retry-after"))
    if after is not None:
        return after
    reset = _number(answer.headers.get("x-ratelimit-reset"))
    now = reading.http_date(answer.headers.get("date", ""))
    if _is_used_up(answer) and reset is not None and now is not None:
        return max(0.0, reset - now) + 1.0
    return float(SECONDARY_SECONDS * 2.0 ** (attempt - 1))


def _is_used_up(answer: Answer) -> bool:
    return answer.headers.get("x-ratelimit-remaining", "").strip() == "0"


def is_passing(answer: Answer, call: Call) -> bool:
    """GitHub's own trouble, or something between it and us: it may go well the next time."""
    return (
        answer.status >= 500 or answer.status in (408, 499) or (answer.is_page and answer.is_fine and call.accept != "text/html")
    )


def refusal(answer: Answer, call: Call) -> ForgeError:
    """The error for an answer that is not what was asked for and that no waiting mends."""
    words = said(answer)
    for pattern, kind, hint in _WORDS:
        if any(pattern.search(word) for word in (words.message, *words.reasons)):
            return kind(_message(call, answer, words), hint=hint)
    if 300 <= answer.status < 400:
        return ForgeError(_message(call, answer, words), hint="the repository moved: name it as it is called now")
    kind, hint = (call.missing, _DELETED) if answer.status == 404 else _STATUSES.get(answer.status, (ForgeError, _LATER))
    if kind is NotPermittedError:
        hint = _PERMIT
    if kind is InvalidError:
        return InvalidError(_message(call, answer, words), hint=hint, reasons=words.reasons or (words.message,))
    return kind(_message(call, answer, words), hint=hint)


def trouble(answer: Answer, call: Call) -> ForgeError:
    """The error after GitHub's own trouble. Whoever wanted to change something does not know whether it happened."""
    message = _message(call, answer, said(answer))
    return ForgeError(message, hint=_LATER) if call.is_read else UnsureError(message, hint=_LOOK)


def lost(exc: LostError, call: Call) -> ForgeError:
    """The error after an answer that never came."""
    message = f"GitHub was asked to {call.doing}: {exc}"
    return UnsureError(message, hint=_LOOK) if exc.is_sent and not call.is_read else ForgeError(message, hint=_LATER)


def deferred(call: Call, seconds: float) -> DeferredError:
    """The error for a limit that outlasts our patience."""
    message = f"GitHub was asked to {call.doing}: its rate limit holds for {seconds:.0f} s more"
    return DeferredError(message, hint=_LATER, seconds=seconds)


def graphql_refusal(faults: tuple[GraphqlFault, ...], call: Call) -> ForgeError:
    """The error for what GraphQL did not do; the first fault whose type says something counts."""
    told = next((fault for fault in faults if fault.type in _TYPES), None) or (faults or (GraphqlFault("", "no data"),))[0]
    words = one_line(told.message)
    message = f"GitHub was asked to {call.doing} and answered: {words}"
    for pattern, kind, hint in _WORDS:
        if pattern.search(told.message):
            return kind(message, hint=hint)
    kind, hint = _TYPES.get(told.type, (ForgeError, _LATER))
    if kind is GoneError and "to a repository" in told.message.lower():
        return NotPermittedError(message, hint=_PERMIT)
    return InvalidError(message, hint=hint, reasons=(words,)) if kind is InvalidError else kind(message, hint=hint)


def one_line(text: str) -> str:
    """Words from outside as part of a message: one line, bounded, nothing that steers a terminal, no secret."""
    text, _ = secrets.redact(text[: 10 * MOST_WORDS])
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= MOST_WORDS else text[: MOST_WORDS - 1] + "…"


def _message(call: Call, answer: Answer, words: Said) -> str:
    spoken = str(words)
    return f"GitHub was asked to {call.doing} and answered {answer.status}" + (f": {spoken}" if spoken else "")


def _reason(entry: Any) -> str:
    """One entry of ``errors``: a string, or ``{resource, field, code, message}``."""
    if not isinstance(entry, dict):
        return one_line(entry) if isinstance(entry, str) else ""
    if message := _text(entry.get("message")):
        return one_line(message)
    return one_line(" ".join(_text(entry.get(key)) for key in ("resource", "field", "code")))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(text: str | None) -> float | None:
    """A header's number of seconds, ``None`` for what is blank or none."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
