"""The one HTTP client of providers: it talks to one origin, follows nobody, unpacks nothing, and reads no more than it may.

Also the words for what can go wrong on the way: exceptions of the transport, status codes, waiting times.
"""

from __future__ import annotations

import math
import ssl
from collections.abc import AsyncIterator, Mapping
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpx2
from anyio import EndOfStream

from reviewbot.adapters.panel.origin import Origin, check_origin
from reviewbot.errors import ConfigError
from reviewbot.ports import Account, Fault, ProviderError
from reviewbot.screen import secrets, strict_json

__all__ = [
    "CONNECT_SECONDS", "MOST_BYTES", "TRANSPORT_ERRORS", "Forbidden", "check_key", "check_origin", "client", "document",
    "fault_of_status", "one_line", "retry_after", "spoken", "timeouts", "transport_failure",
]  # fmt: skip

MOST_BYTES = 8_000_000
"""The largest answer that is read. 32,000 tokens of output are about 130 kB; a stream repeats its frame for every few words."""

CONNECT_SECONDS = 10.0
MOST_WORDS = 300

TRANSPORT_ERRORS: tuple[type[Exception], ...] = (
    httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, UnicodeEncodeError, OSError, EndOfStream,
)  # fmt: skip
"""What a request through :func:`client` raises. UnicodeEncodeError: a prompt with half a surrogate pair. The last two are
failures of TLS that httpx2 2.16 lets through as they are. ``TimeoutError`` is an OSError: who sets a deadline catches it
first."""

_FAULTS = {
    401: Fault.DENIED,
    402: Fault.SPENT,
    403: Fault.DENIED,
    404: Fault.NO_MODEL,
    408: Fault.SERVER,
    409: Fault.SERVER,
    413: Fault.TOO_LONG,
    425: Fault.SERVER,
    429: Fault.RATE_LIMITED,
    503: Fault.OVERLOADED,
    529: Fault.OVERLOADED,
}

#: What exceptions of the transport mean, the narrowest first.
_ON_THE_WAY: tuple[tuple[tuple[type[Exception], ...], Fault, str], ...] = (
    ((httpx2.ConnectTimeout, httpx2.PoolTimeout), Fault.NETWORK, "no connection in time"),
    ((httpx2.TimeoutException,), Fault.TIMEOUT, "no answer in time"),
    ((httpx2.ConnectError, httpx2.ProxyError), Fault.NETWORK, "cannot be reached"),
    (
        (httpx2.UnsupportedProtocol, httpx2.LocalProtocolError, httpx2.InvalidURL),
        Fault.INVALID,
        "the request could not be written as HTTP",
    ),
    ((UnicodeEncodeError,), Fault.INVALID, "the prompt holds what cannot be written as UTF-8"),
)

_LEAVING = frozenset(
    {"host", "connection", "accept", "accept-encoding", "content-type", "content-length", "transfer-encoding", "user-agent",
     "authorization", "x-api-key", "idempotency-key"}
)  # fmt: skip
_KEY_HEADERS = {"authorization": "Bearer {}", "x-api-key": "{}", "x-goog-api-key": "{}"}
#: The last is how the vendors' libraries tell themselves what to return.
_LEAVING_PREFIXES = ("anthropic-", "openai-", "x-goog-", "x-stainless-raw-response")


class Forbidden(httpx2.TransportError):
    """A request that must not leave, or an answer that must not be read. ``fault`` says what follows from it."""

    def __init__(self, message: str, fault: Fault) -> None:
        super().__init__(message)
        self.fault = fault


class _Capped(httpx2.AsyncByteStream):
    """A body that may not grow beyond ``most`` bytes."""

    def __init__(self, stream: httpx2.AsyncByteStream, most: int) -> None:
        self._stream = stream
        self._left = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            self._left -= len(part)
            if self._left < 0:
                raise Forbidden("the answer is larger than an answer may be", Fault.UNREADABLE)
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def client(account: Account, *, most_bytes: int = MOST_BYTES) -> httpx2.AsyncClient:
    """A client that sends to the account's origin only. Raises ConfigError for an address or a key that cannot be used.

    Of the headers only those leave that an API needs, and no key but the account's: libraries add what they find in the
    environment or know of the machine. Redirects are refused, not followed; cookies are not kept; compressed answers are
    refused before they are unpacked; a body is read up to ``most_bytes``. Proxies and certificate stores of the environment
    hold for https beyond this machine.
    """
    check_key(account)
    origin = check_origin(account.base_url, account.allow_plain_http, has_key=bool(account.key))

    async def leaving(request: httpx2.Request) -> None:
        url = request.url
        port = url.port if url.port is not None else {"http": 80, "https": 443}.get(url.scheme, 0)
        if Origin(url.scheme, url.host.lower(), port) != origin:
            raise Forbidden(f"a request to {url.scheme}://{url.host} was stopped: this account is at {origin}", Fault.INVALID)
        _strip(request.headers, account)

    async def arriving(response: httpx2.Response) -> None:
        if response.is_redirect:
            raise Forbidden(f"{origin} answered with a redirect, which is not followed", Fault.UNREADABLE)
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            raise Forbidden(f"{origin} sent a compressed answer, which was not asked for", Fault.UNREADABLE)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Capped(response.stream, most_bytes)

    plain = origin.scheme == "http"
    return httpx2.AsyncClient(
        follow_redirects=False,
        trust_env=not plain and not origin.is_loopback,
        # Plain http needs no certificates, and loading them takes 50 ms. This context trusts nobody.
        verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True,
        cookies=CookieJar(policy=DefaultCookiePolicy(allowed_domains=())),
        timeout=timeouts(120.0),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=15.0),
        event_hooks={"request": [leaving], "response": [arriving]},
    )


def _strip(headers: httpx2.Headers, account: Account) -> None:
    for name in list(headers):
        if name not in _LEAVING and not name.startswith(_LEAVING_PREFIXES):
            del headers[name]
    headers["accept-encoding"] = "identity"
    for name, form in _KEY_HEADERS.items():
        if name in headers:
            del headers[name]
            if account.key:
                headers[name] = form.format(account.key)


def timeouts(seconds: float) -> httpx2.Timeout:
    """For one call: ``seconds`` between two bytes, less for the connection. The whole call needs a deadline besides."""
    return httpx2.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))


def check_key(account: Account) -> None:
    """Raises ConfigError for a key that cannot stand in a header; libraries would quote it in their complaint."""
    if account.key and not (account.key.isascii() and account.key.isprintable() and " " not in account.key):
        raise ConfigError(
            f"the key of {account.name} holds a blank, a line end or a letter that no key has",
            hint="copy the key again, without anything around it",
        )


def transport_failure(exc: BaseException, account: Account) -> ProviderError:
    """What an exception of the transport means, found along its causes. The vendor's own words are not repeated: they may hold
    headers."""
    cause: BaseException | None = exc
    while cause is not None and not isinstance(cause, httpx2.RequestError | httpx2.InvalidURL | UnicodeEncodeError):
        cause = cause.__cause__
    fault, words = _meaning(cause)
    return ProviderError(fault, one_line(f"{account.name}: {words}", account))


async def document(response: httpx2.Response, account: Account) -> dict[str, Any]:
    """The JSON object that is the whole answer. Raises ProviderError where it is anything else, and what the transport raises."""
    body = await response.aread()
    try:
        found = strict_json.loads(body, max_bytes=MOST_BYTES)
    except strict_json.InvalidJson as exc:
        raise _unreadable(response, account, str(exc)) from None
    if not isinstance(found, dict):
        raise _unreadable(response, account, "no JSON object")
    return found


def fault_of_status(status: int) -> Fault:
    """What an HTTP status means where the body says nothing better."""
    if status in _FAULTS:
        return _FAULTS[status]
    if status >= 500:
        return Fault.SERVER
    return Fault.INVALID if status >= 400 else Fault.UNREADABLE


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait, by ``retry-after-ms`` or ``retry-after`` (seconds, or a date: then by the
    server's own ``date``, so that no clock has to agree with it)."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    try:
        until, now = (parsedate_to_datetime(headers.get(name, "")) for name in ("retry-after", "date"))
        return max(0.0, (until - now).total_seconds())
    except (ValueError, TypeError):
        # No date at all, or one with and one without a time zone.
        return None


def one_line(text: str, account: Account) -> str:
    """Words from outside as part of a message: one line, bounded, nothing that steers a terminal, no key."""
    if account.key:
        text = text.replace(account.key, "[key]")
    text, _ = secrets.redact(text[: 10 * MOST_WORDS])
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= MOST_WORDS else text[: MOST_WORDS - 1] + "…"


def spoken(body: str) -> str:
    """A body as words: pages for browsers are only named."""
    return "an HTML page" if body.lstrip()[:1] == "<" else body


def _unreadable(response: httpx2.Response, account: Account, reason: str) -> ProviderError:
    kind = response.headers.get("content-type", "something without a type").split(";")[0]
    words = f"{account.name} answered {response.status_code} with {kind} that cannot be read: {reason}"
    return ProviderError(Fault.UNREADABLE, one_line(words, account))


def _meaning(exc: BaseException | None) -> tuple[Fault, str]:
    if isinstance(exc, Forbidden):
        return exc.fault, str(exc)
    for kinds, fault, words in _ON_THE_WAY:
        if isinstance(exc, kinds):
            # Only a failed connection is quoted: it was before anything was sent.
            return fault, f"{words} ({exc})" if isinstance(exc, httpx2.ConnectError) else words
    return Fault.NETWORK, "the connection was cut before the answer was complete"
