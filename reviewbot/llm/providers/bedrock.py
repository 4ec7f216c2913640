"""Models on Amazon Bedrock, by its Converse API.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
botocore, on which boto3 is built, signs the requests. Our own client sends them: those of boto3
wait in threads, and can neither be cancelled nor bounded. Answers do not stream.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import httpx2
import msgspec
from botocore.auth import SigV4Auth  # type: ignore[import-untyped]  # botocore has no types
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]  # as above
from botocore.credentials import Credentials  # type: ignore[import-untyped]  # as above
from msgspec.structs import replace

from reviewbot.errors import ConfigError
from reviewbot.llm import http, provider
from reviewbot.llm.http import HttpProvider, OnText, Parts
from reviewbot.llm.provider import Account, ModelReply, ModelRequest, ProviderError, ToolCall

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
COUNTERS = ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens", "outputTokens")


class Bedrock(HttpProvider):
    status_errors = (httpx2.HTTPStatusError,)

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
        self._url = account.base_url or f"https://bedrock-runtime.{region}.amazonaws.com"
        super().__init__(replace(account, key=key), self._url)
        self._bearer = {"authorization": f"Bearer {key}"} if key else {}
        self._signer = SigV4Auth(Credentials(access, secret, token), "bedrock", region)

    async def _ask(self, request: ModelRequest, without: Parts, on_text: OnText) -> ModelReply:
        url = f"{self._url}/model/{quote(request.model, safe='')}/converse"
        headers = {"content-type": "application/json", **self._bearer}
        signed = AWSRequest("POST", url, headers, json.dumps(_body(request, without)).encode())
        if not self._bearer:
            self._signer.add_auth(signed)
        response = await self._http.post(url, content=signed.data, headers=dict(signed.headers))
        answer = msgspec.json.decode(response.raise_for_status().content)
        match answer:
            case {"output": {"message": {"content": list(blocks)}}, "stopReason": str(stop)}:
                usage = http.usage_apart(answer.get("usage"), *COUNTERS)
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
        if stop == "tool_use" and not calls:
            stop = "tool_use without a call"
        if answers := [call.arguments for call in calls if call.name == ANSWER]:
            text, calls = answers[0], []
        on_text(text)
        native = {"bedrock": [block for block in blocks if block != {"text": ""}]}
        reply = ModelReply(text=text, calls=tuple(calls), usage=usage, native=native)
        return self._checked(request, reply, stop or "no stopReason")

    def _failure(self, request: ModelRequest, without: Parts, error: Exception) -> ProviderError:
        assert isinstance(error, httpx2.HTTPStatusError)
        answer, refused = error.response, ""
        code = answer.headers.get("x-amzn-errortype", "").partition(":")[0]
        found = re.search(r'"message":\s*"([^"]+)', answer.text, re.I)
        text = f"{code}: {found[1] if found else 'no message'}"
        if code == "ValidationException":
            body = _body(request, without)
            named = (part for part, words in COMPLAINTS.items() if words.search(text))
            refused = next((x for x in named if _body(request, without | {x}) != body), "")
        fault = FAULTS.get(code) or http.fault_of(answer.status_code)
        if fault == "rate_limited" and re.search("per day|daily", text):
            fault = "spent"
        elif fault == "invalid" and TOO_LONG.search(text):
            fault = "too_long"
        elif fault in ("invalid", "denied") and NO_MODEL.search(text):
            fault = "no_model"
        return self._answered(answer.status_code, text, fault, answer.headers, refuses=refused)


connect = Bedrock


def _body(request: ModelRequest, without: Parts) -> dict[str, Any]:
    """One cache point ends what all panelists read, one the last results of tools."""
    caches = CACHING.search(request.model) and "cache" not in without
    cache: list[dict[str, Any]] = [{"cachePoint": {"type": "default"}}] if caches else []
    before = [{"text": request.prefix}, *cache] if request.prefix.strip() else []
    content: list[dict[str, Any]] = [*before, {"text": request.question}]
    messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
    for turn in request.turns:
        called = turn.own("bedrock") or [
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
    closed = {"additionalProperties": False}
    schema = provider.common_schema(
        request.schema, lambda part: part | (closed if part.get("type") == "object" else {})
    )
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
