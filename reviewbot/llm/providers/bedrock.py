"""Models on Amazon Bedrock, by its Converse API.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
botocore, on which boto3 is built, signs the requests. Our own client sends them: those of boto3
wait in threads, and can neither be cancelled nor bounded. Answers do not stream.
"""

import json
import re
from typing import Any, ClassVar
from urllib.parse import quote

import msgspec
from botocore.auth import SigV4Auth  # type: ignore[import-untyped]  # botocore has no types
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]  # as above
from botocore.credentials import Credentials  # type: ignore[import-untyped]  # as above
from msgspec.structs import replace

from reviewbot.errors import ConfigError
from reviewbot.llm import http, provider
from reviewbot.llm.http import HttpProvider, OnText, Parts
from reviewbot.llm.provider import Account, ModelReply, ModelRequest, Tool

ANSWER = "answer"  # the tool that takes the answer where no schema of it can be set
CACHING = re.compile("claude|nova")
COUNTERS = ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens", "outputTokens")


class Bedrock(HttpProvider):
    # Models differ in what they take, and say so in a ValidationException.
    complaints: ClassVar = {
        "effort": re.compile("effort"),
        "cache": re.compile(r"cache.?point|prompt.?caching|cache_control", re.I),
        "schema": http.ABOUT_SCHEMA,
        "choice": re.compile(r"tool.?choice", re.I),
        "tools": re.compile(r"tool.?(config|use)|\btools?\b", re.I),
    }

    def __init__(self, account: Account) -> None:
        names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
        variables = account.variables
        access, secret, token = (variables.get(name) for name in names)
        key = account.key or variables.get("AWS_BEARER_TOKEN_BEDROCK", "")
        region = variables.get("AWS_REGION") or variables.get("AWS_DEFAULT_REGION") or ""
        if not re.fullmatch("[a-z0-9-]+", region) or not (key or (access and secret)):
            hint = f"set AWS_REGION, and AWS_BEARER_TOKEN_BEDROCK or {names[0]} and {names[1]}"
            raise ConfigError(f"{account.name} has no region or no credentials of AWS", hint=hint)
        url = account.base_url or f"https://bedrock-runtime.{region}.amazonaws.com"
        super().__init__(replace(account, key=key, base_url=url))
        self._signer = SigV4Auth(Credentials(access, secret, token), "bedrock", region)

    async def _ask(self, request: ModelRequest, without: Parts, on_text: OnText) -> ModelReply:
        path = f"/model/{quote(request.model, safe='')}/converse"
        headers = {"content-type": "application/json", **self._bearer}
        content = json.dumps(_body(request, without)).encode()
        signed = AWSRequest("POST", self._base_url + path, headers, content)
        if not self._bearer:
            self._signer.add_auth(signed)
        async with self._post(path, content, dict(signed.headers)) as lines:
            answer = msgspec.json.decode(b"".join([line async for line in lines]))
        blocks, stop = answer["output"]["message"]["content"], answer["stopReason"]
        text = "".join(block.get("text", "") for block in blocks)
        uses = (block["toolUse"] for block in blocks if "toolUse" in block)
        calls = provider.calls_of(request, ((u["toolUseId"], u["name"], u["input"]) for u in uses))
        if answers := [call.arguments for call in calls if call.name == ANSWER]:
            text, calls, stop = answers[0], (), "end_turn" if stop == "tool_use" else stop
        on_text(text)
        usage = http.usage_apart(answer.get("usage"), *COUNTERS)
        native = [block for block in blocks if block != {"text": ""}]
        reply = ModelReply(text=text, calls=calls, usage=usage, native=native)
        return self._checked(request, reply, stop or "no stopReason")


connect = Bedrock


def _body(request: ModelRequest, without: Parts) -> dict[str, Any]:
    """One cache point ends what all panelists read, one the last results of tools."""
    caches = CACHING.search(request.model) and "cache" not in without
    cache: list[dict[str, Any]] = [{"cachePoint": {"type": "default"}}] if caches else []
    before = [{"text": request.prefix}, *cache] if request.prefix.strip() else []
    content: list[dict[str, Any]] = [*before, {"text": request.question}]
    messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
    for turn in request.turns:
        returned = ({"toolUseId": c.id, "content": [{"text": r}]} for c, r in turn.pairs)
        content = [{"toolResult": result} for result in returned]
        messages.append({"role": "assistant", "content": turn.native})
        messages.append({"role": "user", "content": content})
    if request.turns:
        content += cache
    limit = {"maxTokens": request.max_output_tokens}
    # A model that takes no schema may mean all of outputConfig.
    has_effort = "claude" in request.model and without.isdisjoint(("effort", "schema"))
    output: dict[str, Any] = {"effort": provider.EFFORT} if has_effort else {}
    body: dict[str, Any] = {"messages": messages, "inferenceConfig": limit}
    schema = provider.strict_schema(request.schema)
    tools = () if "tools" in without else request.tools
    if not tools and "schema" not in without:
        structure = {"jsonSchema": {"name": ANSWER, "schema": json.dumps(schema)}}
        output["textFormat"] = {"type": "json_schema", "structure": structure}
    elif "tools" not in without:
        # They are the same to the last turn, because what is cached begins with them.
        offered = (*tools, Tool(name=ANSWER, description="Give the answer.", parameters=schema))
        specs = [tool.named(inputSchema={"json": tool.parameters}) for tool in offered]
        body["toolConfig"] = {"tools": [{"toolSpec": spec} for spec in specs]}
        # There is no tool choice "none".
        if not (tools and request.may_call_tools) and "choice" not in without:
            body["toolConfig"]["toolChoice"] = {"tool": {"name": ANSWER}}
    if output:
        body["outputConfig"] = output
    return body
