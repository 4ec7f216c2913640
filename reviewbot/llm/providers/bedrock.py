"""Models on Amazon Bedrock, by its Converse API.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
botocore, on which boto3 is built, signs the requests. Our own client sends them: those of boto3
wait in threads, and can neither be cancelled nor bounded. Answers do not stream.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

import msgspec
from botocore.auth import SigV4Auth  # type: ignore[import-untyped]  # botocore has no types
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]  # as above
from botocore.credentials import Credentials  # type: ignore[import-untyped]  # as above
from msgspec.structs import replace

from reviewbot.errors import ConfigError
from reviewbot.llm import http, provider
from reviewbot.llm.provider import Account, ModelReply, ModelRequest, ProviderError, ToolCall, Usage

ANSWER = "answer"  # the tool that takes the answer where no schema of it can be set
CACHING = re.compile("claude|nova")

# Models differ in what they take, and say so in a ValidationException. What it names is left out.
COMPLAINTS = {
    "cache": re.compile(r"cache.?point|prompt.?caching|cache_control", re.I),
    "schema": re.compile(r"(output|text).?(config|format)|json.?schema|structured output", re.I),
    "choice": re.compile(r"tool.?choice", re.I),
    "tools": re.compile(r"tool.?(config|use)|\btools?\b", re.I),
}
NO_MODEL = re.compile(
    r"model identifier|on-demand throughput|inference profile|access to the model|end of its life"
)
TOO_LONG = re.compile(r"too (long|large)|context.?(limit|window|length)|too many input", re.I)
FAULTS: Mapping[str, provider.Fault] = {
    "ServiceQuotaExceededException": "spent",
    "ModelTimeoutException": "timeout",
}
STOPS: Mapping[str, provider.Fault] = {
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
    "guardrail_intervened": "refused",
    "content_filtered": "refused",
}
# Not in the part of JSON Schema that outputConfig takes.
UNSUPPORTED = re.compile("default|pattern|discriminator|multipleOf|uniqueItems|.*(min|max).*", re.I)


def connect(account: Account) -> Bedrock:
    """Raises ConfigError."""
    return Bedrock(account)


class Bedrock:
    def __init__(self, account: Account) -> None:
        names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
        variables = account.variables
        access, secret, token = (variables.get(name) for name in names)
        key = account.key or variables.get("AWS_BEARER_TOKEN_BEDROCK", "")
        region = variables.get("AWS_REGION") or variables.get("AWS_DEFAULT_REGION") or ""
        if not re.fullmatch("[a-z0-9-]+", region) or not (key or (access and secret)):
            message = f"{account.name} has no region or no credentials of AWS"
            hint = f"set AWS_REGION, and AWS_BEARER_TOKEN_BEDROCK or {names[0]} and {names[1]}"
            raise ConfigError(message, hint=hint)
        self._account = replace(account, key=key)
        self._bearer = {"authorization": f"Bearer {key}"} if key else {}
        self._signer = SigV4Auth(Credentials(access, secret, token), "bedrock", region)
        self._url = account.base_url or f"https://bedrock-runtime.{region}.amazonaws.com"
        self._http = http.open_client(self._account, self._url)
        self._without: dict[str, set[str]] = {}  # by model, what it does not take

    async def complete(
        self, request: ModelRequest, on_text: Callable[[str], None] | None = None
    ) -> ModelReply:
        try:
            async with asyncio.timeout(self._account.seconds):
                return await self._ask(request, on_text or (lambda _: None))
        except http.TRANSPORT_ERRORS as error:
            failure = http.transport_error(error, self._account)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            failure = http.no_answer(self._account, "malformed", "it is not one of Converse")
        raise failure  # outside of `except`, because those exceptions hold the request

    async def close(self) -> None:
        await self._http.aclose()

    async def _ask(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        url = f"{self._url}/model/{quote(request.model, safe='')}/converse"
        while True:
            without = frozenset(self._without.get(request.model, ()))
            body = _body(request, without)
            headers = {"content-type": "application/json", **self._bearer}
            signed = AWSRequest("POST", url, headers, json.dumps(body).encode())
            if not self._bearer:
                self._signer.add_auth(signed)
            answer = await self._http.post(url, content=signed.data, headers=dict(signed.headers))
            if answer.is_success:
                reply = self._reply(msgspec.json.decode(answer.content))
                on_text(reply.text)
                return reply
            code = answer.headers.get("x-amzn-errortype", "").partition(":")[0]
            found = re.search(r'"message":\s*"([^"]+)', answer.text, re.I)
            text = f"{code}: {found[1] if found else 'no message'}"
            named = [part for part, words in COMPLAINTS.items() if words.search(text)]
            refused = [part for part in named if _body(request, without | {part}) != body]
            if code != "ValidationException" or not refused:
                raise self._failure(answer.status_code, text, answer.headers)
            # Nothing was computed yet, so asking for less costs nothing.
            self._without.setdefault(request.model, set()).add(refused[0])

    def _reply(self, answer: Any) -> ModelReply:
        """Raises ProviderError for anything but a complete answer, and DecodeError."""
        match answer:
            case {"output": {"message": {"content": list(blocks)}}, "stopReason": str(stop)}:
                usage = _usage(answer.get("usage"))
            case _:
                raise msgspec.ValidationError
        text = ""
        calls: list[ToolCall] = []
        for block in blocks:
            match block:
                case {"text": str(more)}:
                    text += more
                case {"toolUse": {"toolUseId": str(id_), "name": str(name), "input": value}}:
                    calls.append(ToolCall(id=id_, name=name, arguments=json.dumps(value)))
        answers = [call.arguments for call in calls if call.name == ANSWER]
        if stop == "tool_use" and answers:
            return ModelReply(text=answers[0], usage=usage)
        if stop == "tool_use" and calls:
            native = {"bedrock": [block for block in blocks if block != {"text": ""}]}
            return ModelReply(text=text, calls=tuple(calls), usage=usage, native=native)
        if stop == "end_turn" and text.strip():
            return ModelReply(text=text, usage=usage)
        fault = STOPS.get(stop, "malformed")
        raise http.no_answer(self._account, fault, f"stopReason: {stop}", usage=usage)

    def _failure(self, status: int, text: str, headers: Mapping[str, str]) -> ProviderError:
        fault = FAULTS.get(text.partition(":")[0]) or http.fault_of(status)
        if fault == "rate_limited" and re.search("per day|daily", text):
            fault = "spent"
        elif fault == "invalid" and TOO_LONG.search(text):
            fault = "too_long"
        elif fault in ("invalid", "denied") and NO_MODEL.search(text):
            fault = "no_model"
        after = http.retry_after(headers) if fault in ("rate_limited", "overloaded") else None
        return http.no_answer(self._account, fault, f"{status}: {text}", retry_after=after)


def _usage(counts: Any) -> Usage | None:
    if not isinstance(counts, dict) or "outputTokens" not in counts:
        return None
    names = ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens", "outputTokens")
    new, cached, written, output = msgspec.convert([counts.get(n, 0) for n in names], list[int])
    return Usage(
        input_tokens=new + cached + written,  # the API's inputTokens are those not cached
        cached_input_tokens=cached,
        cache_write_tokens=written,
        output_tokens=output,
    )


def _body(request: ModelRequest, without: frozenset[str]) -> dict[str, Any]:
    """One cache point ends what all panelists read, one the last results of tools."""
    caches = CACHING.search(request.model) and "cache" not in without
    cache: list[dict[str, Any]] = [{"cachePoint": {"type": "default"}}] if caches else []
    before = [{"text": request.prefix}, *cache] if request.prefix.strip() else []
    content: list[dict[str, Any]] = [*before, {"text": request.question}]
    messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
    for turn in request.turns:
        native = turn.native if isinstance(turn.native, dict) else {}
        called = native.get("bedrock") or [
            {"toolUse": {"toolUseId": c.id, "name": c.name, "input": http.json_object(c.arguments)}}
            for c in turn.calls
        ]
        content = [
            {"toolResult": {"toolUseId": call.id, "content": [{"text": result or "(empty)"}]}}
            for call, result in zip(turn.calls, turn.results, strict=True)
        ]
        messages += [{"role": "assistant", "content": called}, {"role": "user", "content": content}]
    if request.turns:
        content += cache
    limit = {"maxTokens": request.max_output_tokens}
    body: dict[str, Any] = {"messages": messages, "inferenceConfig": limit}
    schema = _schema(request.schema)
    # A tool needs a type at the root of its schema, and not a reference.
    schema |= schema.get("$defs", {}).get(schema.pop("$ref", "").removeprefix("#/$defs/"), {})
    tools = () if "tools" in without else request.tools
    if not tools and "schema" not in without:
        structure = {"jsonSchema": {"name": ANSWER, "schema": json.dumps(schema)}}
        body["outputConfig"] = {"textFormat": {"type": "json_schema", "structure": structure}}
    elif "tools" not in without:
        # They are the same to the last turn, because what is cached begins with them.
        offered = [(tool.name, tool.description, tool.parameters) for tool in tools]
        specs = [
            {"toolSpec": {"name": name, "description": text, "inputSchema": {"json": parameters}}}
            for name, text, parameters in (*offered, (ANSWER, "Give the answer.", schema))
        ]
        body["toolConfig"] = {"tools": specs}
        # There is no tool choice "none".
        if not (tools and request.may_call_tools) and "choice" not in without:
            body["toolConfig"]["toolChoice"] = {"tool": {"name": ANSWER}}
    return body


def _schema(value: Any) -> Any:
    if isinstance(value, Mapping):
        # A property may be called like a keyword, but only its schema is an object.
        kept = {
            name: _schema(part)
            for name, part in value.items()
            if isinstance(part, Mapping) or not UNSUPPORTED.fullmatch(name)
        }
        return kept | ({"additionalProperties": False} if kept.get("type") == "object" else {})
    return [_schema(part) for part in value] if isinstance(value, list) else value
