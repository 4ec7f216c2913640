"""GitHub's API for one repository, with the one loop that decides what is sent again.

What only reads is sent again after trouble of GitHub's own or of the network. What writes is sent
again only if it surely did nothing: a rate limit, a redirect, a connection that never came about.
Otherwise nobody knows whether it happened, and the caller has to look.

PyGithub signs in, and renews the tokens of apps. It sends nothing else: its requester follows a 301
without the query and no 307, and fails with ValueError at a rate limit that is no number.
"""

import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import msgspec
import requests
from github import Auth, Github
from github.GithubException import GithubException
from jwt import PyJWTError
from msgspec import Struct
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

from reviewbot.errors import ReviewbotError
from reviewbot.text.plain import plain, shortened
from reviewbot.text.secrets import redact
from reviewbot.version import __version__

HEADERS = {
    "Accept": "application/vnd.github+json",
    "User-Agent": f"reviewbot/{__version__}",
    "X-GitHub-Api-Version": "2022-11-28",
}
ATTEMPTS = 4
SECONDS = 30  # for one answer
MAX_PAUSE = 10.0
PATIENCE = 300.0  # seconds that a run may wait for rate limits, all together
MAX_WORDS = 300

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
    r"API rate limit (?:already )?exceeded|secondary rate limit|submitted too quickly"
    r"|abuse detection|please retry your request again later\.$"
    r"|please wait a few minutes before you try again\.$",
    re.IGNORECASE,
)
LIMIT_TYPES = ("RATE_LIMIT", "RATE_LIMITED")  # of errors in GraphQL
# Waiting does not change these, whatever the headers say about a limit.
NO_PERMISSION = re.compile(r"not accessible by|is locked|archived|must have", re.IGNORECASE)
PERMIT = "give the job the permission, as the workflows of reviewbot init do"
LATER = "run the job again later"
NEWER = "the run for the newer commit does it"
# What GitHub's words mean, whatever the status. The first match counts.
WORDS: tuple[tuple[str, FaultKind, str], ...] = (
    (r"is locked|lock prevents|archived so is read-only", "gone", "unlock the conversation"),
    (r"no common ancestor", "gone", "rebase the branch onto its base"),
    (
        r"(?:oid|commit_?id)\W* is not part of the pull request|no commit found for sha"
        r"|not a fast[ -]forward|expected branch to point to"
        r"|no commit exists with specified expectedheadoid|is at [0-9a-f]{40,64} but expected",
        "stale",
        NEWER,
    ),
    (
        r"repository rule violations|made through a pull request|protected branch"
        r"|not permitted to create",
        "not_permitted",
        "see the rules of the branch, and the repository's settings under Actions",
    ),
)
# What a status of REST means, or the type of an error in GraphQL.
MEANINGS: Mapping[int | str, tuple[FaultKind, str]] = {
    401: ("not_authorized", "check the token, or the id and the key of the app"),
    "STALE_DATA": ("stale", NEWER),
    **dict.fromkeys((403, "FORBIDDEN", "INSUFFICIENT_SCOPES"), ("not_permitted", PERMIT)),
    **dict.fromkeys((404, 410, 451, "NOT_FOUND"), ("gone", "")),
    **dict.fromkeys((413, 422, "UNPROCESSABLE"), ("invalid", "")),
}


class GitHubError(ReviewbotError):
    def __init__(self, kind: FaultKind, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint or None)
        self.kind = kind


class CallError(GitHubError):
    """One call failed, and others may work: neither the token nor a rate limit ends the job."""


class GraphqlFault(Struct, frozen=True):
    message: str
    type: str = ""


class Answer(Struct, frozen=True):
    """A response, and its JSON. `is_whole`: it is JSON."""

    status: int
    headers: Mapping[str, str]
    body: Any = None
    is_whole: bool = True

    def header(self, name: str) -> str:
        return self.headers.get(name, "").strip()

    def field(self, name: str) -> Any:
        return self.body.get(name) if isinstance(self.body, dict) else None

    @property
    def data(self) -> dict[str, Any]:
        data = self.field("data")
        return data if isinstance(data, dict) else {}

    @property
    def faults(self) -> tuple[GraphqlFault, ...]:
        """The errors of GraphQL, and in both of their shapes those of a 422."""
        errors, found = self.field("errors") or [], []
        for error in errors if isinstance(errors, list) else [errors]:
            about = error if isinstance(error, dict) else {"message": error}
            words = about.get("message") or about.get("code") or ""
            found.append(GraphqlFault(str(words), str(about.get("type") or "")))
        return tuple(found)

    @property
    def is_used_up(self) -> bool:
        return self.header("x-ratelimit-remaining") == "0"

    @property
    def words(self) -> str:
        kind = "" if self.is_whole else self.header("content-type") or "no JSON"
        said = (self.field("message") or kind, *(fault.message for fault in self.faults))
        return f"{self.status} {': '.join(str(words) for words in said if words)}"


class Client:
    """Calls GitHub as one account, about the repository `owner/name`. Not safe for threads."""

    def __init__(
        self,
        auth: Auth.Auth,
        repository: str,
        *,
        api_url: str = "https://api.github.com",
        patience: float = PATIENCE,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._url = api_url.rstrip("/")
        # By this, an app asks for its tokens.
        self._github = Github(
            auth=auth, base_url=self._url, timeout=SECONDS, retry=None, seconds_between_writes=0
        )
        self._auth = auth
        self._session = requests.Session()
        self._session.auth = lambda request: request  # else a .netrc of the user counts more
        self.repository = repository
        self.may_resolve = True  # threads, until GitHub says otherwise
        self._patience = patience
        self._sleep = sleep

    def close(self) -> None:
        self._github.close()
        self._session.close()

    def read(self, path: str, doing: str, **parameters: str) -> Any:
        """The JSON at a path below the repository. Raises GitHubError."""
        return self._send("GET", path, doing, is_read=True, params=parameters).body

    def location(self, path: str, doing: str) -> str:
        """The address on another host to which GitHub sends who asks for a path."""
        return self._send("GET", path, doing, is_read=True, ends=302).header("location")

    def write(self, verb: str, path: str, doing: str, body: Mapping[str, Any] | None = None) -> Any:
        """Do one thing, at most once. Returns the JSON of the answer, None if there is none."""
        return self._send(verb, path, doing, json=body).body

    def query(
        self, text: str, variables: Mapping[str, Any], doing: str
    ) -> tuple[dict[str, Any], tuple[GraphqlFault, ...]]:
        """Data, with null where something may not be read, and why. Raises GitHubError."""
        owner, _, name = self.repository.partition("/")
        body = {"query": text, "variables": {"owner": owner, "name": name, **variables}}
        answer = self._send("POST", "", doing, is_read=True, json=body)
        return answer.data, answer.faults

    def mutate(
        self, name: str, input: Mapping[str, Any], doing: str, fields: str = "__typename"
    ) -> Any:
        """Do one thing by a mutation. Returns fields of what it answers. Raises GitHubError."""
        kind = f"{name[0].upper()}{name[1:]}Input!"
        text = f"mutation($input: {kind}) {{ {name}(input: $input) {{ {fields} }} }}"
        body = {"query": text, "variables": {"input": dict(input)}}
        answer = self._send("POST", "", doing, json=body)
        done = answer.data.get(name)
        if done is not None and not answer.faults:
            return done
        error = graphql_error(answer.faults, doing)
        raise error if done is None else CallError("unsure", str(error), hint=LATER)

    def _send(
        self, verb: str, path: str, doing: str, *, is_read: bool = False, ends: int = 0, **sent: Any
    ) -> Answer:
        """`path` is empty for GraphQL. `ends`: a status that is an answer, beside those of 2xx."""
        url = f"{self._url}/repos/{self.repository}{path}"
        url = url if path else self._github.requester.graphql_url
        for attempt in range(1, ATTEMPTS + 1):
            is_unsent = False
            try:
                answer = self._exchange(verb, url, sent)
            except (requests.exceptions.InvalidHeader, UnicodeEncodeError, PyJWTError):
                message = f"GitHub cannot be asked to {doing}: the token or the key is malformed"
                kind, hint = MEANINGS[401]
                raise GitHubError(kind, message, hint=hint) from None
            except (requests.RequestException, ValueError) as error:
                reason = getattr(next(iter(error.args), None), "reason", None)
                is_unsent = isinstance(reason, NewConnectionError | ConnectTimeoutError)
                words = f"nothing whole ({type(error).__name__})"
            else:
                status, words, target = answer.status, answer.words, answer.header("location")
                if _is_limit(answer):
                    seconds = _seconds_of_limit(answer, attempt)
                    if seconds > self._patience or attempt == ATTEMPTS:
                        words = f"that its rate limit holds for {seconds:.0f} s more"
                        raise _error(doing, words, "deferred", LATER)
                    self._patience -= seconds
                    self._sleep(seconds)
                    continue
                if status in (301, 302, 307, 308) and target.startswith(f"{self._url}/"):
                    url = target
                    sent.pop("params", None)
                    continue
                if not _is_trouble(answer, is_graphql=not path):
                    if status < 300 or status == ends:
                        return answer
                    raise _error(doing, words, *MEANINGS.get(status, ("failed", LATER)))
            if attempt == ATTEMPTS or not (is_read or is_unsent):
                raise _error(doing, words, "failed" if is_read or is_unsent else "unsure", LATER)
            self._sleep(min(MAX_PAUSE, 2.0 ** (attempt - 1)) * random.uniform(0.5, 1.0))
        raise _error(doing, "with one redirect after another", "failed", LATER)

    def _exchange(self, verb: str, url: str, sent: Mapping[str, Any]) -> Answer:
        headers = dict(HEADERS)
        try:
            self._auth.authentication(headers)
        except GithubException as error:  # an app asked for a token
            return Answer(error.status, error.headers or {}, error.data)
        response = self._session.request(
            verb, url, headers=headers, timeout=SECONDS, allow_redirects=False, **sent
        )
        status = response.status_code
        try:
            return Answer(status, response.headers, msgspec.json.decode(response.content))
        except (ValueError, RecursionError):
            return Answer(status, response.headers, is_whole=status == 204)


@contextmanager
def as_described() -> Iterator[None]:
    """Raises CallError where an answer is read that has another shape than GitHub describes."""
    try:
        yield
    except (msgspec.ValidationError, AttributeError, KeyError, TypeError) as error:
        words = one_line(f"{type(error).__name__}: {error}")
        raise CallError("failed", f"GitHub's answer has another shape: {words}") from error


def graphql_error(faults: Sequence[GraphqlFault], doing: str) -> GitHubError:
    known = [MEANINGS[fault.type] for fault in faults if fault.type in MEANINGS]
    words = "; ".join(fault.message for fault in faults) or "no data"
    return _error(doing, words, *(known[0] if known else ("failed", LATER)))


def one_line(text: str) -> str:
    """Words from outside for a message: one line, short, no secret, nothing for a terminal."""
    return shortened(" ".join(plain(redact(text[: 10 * MAX_WORDS])[0]).split()), MAX_WORDS)


def _error(doing: str, words: str, kind: FaultKind, hint: str) -> GitHubError:
    rows = (row for row in WORDS if re.search(row[0], words, re.IGNORECASE))
    _, kind, hint = next(rows, ("", kind, hint))
    message = f"GitHub was asked to {doing} and answered {one_line(words)}"
    ends_job = kind in ("not_authorized", "deferred")
    return (GitHubError if ends_job else CallError)(kind, message, hint=hint)


def _is_limit(answer: Answer) -> bool:
    if answer.status == 200:  # as GraphQL says it
        return any(f.type in LIMIT_TYPES or LIMIT.search(f.message) for f in answer.faults)
    if answer.status == 403 and LIMIT.search(answer.words) is None:
        says = answer.header("retry-after") != "" or answer.is_used_up
        return says and NO_PERMISSION.search(answer.words) is None
    return answer.status in (403, 429)


def _is_trouble(answer: Answer, is_graphql: bool) -> bool:
    """Whether nobody knows what GitHub did, because it failed or its answer is none."""
    if answer.status >= 300:
        return answer.status >= 500 or answer.status == 408
    # GraphQL's own trouble has no type, and says so.
    passes = any("something went wrong" in fault.message.lower() for fault in answer.faults)
    is_empty = not answer.data or None in answer.data.values()
    return not answer.is_whole or (is_graphql and is_empty and (passes or not answer.faults))


def _seconds_of_limit(answer: Answer, attempt: int) -> float:
    """As GitHub says, or until the reset, or a minute and more."""
    after, reset = answer.header("retry-after"), answer.header("x-ratelimit-reset")
    if after.isdecimal() and len(after) < 8:
        return float(after)
    if answer.is_used_up and reset.isdecimal() and len(reset) < 12:
        return max(0.0, float(reset) - time.time()) + 1
    # https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api: a
    # secondary limit that does not say how long it holds ends after a minute or more.
    return 60.0 * 2.0 ** (attempt - 1)
