"""Models on Amazon Bedrock, through boto3's ``converse``: it finds credentials, signs, writes and reads.

boto3 is synchronous, so it works in threads. Its requests do not leave by its own HTTP client: that one cannot be cancelled
and reads bodies without end. The event ``before-send`` hands each signed request to ours, in the loop that asks.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import boto3  # type: ignore[import-untyped]
import botocore  # type: ignore[import-untyped]
import botocore.session  # type: ignore[import-untyped]
import httpx2
from botocore.awsrequest import AWSPreparedRequest, AWSResponse  # type: ignore[import-untyped]
from botocore.config import Config  # type: ignore[import-untyped]
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, ParamValidationError  # type: ignore[import-untyped]
from botocore.parsers import ResponseParserError  # type: ignore[import-untyped]

from reviewbot.adapters.panel import http
from reviewbot.adapters.panel.bedrock_dialect import Feature, completion, fault_of, leave_out, request
from reviewbot.ports import Account, Completion, Fault, ModelCall, ProviderError

_Post = Callable[[AWSPreparedRequest, Callable[[], None]], Coroutine[Any, Any, AWSResponse]]

TOKEN = "AWS_BEARER_TOKEN_BEDROCK"
LISTING_SECONDS = 30.0
#: Threads only wait; how many calls are under way is limited elsewhere.
THREADS = 32
#: Where a region is needed for the signature only, because the address is given.
ANY_REGION = "us-east-1"

#: Between two bytes, and for a whole call whose loop is gone. Every call has a shorter deadline of its own.
SILENCE_SECONDS = 600.0
MOST_SECONDS = 3_600.0

#: Headers that a signature is made of; the other signed ones any request has.
_SIGNATURE = ("authorization", "x-amz-")
_SERVICES = {"converse": "bedrock-runtime", "list_foundation_models": "bedrock"}
_ADVICE = "set AWS_REGION and credentials (or AWS_BEARER_TOKEN_BEDROCK), as for AWS's own tools"

#: What boto3 raises over bodies that are not what it expects.
_SPOILED = (ResponseParserError, ValueError, TypeError, KeyError, AttributeError, RecursionError)

#: Names in the environment, and what a session of botocore calls them.
_SETTINGS = {
    "AWS_PROFILE": "profile",
    "AWS_CONFIG_FILE": "config_file",
    "AWS_SHARED_CREDENTIALS_FILE": "credentials_file",
    "AWS_CA_BUNDLE": "ca_bundle",
}


class Bedrock:
    """An AWS account. Without a key (a Bedrock API key) of ours it is found as AWS's tools find it.

    The address 169.254.169.254, at which machines of AWS learn their role, is only asked where ``AWS_EC2_METADATA_DISABLED``
    is ``false``: on any other machine the question hangs.
    """

    def __init__(self, account: Account) -> None:
        self._account = replace(account, key=account.key or account.environment.get(TOKEN, ""))
        http.check_key(self._account)
        if account.base_url:
            http.check_origin(account.base_url, account.allow_plain_http, has_key=bool(self._account.key))
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="bedrock")
        self._lock = threading.Lock()
        self._clients: dict[str, Any] = {}
        self._https: dict[str, httpx2.AsyncClient] = {}
        self._here = threading.local()
        self._without: dict[str, frozenset[Feature]] = {}

    async def complete(self, call: ModelCall, begun: Callable[[], None]) -> Completion:
        try:
            async with asyncio.timeout(call.timeout_seconds):
                return await self._completed(call, begun)
        except TimeoutError as exc:
            said = f"{self._account.name}: no answer within {call.timeout_seconds:g} s"
            raise ProviderError(Fault.TIMEOUT, said) from exc

    async def models(self) -> tuple[str, ...]:
        try:
            async with asyncio.timeout(LISTING_SECONDS):
                answer = await self._ask("list_foundation_models", {}, _nobody)
        except TimeoutError as exc:
            raise ProviderError(Fault.TIMEOUT, f"{self._account.name}: no list of models in time") from exc
        except ClientError as exc:
            raise self._failure(exc) from None
        return tuple(sorted(found["modelId"] for found in answer.get("modelSummaries", ()) if "modelId" in found))

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for client in self._https.values():
            await client.aclose()

    async def _completed(self, call: ModelCall, begun: Callable[[], None]) -> Completion:
        while True:
            without = self._without.get(call.model, frozenset())
            body = request(call, without)
            try:
                answer = await self._ask("converse", body, begun)
            except ClientError as exc:
                found = leave_out(_said(exc)[1], body) if _said(exc)[0] == "ValidationException" else None
                if found is None:
                    # Not chained: its text is the server's, and nobody knows what stands there.
                    raise self._failure(exc) from None
                # Refused before a token was computed: asking again for less costs nothing.
                self._without[call.model] = self._without.get(call.model, frozenset()) | {found}
            else:
                return completion(answer, forced="toolChoice" in body.get("toolConfig", {}))

    async def _ask(self, operation: str, arguments: Mapping[str, Any], begun: Callable[[], None]) -> dict[str, Any]:
        """What boto3 returns. Raises ClientError for an error response, ProviderError for everything else."""
        loop = asyncio.get_running_loop()
        line = _Line(loop, self._posted, begun)

        def work() -> dict[str, Any]:
            self._here.line = line
            answer: dict[str, Any] = getattr(self._client(_SERVICES[operation]), operation)(**arguments)
            return answer

        try:
            return await loop.run_in_executor(self._threads, work)
        except BotoCoreError as exc:
            raise self._trouble(exc) from exc
        except _SPOILED:
            # Not chained: their words may quote the body.
            raise ProviderError(Fault.UNREADABLE, f"{self._account.name}: the answer is not Bedrock's") from None
        finally:
            line.hang_up()

    async def _posted(self, asked: AWSPreparedRequest, begun: Callable[[], None]) -> AWSResponse:
        """Send a signed request through our client."""
        origin = self._account.base_url or _origin(asked.url)
        if origin not in self._https:
            self._https[origin] = _client_for_signed(replace(self._account, base_url=origin))
        headers = {name: value.decode() if isinstance(value, bytes) else str(value) for name, value in asked.headers.items()}
        signature = {name: value for name, value in headers.items() if name.lower().startswith(_SIGNATURE)}
        if self._account.key:
            signature = {"Authorization": f"Bearer {self._account.key}"}
        sending = self._https[origin].stream(
            asked.method,
            asked.url,
            headers=headers,
            content=asked.body,
            timeout=http.timeouts(SILENCE_SECONDS),
            extensions={"signature": signature},
        )
        try:
            async with sending as response:
                if response.is_success:
                    begun()
                body = await response.aread()
        except httpx2.HTTPError as exc:
            raise http.transport_failure(exc, self._account) from exc
        return AWSResponse(asked.url, response.status_code, dict(response.headers), _Body(body))

    def _client(self, service: str) -> Any:
        with self._lock:
            if service not in self._clients:
                self._clients[service] = self._made(service)
            return self._clients[service]

    def _made(self, service: str) -> Any:
        """A client of boto3. Reads files, perhaps asks AWS for credentials: never in the loop. Raises BotoCoreError."""
        settings = self._account.environment
        session = botocore.session.Session()
        for name, setting in _SETTINGS.items():
            if settings.get(name):
                session.set_config_variable(setting, settings[name])
        if settings.get("AWS_EC2_METADATA_DISABLED", "").lower() != "false":
            session.get_component("credential_provider").remove("iam-role")
        if settings.get("AWS_ACCESS_KEY_ID") and settings.get("AWS_SECRET_ACCESS_KEY"):
            named = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
            session.set_credentials(*(settings.get(name) or None for name in named))
        region = settings.get("AWS_REGION") or settings.get("AWS_DEFAULT_REGION") or session.get_config_variable("region")
        own = {"signature_version": botocore.UNSIGNED} if self._account.key else {}
        client = boto3.Session(botocore_session=session).client(
            service,
            region_name=region or (ANY_REGION if self._account.base_url else None),
            endpoint_url=self._account.base_url or None,
            config=Config(retries={"total_max_attempts": 1, "mode": "standard"}, **own),
        )
        client.meta.events.register("before-send", self._sent)
        return client

    def _sent(self, request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        line: _Line = self._here.line
        return line.sent(request)

    def _trouble(self, exc: BotoCoreError) -> ProviderError:
        """Why boto3 could not even ask."""
        if isinstance(exc, HTTPClientError):
            return ProviderError(Fault.NETWORK, f"{self._account.name}: AWS cannot be reached for credentials")
        wrong = isinstance(exc, ParamValidationError)
        said = f"{self._account.name}: {exc}" if wrong else f"{self._account.name}: {exc}; {_ADVICE}"
        return ProviderError(Fault.INVALID if wrong else Fault.DENIED, http.one_line(said, self._account))

    def _failure(self, exc: ClientError) -> ProviderError:
        code, words = _said(exc)
        metadata = exc.response.get("ResponseMetadata") or {}
        fault = fault_of(code, metadata.get("HTTPStatusCode", 0), words)
        after = http.retry_after(metadata.get("HTTPHeaders") or {})
        return ProviderError(fault, http.one_line(f"{self._account.name}: {code}: {words}", self._account), retry_after=after)


class _Line:
    """From a thread of boto3 to the loop that asked, for one call."""

    def __init__(self, loop: asyncio.AbstractEventLoop, post: _Post, begun: Callable[[], None]) -> None:
        self._loop = loop
        self._post = post
        self._begun = begun
        self._lock = threading.Lock()
        self._closed = False
        self._pending: Future[AWSResponse] | None = None

    def sent(self, request: AWSPreparedRequest) -> AWSResponse:
        """In the thread: the answer to ``request``. Raises ProviderError; CancelledError once nobody waits any more."""
        with self._lock:
            if self._closed:
                raise ProviderError(Fault.TIMEOUT, "nobody waits for this answer any more")
            pending = asyncio.run_coroutine_threadsafe(self._post(request, self._begun), self._loop)
            self._pending = pending
        return pending.result(MOST_SECONDS)

    def hang_up(self) -> None:
        """In the loop: stop sending, let the thread go."""
        with self._lock:
            self._closed = True
        if self._pending is not None:
            self._pending.cancel()


class _Body:
    """What botocore reads a response's body from."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self, **_: Any) -> Iterator[bytes]:
        """All of it at once."""
        yield self._content


def _client_for_signed(account: Account) -> httpx2.AsyncClient:
    """Our client, which lets no key pass but the account's: the signature is put back where it stood."""

    async def restored(request: httpx2.Request) -> None:
        request.headers.update(request.extensions.get("signature", {}))

    client = http.client(account)
    hooks = client.event_hooks
    hooks["request"].append(restored)
    client.event_hooks = hooks
    return client


def _nobody() -> None:
    return None


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _said(exc: ClientError) -> tuple[str, str]:
    """The code of an error response, and its words."""
    error = exc.response.get("Error") or {}
    return str(error.get("Code", "")), str(error.get("Message", ""))
