"""GitHub's API for one repository, with the one loop that decides what is sent again.

What only reads is sent again after trouble of GitHub's own or of the network. What writes is sent
again only if it surely did nothing: a rate limit, a connection that never came about. Otherwise
nobody knows whether it happened, and the caller has to look.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any, Literal

import requests
from github import Auth, Github
from github.GithubException import GithubException
from msgspec import Struct

from reviewbot.errors import ReviewbotError
from reviewbot.text.plain import plain
from reviewbot.text.secrets import redact
from reviewbot.version import __version__

API_VERSION = "2022-11-28"
JSON = "application/vnd.github+json"
ATTEMPTS = 4
SECONDS = 30  # for one answer
MAX_PAUSE = 10.0
# https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api: a
# secondary limit that does not say how long it holds ends after a minute or more.
SECONDARY_SECONDS = 60.0
PATIENCE = 300.0  # seconds that a run may wait for rate limits, all together
MAX_WORDS = 300
MAX_PAGES = 30

FaultKind = Literal[
    "not_authorized",  # the token is none
    "not_permitted",  # the token may not do this
    "gone",  # there is no such thing (any more), or it is locked or archived
    "stale",  # the head moved on
    "invalid",  # GitHub refuses what was sent
    "deferred",  # a rate limit holds longer than this run can wait
    "unsure",  # it may have been done
    "failed",  # anything else; nothing was done
]
LIMIT = re.compile(
    r"^API rate limit exceeded|secondary rate limit|submitted too quickly|abuse detection"
    r"|please retry your request again later\.$|please wait a few minutes before you try again\.$",
    re.IGNORECASE,
)
# Waiting does not change these, whatever the headers say about a limit.
NO_PERMISSION = re.compile(r"not accessible by|is locked|archived|must have", re.IGNORECASE)
PERMIT = "give the token the permission, see docs/github.md"
LATER = "run the job again later"
# What GitHub's words mean, whatever the status. The first match counts.
WORDS: tuple[tuple[re.Pattern[str], FaultKind, str], ...] = (
    (
        re.compile(r"is locked|lock prevents|archived so is read-only", re.IGNORECASE),
        "gone",
        "unlock the conversation",
    ),
    (
        re.compile(
            r"(?:oid|commit_?id)\W* is not part of the pull request|no commit found for sha"
            r"|not a fast[ -]forward|expected branch to point to"
            r"|no commit exists with specified expectedheadoid|is at [0-9a-f]{40,64} but expected",
            re.IGNORECASE,
        ),
        "stale",
        "the run for the newer commit does it",
    ),
    (
        re.compile(
            r"repository rule violations|made through a pull request|protected branch"
            r"|not permitted to create",
            re.IGNORECASE,
        ),
        "not_permitted",
        "see the rules of the branch, and the repository's settings under Actions",
    ),
)
STATUSES: Mapping[int, tuple[FaultKind, str]] = {
    401: ("not_authorized", "the input github_token is no valid token"),
    403: ("not_permitted", PERMIT),
    404: ("gone", ""),
    410: ("gone", ""),
    413: ("invalid", ""),
    422: ("invalid", ""),
    451: ("gone", ""),
}
# The type of an error in GraphQL.
TYPES: Mapping[str, tuple[FaultKind, str]] = {
    "STALE_DATA": ("stale", "the run for the newer commit does it"),
    "FORBIDDEN": ("not_permitted", PERMIT),
    "INSUFFICIENT_SCOPES": ("not_permitted", PERMIT),
    "NOT_FOUND": ("gone", ""),
    "UNPROCESSABLE": ("invalid", ""),
}


class GitHubError(ReviewbotError):
    """GitHub did not do what it was asked for."""

    def __init__(self, kind: FaultKind, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint or None)
        self.kind = kind


class Answer(Struct, frozen=True):
    """A response. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def is_page(self) -> bool:
        """A page for browsers, from GitHub's front or from something before it."""
        return self.headers.get("content-type", "").lower().startswith("text/html")

    def words(self) -> str:
        """What it says: a message, and both shapes of `errors` of a 422."""
        try:
            body = json.loads(self.text)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            return "an HTML page" if self.is_page else ""
        errors = body.get("errors")
        entries = errors[:20] if isinstance(errors, list) else [errors] if errors else []
        reasons = [
            entry if isinstance(entry, str) else str(entry.get("message") or entry.get("code"))
            for entry in entries
            if isinstance(entry, str | dict)
        ]
        return ": ".join(filter(None, (str(body.get("message") or ""), ", ".join(reasons))))


class GraphqlFault(Struct, frozen=True):
    """An error in an answer of GraphQL. `path` leads to what could not be read."""

    message: str
    type: str = ""
    path: tuple[str, ...] = ()


class Client:
    """Calls GitHub as one account. Not safe for several threads.

    Args:
        repository: `owner/name`.
        api_url: of GitHub Enterprise Server, for example https://git.example.org/api/v3.
        sleep: waits for a number of seconds.
    """

    def __init__(
        self,
        auth: Auth.Auth,
        repository: str,
        *,
        api_url: str = "https://api.github.com",
        patience: float = PATIENCE,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._github = Github(
            auth=auth,
            base_url=api_url.rstrip("/"),
            timeout=SECONDS,
            retry=None,
            seconds_between_requests=0,
            seconds_between_writes=0,
            user_agent=f"reviewbot/{__version__}",
            api_version=API_VERSION,
        )
        self.repository = repository
        self.calls = 0
        self._patience = patience
        self._sleep = sleep

    def close(self) -> None:
        self._github.close()

    def read(self, path: str, doing: str, *, accept: str = JSON, **parameters: str) -> Any:
        """The JSON at a path below the repository; text for other media types.

        Raises GitHubError.
        """
        answer = self._send("GET", self._path(path), doing, None, True, accept, parameters)
        return _json(answer) if accept == JSON else answer.text

    def location(self, path: str, doing: str) -> str:
        """Where GitHub sends who asks for a path. Raises GitHubError."""
        answer = self._send("GET", self._path(path), doing, None, True, JSON, {})
        return answer.headers.get("location", "")

    def pages(self, path: str, doing: str, **parameters: str) -> list[Any]:
        """The entries of a list, at most MAX_PAGES pages of a hundred."""
        found: list[Any] = []
        for number in range(1, MAX_PAGES + 1):
            answer = self._send(
                "GET",
                self._path(path),
                doing,
                None,
                True,
                JSON,
                {**parameters, "per_page": "100", "page": str(number)},
            )
            entries = _json(answer)
            found += entries if isinstance(entries, list) else []
            if 'rel="next"' not in answer.headers.get("link", ""):
                break
        return found

    def write(self, verb: str, path: str, doing: str, body: Mapping[str, Any] | None = None) -> Any:
        """Do one thing, at most once. Returns the JSON of the answer, None if there is none."""
        answer = self._send(verb, self._path(path), doing, body, False, JSON, {})
        return _json(answer) if answer.text else None

    def query(
        self, text: str, variables: Mapping[str, Any], doing: str
    ) -> tuple[dict[str, Any], tuple[GraphqlFault, ...]]:
        """Data, with null where something may not be read, and why. Raises GitHubError."""
        body = {"query": text, "variables": dict(variables)}
        for attempt in range(1, ATTEMPTS + 1):
            url = self._github.requester.graphql_url
            answer = self._send("POST", url, doing, body, True, JSON, {})
            data, faults = _graphql(answer)
            if any(fault.type == "RATE_LIMITED" or LIMIT.search(fault.message) for fault in faults):
                self._wait(doing, _seconds_of_limit(answer, attempt), attempt)
            elif data is None and _is_passing(faults) and attempt < ATTEMPTS:
                self._pause(attempt)
            else:
                return data or {}, faults
        raise GitHubError("deferred", f"GitHub was asked to {doing}: rate limit", hint=LATER)

    def mutate(self, name: str, input: Mapping[str, Any], selection: str, doing: str) -> Any:
        """Do one thing by a mutation. Raises GitHubError."""
        kind = f"{name[0].upper()}{name[1:]}Input!"
        text = f"mutation($input: {kind}) {{ {name}(input: $input) {{ {selection} }} }}"
        body = {"query": text, "variables": {"input": dict(input)}}
        for attempt in range(1, ATTEMPTS + 1):
            url = self._github.requester.graphql_url
            answer = self._send("POST", url, doing, body, False, JSON, {})
            data, faults = _graphql(answer)
            done = (data or {}).get(name)
            if done is not None and not faults:
                return done
            if any(fault.type == "RATE_LIMITED" or LIMIT.search(fault.message) for fault in faults):
                self._wait(doing, _seconds_of_limit(answer, attempt), attempt)
                continue
            if done is not None or not faults or _is_passing(faults):
                raise GitHubError("unsure", _sentence(doing, _graphql_words(faults)))
            raise graphql_error(faults, doing)
        raise GitHubError("deferred", f"GitHub was asked to {doing}: rate limit", hint=LATER)

    def _path(self, path: str) -> str:
        return f"/repos/{self.repository}{path}" if path.startswith("/") else path

    def _send(
        self,
        verb: str,
        url: str,
        doing: str,
        body: Mapping[str, Any] | None,
        is_read: bool,
        accept: str,
        parameters: Mapping[str, str],
    ) -> Answer:
        for attempt in range(1, ATTEMPTS + 1):
            self.calls += 1
            try:
                status, headers, text = self._github.requester.requestJson(
                    verb, url, dict(parameters), {"Accept": accept}, body
                )
            except (requests.RequestException, GithubException, RuntimeError) as error:
                was_sent = not isinstance(error, requests.ConnectTimeout) and not _is_refused(error)
                if attempt == ATTEMPTS or (was_sent and not is_read):
                    words = f"no whole answer ({type(error).__name__})"
                    kind: FaultKind = "failed" if is_read or not was_sent else "unsure"
                    raise GitHubError(kind, _sentence(doing, words), hint=LATER) from error
                self._pause(attempt)
                continue
            answer = Answer(status, headers, text)
            if status in (403, 429) and _is_limit(answer):
                self._wait(doing, _seconds_of_limit(answer, attempt), attempt)
            elif status >= 500 or status == 408 or (answer.is_page and status < 300):
                if attempt == ATTEMPTS or not is_read:
                    kind = "failed" if is_read else "unsure"
                    words = f"{status}: {answer.words()}"
                    raise GitHubError(kind, _sentence(doing, words), hint=LATER)
                self._pause(attempt)
            elif status < 300 or status == 302:
                return answer
            else:
                raise _refusal(answer, doing)
        raise GitHubError("deferred", f"GitHub was asked to {doing}: rate limit", hint=LATER)

    def _pause(self, attempt: int) -> None:
        self._sleep(min(MAX_PAUSE, 2.0 ** (attempt - 1)) * random.uniform(0.5, 1.0))

    def _wait(self, doing: str, seconds: float, attempt: int) -> None:
        if seconds > self._patience or attempt == ATTEMPTS:
            message = f"GitHub was asked to {doing}: its rate limit holds for {seconds:.0f} s more"
            raise GitHubError("deferred", message, hint=LATER)
        self._patience -= seconds
        self._sleep(seconds)


def graphql_error(faults: Sequence[GraphqlFault], doing: str) -> GitHubError:
    """The error for what GraphQL did not do."""
    for fault in faults:
        for pattern, kind, hint in WORDS:
            if pattern.search(fault.message):
                return GitHubError(kind, _sentence(doing, fault.message), hint=hint)
    typed = next((fault for fault in faults if fault.type in TYPES), None)
    kind, hint = TYPES[typed.type] if typed else ("failed", LATER)
    return GitHubError(kind, _sentence(doing, _graphql_words(faults)), hint=hint)


def one_line(text: str) -> str:
    """Words from outside for a message: one line, short, no secret, nothing for a terminal."""
    line = " ".join(plain(redact(text[: 10 * MAX_WORDS])[0]).split())
    return line if len(line) <= MAX_WORDS else f"{line[: MAX_WORDS - 1]}…"


def _sentence(doing: str, words: str) -> str:
    said = f" and answered {one_line(words)}" if words else ""
    return f"GitHub was asked to {doing}{said}"


def _refusal(answer: Answer, doing: str) -> GitHubError:
    words = answer.words()
    for pattern, kind, hint in WORDS:
        if pattern.search(words):
            return GitHubError(kind, _sentence(doing, f"{answer.status}: {words}"), hint=hint)
    kind, hint = STATUSES.get(answer.status, ("failed", LATER))
    return GitHubError(kind, _sentence(doing, f"{answer.status}: {words}"), hint=hint)


def _is_limit(answer: Answer) -> bool:
    words = answer.words()
    says = answer.headers.get("retry-after", "").strip() or _is_used_up(answer)
    return (
        answer.status == 429
        or LIMIT.search(words) is not None
        or (bool(says) and not NO_PERMISSION.search(words))
    )


def _seconds_of_limit(answer: Answer, attempt: int) -> float:
    """As GitHub says, or until the reset by its own clock, or a minute and more."""
    after = answer.headers.get("retry-after", "").strip()
    if after.isdecimal() and len(after) < 8:
        return float(after)
    reset = answer.headers.get("x-ratelimit-reset", "").strip()
    if _is_used_up(answer) and reset.isdecimal() and len(reset) < 12:
        try:
            now = parsedate_to_datetime(answer.headers.get("date", "")).timestamp()
        except ValueError:
            now = time.time()
        return max(0.0, float(reset) - now) + 1
    return SECONDARY_SECONDS * 2.0 ** (attempt - 1)


def _is_used_up(answer: Answer) -> bool:
    return answer.headers.get("x-ratelimit-remaining", "").strip() == "0"


def _is_refused(error: BaseException) -> bool:
    """Whether the connection never came about."""
    return isinstance(error, requests.ConnectionError) and "NewConnectionError" in repr(error)


def _is_passing(faults: Sequence[GraphqlFault]) -> bool:
    """Trouble of GitHub's own, which has no type and says so."""
    return any(
        fault.type in ("", "INTERNAL", "SERVICE_UNAVAILABLE", "TIMEOUT")
        and "something went wrong" in fault.message.lower()
        for fault in faults
    )


def _graphql_words(faults: Sequence[GraphqlFault]) -> str:
    return faults[0].message if faults else "no data"


def _graphql(answer: Answer) -> tuple[dict[str, Any] | None, tuple[GraphqlFault, ...]]:
    body = _json(answer)
    body = body if isinstance(body, dict) else {}
    entries = body.get("errors")
    faults = tuple(
        GraphqlFault(
            message=str(entry.get("message") or ""),
            type=str(entry.get("type") or ""),
            path=tuple(map(str, entry.get("path") or ())),
        )
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict)
    )
    data = body.get("data")
    if data is None and not faults:
        faults = (GraphqlFault("something went wrong: no answer of GraphQL"),)
    return (data if isinstance(data, dict) else None), faults


def _json(answer: Answer) -> Any:
    try:
        return json.loads(answer.text)
    except (ValueError, RecursionError) as error:
        message = f"GitHub's answer ({answer.status}) is no JSON"
        raise GitHubError("unsure", message, hint=LATER) from error
