"""How requests travel: PyGithub's requester over a connection of our own. Only this module names ``github`` and ``requests``.

PyGithub 2.10 (read in its ``Requester.py``) reads bodies without bound, follows a 301 to any port of the host and drops its
query, repeats a 301 for ever, sleeps and asks again for ever on a 202, and raises ``ValueError`` for odd rate-limit headers.
So it is shown none of that: it makes the address, the headers and the body of a request and hands them to ``_Connection``,
which keeps the real answer and tells PyGithub only that there was one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from http.cookiejar import DefaultCookiePolicy
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
from cryptography.exceptions import UnsupportedAlgorithm
from github import Auth
from github.Requester import Requester
from jwt import PyJWTError
from urllib3.exceptions import ConnectTimeoutError, HTTPError, MaxRetryError, NewConnectionError

from reviewbot.adapters.github.exchange import Answer, Call, LostError
from reviewbot.adapters.panel.origin import Origin, check_origin
from reviewbot.errors import ConfigError, ForgeError
from reviewbot.ports import Clock

API_VERSION = "2022-11-28"
MOST_BYTES = 24_000_000
"""The largest answer that is read. GitHub itself stops a diff at 20,000 lines, and a page at 100 entries of at most 64 kB."""

CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 40.0
"""Between two bytes. GitHub ends a GraphQL query after 10 s."""

WHOLE_SECONDS = 120.0
IDLE_SECONDS = 30.0
"""After which a kept connection is not trusted any more: somebody on the way may have forgotten it, and a write that is sent
into it would be one of which nobody knows whether it was done."""

MOST_REDIRECTS = 3
_PART = 65_536

#: Which redirects keep the verb. A 302 or 303 is followed for GET only.
_SAME_VERB = frozenset({301, 307, 308})
_GET_ONLY = frozenset({302, 303})

#: What PyGithub, PyJWT and cryptography raise for a key that is none, or a public one.
_NO_SIGNATURE = (PyJWTError, UnsupportedAlgorithm, ValueError, TypeError, AttributeError, AssertionError)

_NEVER_SENT = (
    requests.exceptions.ConnectTimeout, requests.exceptions.ProxyError, requests.exceptions.SSLError,
    requests.exceptions.InvalidURL, requests.exceptions.InvalidHeader, requests.exceptions.InvalidSchema,
)  # fmt: skip


class GithubWire:
    """Requests to one origin, below one path. For one thread."""

    def __init__(self, api_url: str, *, user_agent: str, clock: Clock) -> None:
        self._origin = _origin_of(api_url)
        self._clock = clock
        self._bearer = _Bearer()
        self._connection = _Connection(self._origin, clock)
        self._requester = Requester(
            auth=self._bearer, base_url=api_url.rstrip("/"), timeout=int(SILENCE_SECONDS), user_agent=user_agent, per_page=100,
            verify=True, retry=0, pool_size=1, seconds_between_requests=0, seconds_between_writes=0, lazy=True,
            api_version=API_VERSION,
        )  # fmt: skip
        self.graphql_url = self._requester.graphql_url

    def exchange(self, call: Call, bearer: str) -> Answer:
        """See :class:`~reviewbot.adapters.github.exchange.Wire`."""
        self._bearer.secret = bearer
        target = self._checked(call.path)
        for _ in range(MOST_REDIRECTS + 1):
            answer = _without(bearer, self._once(call, target))
            if answer.status in call.passing:
                return answer
            onward = _onward(call, answer)
            if onward is None:
                return answer
            target = self._checked(self._joined(target, onward))
        raise ForgeError(f"GitHub redirects without end, asked to {call.doing}", hint="check the address of the API")

    def fetch(self, url: str, most: int) -> bytes:
        """See :class:`~reviewbot.adapters.github.exchange.Wire`. https, or this machine; no redirect is followed."""
        connection = _Connection(_somewhere(url), self._clock, most=most)
        parts = urlsplit(url)
        try:
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("GET", target, None, {"Accept": "*/*", "Accept-Encoding": "identity"})
            connection.getresponse()
        finally:
            connection.close()
        if connection.answer.status != 200:
            raise ForgeError(
                f"what GitHub keeps elsewhere was answered with {connection.answer.status}", hint="run it again later"
            )
        return connection.answer.body

    def close(self) -> None:
        """End the connections."""
        self._requester.close()
        self._connection.close()

    def _once(self, call: Call, target: str) -> Answer:
        query = dict(call.query) if target == call.path else {}
        # PyGithub adds to the headers it is given.
        headers = {"Accept": call.accept, "Accept-Encoding": "identity"}
        self._requester.requestJson(call.verb, target, query, headers, call.body, cnx=self._connection)  # type: ignore[arg-type]
        return self._connection.answer

    def _joined(self, target: str, onward: str) -> str:
        """Where a redirect leads from ``target``: a whole address, empty for none."""
        here = self._requester.base_url + target if target.startswith("/") else target
        try:
            return urljoin(here, onward)
        except ValueError:
            return ""

    def _checked(self, target: str) -> str:
        """An address to which a token may go: ours, or one on the same origin. Raises ForgeError."""
        if target.startswith("/") and not target.startswith("//"):
            return target
        try:
            origin: Origin | None = _somewhere(target)
        except ForgeError:
            origin = None
        if origin != self._origin:
            raise ForgeError(
                f"GitHub sends us from {self._origin} to another host, which is not followed", hint="check the address of the API"
            )
        return target


def app_token(app_id: str, private_key: str) -> str:
    """A token that says: I am this app, for five minutes. Raises ConfigError for a key that cannot sign."""
    try:
        return str(Auth.AppAuth(app_id, private_key).token)
    except _NO_SIGNATURE as exc:
        hint = "give the whole PEM file that GitHub made"
        raise ConfigError("the private key of the GitHub App cannot sign", hint=hint) from exc


class _Bearer(Auth.Auth):
    """The token of the request at hand. PyGithub masks it where it logs."""

    secret = ""

    @property
    def token_type(self) -> str:
        return "Bearer"

    @property
    def token(self) -> str:
        return self.secret


class _Told:
    """All that PyGithub learns of an answer."""

    status = 200

    def getheaders(self) -> tuple[tuple[str, str], ...]:
        return ()

    def read(self) -> str:
        return ""


class _Plain(requests.Session):
    """Redirects are looked at by nobody but us. requests prepares the next request even where it may not follow: it reads the
    whole body for that, and raises ``ValueError`` for an odd address."""

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """None."""
        del resp
        return None


class _Connection:
    """One origin. Redirects are not followed here, cookies not kept, compressed bodies not asked for."""

    def __init__(self, origin: Origin, clock: Clock, *, most: int = MOST_BYTES) -> None:
        self._address = str(origin)
        self._clock = clock
        self._used = clock.seconds()
        self._most = most
        self._session = _Plain()
        # Keeps requests from looking for a password in the user's .netrc.
        self._session.auth = Requester.noopAuth
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
        # Proxies and certificate stores of the environment hold for https beyond this machine.
        self._session.trust_env = origin.scheme == "https" and not origin.is_loopback
        self._send: Callable[[], requests.Response] = requests.Response
        self.answer = Answer(0)

    def request(self, verb: str, url: str, body: str | None, headers: dict[str, str], stream: bool = False) -> None:  # noqa: PLR0917
        """Called by PyGithub with the path, the query and the headers of a request."""
        del stream
        if self._clock.seconds() - self._used > IDLE_SECONDS:
            self._session.close()

        def send() -> requests.Response:
            return self._session.request(
                verb, self._address + url, data=body, headers=headers, stream=True, allow_redirects=False,
                timeout=(CONNECT_SECONDS, SILENCE_SECONDS),
            )  # fmt: skip

        self._send = send

    def getresponse(self) -> _Told:
        """Called by PyGithub. Raises LostError."""
        until = self._clock.seconds() + WHOLE_SECONDS
        try:
            with self._send() as response:
                headers = {name.lower(): value for name, value in response.headers.items()}
                self.answer = Answer(response.status_code, headers, b"".join(self._parts(response, headers, until)))
        except (requests.exceptions.RequestException, HTTPError, OSError) as exc:
            raise _lost(exc) from exc
        finally:
            self._used = self._clock.seconds()
        return _Told()

    def _parts(self, response: requests.Response, headers: dict[str, str], until: float) -> Iterator[bytes]:
        if headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            raise LostError("it sent a compressed answer, which was not asked for", is_sent=True, again=False)
        left = self._most
        while part := response.raw.read1(_PART, decode_content=False):
            left -= len(part)
            if left < 0:
                raise LostError(f"its answer is larger than {self._most // 1_000_000} MB", is_sent=True, again=False)
            if self._clock.seconds() > until:
                raise LostError(f"its answer was not whole after {WHOLE_SECONDS:.0f} s", is_sent=True)
            yield part

    def close(self) -> None:
        self._session.close()


def _without(secret: str, answer: Answer) -> Answer:
    """An answer that does not say our own token back to us, of whatever form it is: words of answers end in messages."""
    raw = secret.encode()
    return replace(answer, body=answer.body.replace(raw, b"[token]")) if raw in answer.body else answer


def _somewhere(url: str) -> Origin:
    """The origin of an address that GitHub told. Raises ForgeError where nothing may be asked for there."""
    try:
        return check_origin(url.partition("?")[0].partition("#")[0], has_key=True)
    except ConfigError:
        raise ForgeError("GitHub names an address that is not asked for anything", hint="run it again later") from None


def _origin_of(api_url: str) -> Origin:
    try:
        return check_origin(api_url, has_key=True)
    except ConfigError as exc:
        # The words of exc are about model providers.
        raise ConfigError(
            "the address of the GitHub API is not one that a token may be sent to",
            hint="write it as https://api.github.com, or https://HOST/api/v3 for GitHub Enterprise Server",
        ) from exc


def _onward(call: Call, answer: Answer) -> str | None:
    """Where a redirect leads, where it may be followed at all."""
    may = answer.status in _SAME_VERB or (answer.status in _GET_ONLY and call.verb == "GET")
    return answer.headers.get("location") if may else None


def _lost(exc: Exception) -> LostError:
    """Words for an exception of the transport. Its own are not repeated: they may hold headers."""
    if isinstance(exc, _NEVER_SENT) or _never_connected(exc):
        tls = isinstance(exc, requests.exceptions.SSLError)
        return LostError("no safe connection" if tls else "it cannot be reached", is_sent=False, again=not tls)
    silent = isinstance(exc, requests.exceptions.Timeout)
    return LostError("no answer in time" if silent else "the connection was cut before the answer was whole", is_sent=True)


def _never_connected(exc: Exception) -> bool:
    inner: Any = exc.args[0] if exc.args else None
    reason = inner.reason if isinstance(inner, MaxRetryError) else None
    return isinstance(reason, NewConnectionError | ConnectTimeoutError)
