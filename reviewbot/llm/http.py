"""What all providers have in common, and how they ask: one address, bounded answers, no retries."""

import ipaddress
import re
import ssl
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar

import httpx2
import msgspec
from anyio import EndOfStream
from msgspec.structs import replace

from reviewbot.errors import ConfigError
from reviewbot.llm.provider import Account, Fault, ModelReply, ModelRequest, ProviderError, Usage
from reviewbot.text.plain import plain, shortened
from reviewbot.text.secrets import redact

MAX_BYTES = 8_000_000
SHORTEST_KEY = 12  # servers without keys are given words such as "none"
MAX_QUOTE = 200  # characters of a vendor's message
MAX_SAID = 2_000  # of an error that count; some servers repeat the prompt
# httpx2 2.16 lets failures of TLS through as the last two. UnicodeEncodeError: half a surrogate
# pair in a prompt. ExceptionGroup: the port of a proxy is none that there can be.
TRANSPORT_ERRORS = (httpx2.HTTPError, httpx2.StreamError, UnicodeEncodeError, OSError, EndOfStream)
UNREACHABLE = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError, ExceptionGroup)
UNWRITABLE = (httpx2.UnsupportedProtocol, httpx2.LocalProtocolError, UnicodeEncodeError)
# What is raised over an answer that is not what it should be.
UNREADABLE = (ValueError, TypeError, AttributeError, LookupError, RuntimeError)
# Errors within an answer, which began with status 200, by their type.
# https://platform.claude.com/docs/en/api/errors
STATUSES = {
    **{"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402},
    **{"permission_error": 403, "not_found_error": 404, "request_too_large": 413},
    **{"rate_limit_error": 429, "overloaded_error": 529},
}
FAULTS: Mapping[int, Fault] = {
    **dict.fromkeys((401, 403), "denied"),
    **{402: "spent", 404: "no_model", 413: "too_long", 429: "rate_limited"},
}
# The fault by the status, what vendors write in code, type or message where that says more, and the
# fault that it is. Every 429 of Gemini says "check your plan and billing details"; OpenRouter's 403
# may be about one prompt. The first that fits counts.
MEANINGS: Sequence[tuple[str, str, Fault]] = (
    ("invalid rate_limited overloaded", r"context[ _](length|size|window|the over)", "too_long"),
    ("invalid rate_limited overloaded", r"(request too|prompt is too) l|prompt length", "too_long"),
    ("invalid", r"input is too l|too many (input )?tokens|context.?limit", "too_long"),
    ("invalid", r"exceeds the (maximum|limit)", "too_long"),
    ("invalid rate_limited", r"insufficient_quota|ServiceQuotaExceeded|usage.limit", "spent"),
    ("invalid rate_limited", r"spend(ing)?.?(limit|cap)|depleted|credit.?balance", "spent"),
    ("invalid rate_limited", r"billing_|per.?day|daily|\blimit: 0\b", "spent"),
    ("invalid", r"api.?key.{0,20}(not valid|invalid|expired|not found)|location is not", "denied"),
    ("invalid denied", r"model identifier|on-demand throughput|inference profile", "no_model"),
    ("invalid denied", r"access to (the )?model|model access|marketplace|its life", "no_model"),
    ("invalid", r"organization.{1,10}(on_hold|disabled)", "denied"),
    ("spent", r"in_flight_budget", "rate_limited"),
    ("overloaded", r"system memory", "no_model"),
    ("invalid denied", r"content_filter|requires moderation|input was flagged", "refused"),
    ("overloaded", r"rate_limit_exceeded|slow_down", "rate_limited"),
    ("overloaded", r"invalid_prompt|_policy", "refused"),
    ("overloaded", r"ModelTimeoutException", "timeout"),
)
HINTS: Mapping[Fault, str] = {
    "no_model": "check the name of the model, and providers.{name}.base_url",
    "denied": "check the key of {name}",
    "spent": "add credit or raise the limit at {name}, or choose another model",
    "too_long": "choose a model that reads more at once",
    "malformed": "check providers.{name}.base_url",  # of what is no answer at all
}
# What errors say of a schema for the answer that a model or a server does not take.
ABOUT_SCHEMA = re.compile(
    r"(?i)schema|grammar|guided|structured|json.?mode|(response|output|text).?(format|config|mime)"
)
# Gemini says in the body of an error how long to wait.
DELAY = re.compile(r"retry(?:Delay\W+| in )(\d{1,9}(?:\.\d{1,9})?) ?s", re.IGNORECASE)
# How an answer ended, in the words of all vendors. Each other word is "malformed".
STOPS: Mapping[str, Fault | None] = {
    **dict.fromkeys(("end_turn", "tool_use", "stop", "tool_calls", "eos", "STOP")),
    **dict.fromkeys(("max_tokens", "model_context_window_exceeded", "model_length"), "truncated"),
    **dict.fromkeys(("length", "max_output_tokens", "MAX_TOKENS", "CONTINUATION"), "truncated"),
    **dict.fromkeys(("refusal", "guardrail_intervened", "content_filtered"), "refused"),
    **dict.fromkeys(("content_filter", "SAFETY", "RECITATION", "BLOCKLIST"), "refused"),
    **dict.fromkeys(("PROHIBITED_CONTENT", "MODEL_ARMOR", "ESCALATION", "SPII"), "refused"),
}
OnText = Callable[[str], None]
Parts = frozenset[str]  # of a request, which some models do not take


class VendorError(Exception):
    """An error that the vendor explains; one within an answer has the status that it would have."""

    def __init__(self, status: int, body: Any, headers: Mapping[str, str] = {}) -> None:
        self.status, self.body, self.headers = status, body, headers


class HttpProvider(ABC):
    """A vendor that is asked by HTTP: what errors mean, what models do not take."""

    # Parts of a request that some models do not take, and what errors say of them.
    complaints: ClassVar[Mapping[str, re.Pattern[str]]] = {}
    unreachable_hint: ClassVar[str] = "check the network, proxies and providers.{name}.base_url"

    def __init__(self, account: Account, address: str = "") -> None:
        """Raises ConfigError if the address or the key must not be used."""
        self._account = replace(account, base_url=address or account.base_url)
        self._base_url = self._account.base_url.rstrip("/")
        is_plain = check_address(account, self._base_url).scheme == "http"
        if not (account.key.isascii() and account.key.isprintable() and " " not in account.key):
            message = f"the key of {account.name} has a character that no key has"
            raise ConfigError(message, hint="copy the key again, without spaces and line ends")
        try:
            self._http = httpx2.AsyncClient(
                headers={"accept": "*/*", "accept-encoding": "identity", "user-agent": "reviewbot"},
                # Plain http needs no certificates, and loading them takes 50 ms.
                verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if is_plain else True,
                timeout=httpx2.Timeout(None, connect=10),  # the client ends what takes too long
                follow_redirects=False,
                trust_env=not is_plain,  # a proxy sees nothing of what is encrypted
            )
        except (ImportError, OSError, ValueError):
            message = f"{account.name} cannot be asked with the proxy or certificates that are set"
            hint = "check HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE: a proxy is http://HOST:PORT"
            raise ConfigError(message, hint=hint) from None
        self._without = defaultdict[str, Parts](frozenset)  # by model

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        name = self._account.name
        while True:
            without = self._without[request.model]
            try:
                reply = await self._ask(request, without, on_text or (lambda _: None))
                key = self._account.key
                if len(key) < SHORTEST_KEY or key not in repr(reply):
                    return reply
                # A server that writes its key into an answer does not publish it.
                text = msgspec.json.encode(reply).replace(key.encode(), b"(key)")
                return msgspec.json.decode(text, type=ModelReply)
            except ProviderError as error:
                failure = error
            except VendorError as error:
                failure = self._meaning(request, without, error)
            except (*TRANSPORT_ERRORS, ExceptionGroup) as error:
                failure = self._transport_error(error)
            except UNREADABLE:
                message = f"{name} does not answer as {type(self).__name__} does"
                hint = HINTS["malformed"].format(name=name)
                failure = ProviderError(message, fault="malformed", hint=hint)
            if not failure.refuses:
                # Outside of `except`: exceptions of httpx2 hold the request with its key.
                raise failure
            # Nothing was computed yet, so asking for less costs nothing.
            self._without[request.model] |= {failure.refuses}

    async def close(self) -> None:
        await self._http.aclose()

    @abstractmethod
    async def _ask(self, request: ModelRequest, without: Parts, on_text: OnText) -> ModelReply:
        """One attempt. Raises any of the errors above."""

    @asynccontextmanager
    async def _post(
        self, path: str, body: Any, headers: Mapping[str, str]
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """The lines of an answer as they arrive. Raises VendorError for any status but success."""
        content = body if isinstance(body, bytes) else msgspec.json.encode(body)
        headers = {"content-type": "application/json", **headers}
        url = self._base_url + path
        async with self._http.stream("POST", url, content=content, headers=headers) as answer:
            lines = _lines_of(answer, self._account.name)
            if not answer.is_success:
                text = b"\n".join([line async for line in lines])
                raise VendorError(answer.status_code, _decoded(text), answer.headers)
            yield lines

    @property
    def _bearer(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self._account.key}"} if self._account.key else {}

    def _checked(
        self, request: ModelRequest, reply: ModelReply, stop: str, refusal: str = ""
    ) -> ModelReply:
        """A reply with its end, one of STOPS or "". Raises ProviderError if it is none."""
        name, usage, stop = self._account.name, reply.usage, refusal or stop
        fault = "refused" if refusal else STOPS.get(stop, "malformed")
        if not (stop or reply.text or reply.calls or reply.native):
            raise ValueError("nothing in it is an answer")
        if not stop:
            fault, message, usage = "interrupted", f"the answer of {name} has no end", None
        elif fault == "refused":
            message = f"{name} refused to answer: {stop}"
        elif fault:
            within = f" within {request.max_output_tokens} tokens" if fault == "truncated" else ""
            message = f"{name} did not finish its answer{within}: {stop}"
        elif reply.calls:
            return reply
        elif stop == "tool_use":
            fault, message = "malformed", f"{name} called no tool"
        elif reply.text.strip():
            return replace(reply, native=None)
        else:
            fault, message = "malformed", f"{name} gave an empty answer"
        raise ProviderError(quote(message, self._account), fault=fault, usage=usage)

    def _meaning(self, request: ModelRequest, without: Parts, error: VendorError) -> ProviderError:  # noqa: ARG002
        """What an error means, by its status and by words of its body."""
        name, status = self._account.name, error.status
        fault = FAULTS.get(status, "invalid" if status >= 400 else "malformed")
        if status >= 500 or status in (408, 409, 424, 425):
            fault = "overloaded"
        said = f"{error.headers.get('x-amzn-errortype', '')} {error.body}"[:MAX_SAID]
        known = (row for row in MEANINGS if fault in row[0].split())
        fault = next((row[2] for row in known if re.search(row[1], said, re.IGNORECASE)), fault)
        message = f"{name} answered {status}: {quote(message_of(error.body), self._account)}"
        hint = HINTS.get(fault, "").format(name=name) or None
        failure = ProviderError(message, fault=fault, hint=hint)
        if fault in ("rate_limited", "overloaded"):
            failure.retry_after = retry_after(error.headers, said)
        if fault == "invalid":
            named = (part for part, about in self.complaints.items() if about.search(said))
            failure.refuses = next((part for part in named if part not in without), "")
        return failure

    def _transport_error(self, error: Exception) -> ProviderError:
        """What an exception of the transport means. It is not quoted: it may have headers."""
        name, hint = self._account.name, None
        fault: Fault = "interrupted"
        message = f"{name} cut the connection before its answer ended"
        if isinstance(error, UNREACHABLE):
            fault, message = "unreachable", f"{name} cannot be reached"
            hint = self.unreachable_hint.format(name=name)
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                hint = "its certificate is not trusted: SSL_CERT_FILE names those that are"
        elif isinstance(error, UNWRITABLE):
            fault, message = "invalid", f"the request to {name} cannot be written as HTTP"
        return ProviderError(message, fault=fault, hint=hint)


async def _lines_of(answer: httpx2.Response, name: str) -> AsyncIterator[bytes]:
    """Lines that end with LF or CR LF, as they arrive: httpx2's own also end at U+2028."""
    count, rest = 0, b""
    async for chunk in answer.aiter_raw():
        count += len(chunk)
        if count > MAX_BYTES:
            message = f"the answer of {name} is longer than {MAX_BYTES} bytes"
            raise ProviderError(message, fault="malformed")
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.removesuffix(b"\r")
    if rest:
        yield rest


async def events_of(lines: AsyncIterator[bytes]) -> AsyncIterator[dict[str, Any]]:
    """The JSON objects of server-sent events, a line each. Raises VendorError for an error."""
    async for line in lines:
        if line.startswith(b"{"):  # an error that is no event, to the end, as Gemini sends them
            line = b"data:" + line + b"".join([more async for more in lines])
        if line.startswith(b"data:") and (data := line[5:].strip()) != b"[DONE]":
            event = msgspec.json.decode(data, type=dict[str, Any])
            inner = event.get("response") or {}
            is_error = "error" in (event.get("type"), event.get("object"))
            if error := event.get("error") or inner.get("error") or (is_error and event):
                named = error if isinstance(error, dict) else {}
                code = str(named.get("code"))
                status = STATUSES.get(named.get("type", ""), 500)
                raise VendorError(int(code) if code.isdecimal() else status, error)
            yield event


def _decoded(text: bytes) -> Any:
    with suppress(ValueError, RecursionError):
        return msgspec.json.decode(text)
    return text.decode(errors="replace")


def check_address(account: Account, base_url: str) -> httpx2.URL:
    """https, or http to this machine; to a private address only where that is allowed, keyless."""
    url = httpx2.URL()
    with suppress(httpx2.InvalidURL):
        url = httpx2.URL(base_url)
    is_url = url.host and url.scheme in ("http", "https") and (url.port or 0) < 1 << 16
    if not is_url or url.userinfo or url.query or url.fragment:
        hint = "write it like https://models.example.org/v1, without user, query and fragment"
        raise ConfigError(f"the address of {account.name} is not that of a server", hint=hint)
    if url.scheme == "https" or url.host == "localhost":
        return url
    with suppress(ValueError):
        ip = ipaddress.ip_address(url.host)
        if ip.is_loopback or (ip.is_private and account.allow_private and not account.key):
            return url
    hint = f"use https, or set providers.{account.name}.allow_private for a server without a key"
    raise ConfigError(f"the address of {account.name} is not encrypted, nor local", hint=hint)


def message_of(body: Any, depth: int = 8) -> str:
    """The innermost message of an error: of an object, a list of them, or JSON in a message."""
    if isinstance(body, list) and depth:
        return " ".join(message_of(item, depth - 1) for item in body[:3])
    if isinstance(body, dict) and depth:
        # OpenRouter has there, as "raw", what the vendor behind it said.
        body = more | body if isinstance(more := body.get("metadata"), dict) else body
        names = ("error", "raw", "message", "Message", "detail")
        if inner := next((body[name] for name in names if body.get(name)), None):
            return message_of(inner, depth - 1)
    if isinstance(body, str) and depth and body[:1] in ("{", "["):
        return message_of(_decoded(body.encode("utf-8", "replace")), depth - 1)
    return str(body or "no message")


def retry_after(headers: Mapping[str, str], said: str) -> float | None:
    """Seconds that the server asks to wait; None if it names no time."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        if re.fullmatch(r"\d{1,9}(\.\d+)?", value := headers.get(name, "")):
            return float(value) * unit
    with suppress(ValueError, OverflowError):  # or it is a date
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    return float(delay[1]) if (delay := DELAY.search(said)) else None


def json_object(text: str) -> dict[str, Any]:
    """Arguments of a tool as vendors take them back; empty if the model wrote something else."""
    return value if isinstance(value := _decoded(text.encode("utf-8", "replace")), dict) else {}


def usage_apart(counts: Any, *names: str) -> Usage | None:
    """Usage from counters of input: new, from the cache, for the cache; and of output."""
    if not isinstance(counts, dict) or names[-1] not in counts:
        return None
    numbers = [counts.get(name) or 0 for name in names]
    new, cached, written, output = msgspec.convert(numbers, list[int])
    return Usage(
        input_tokens=new + cached + written,
        cached_input_tokens=cached,
        cache_write_tokens=written,
        output_tokens=output,
    )


def quote(text: str, account: Account) -> str:
    """What a vendor says as a part of one of our messages: one line, short, without keys."""
    for own in (account.key, account.base_url):
        text = text.replace(own, "…") if own else text
    return shortened(plain(redact(text[: 20 * MAX_QUOTE])[0]), MAX_QUOTE)
