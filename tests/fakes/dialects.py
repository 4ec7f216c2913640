"""Every protocol as a client sees it: asked through the vendor's own library (Ollama: plain HTTP). For tests of the fakes themselves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import anthropic
import boto3
import botocore.client
import botocore.exceptions
import httpx2
import openai
from google import genai
from google.genai import errors as google_errors
from google.genai import types

MODEL, SYSTEM, KEY = "some-model", "be brief", "KEY-1234"
TOOL_SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Told:
    """What a library made of a reply."""

    text: str
    stop: str
    input: int = 0
    cached: int = 0
    output: int = 0
    raw: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failure:
    """What a library made of an error."""

    status: int
    words: str


Parts = tuple[str, ...]
Schema = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Dialect:
    """One protocol. ``path`` and ``body`` are the least request, for those who speak HTTP themselves."""

    name: str
    path: str
    body: Mapping[str, Any]
    ask: Callable[..., Told]
    use_tool: Callable[[str, str, str], str]
    names: Callable[[str], list[str]]
    errors: tuple[type[Exception], ...]
    stream: Callable[[str, Parts], str] | None = None

    def fail(self, url: str) -> Failure:
        """The error that a call ends in."""
        try:
            self.ask(url, ("hi", "there"))
        except self.errors as exc:
            status = getattr(exc, "status_code", None) or getattr(exc, "code", None)
            if isinstance(exc, botocore.exceptions.ClientError):
                status = exc.response["ResponseMetadata"]["HTTPStatusCode"]
            body = getattr(exc, "body", "") or getattr(exc, "details", "")
            words = exc.response.text if isinstance(exc, httpx2.HTTPStatusError) else f"{exc} {json.dumps(body, default=str)}"
            return Failure(status or exc.response.status_code, words)  # type: ignore[attr-defined]
        raise AssertionError("no error came")


def post(url: str, body: Any, **more: Any) -> httpx2.Response:
    """A plain request."""
    return httpx2.post(url, json=body, verify=False, **{"timeout": SECONDS, **more})


def _plain() -> httpx2.Client:
    """A client that loads no certificates, which takes longer than everything else here."""
    return httpx2.Client(verify=False, timeout=SECONDS)


def _text_blocks(parts: Parts, **marks: Any) -> list[dict[str, Any]]:
    blocks = [{"type": "text", "text": part} for part in parts if part]
    blocks[0] |= marks
    return blocks


@contextmanager
def _anthropic(url: str) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(api_key=KEY, base_url=url, max_retries=0, http_client=_plain()) as client:
        yield client


def _anthropic_request(parts: Parts, schema: Schema = None) -> dict[str, Any]:
    content = _text_blocks(parts, cache_control={"type": "ephemeral"})
    asked: dict[str, Any] = {
        "model": MODEL,
        "max_tokens": 99,
        "system": SYSTEM,
        "messages": [{"role": "user", "content": content}],
    }
    return asked | ({"output_config": {"format": {"type": "json_schema", "schema": schema}}} if schema else {})


def ask_anthropic(url: str, parts: Parts, schema: Schema = None) -> Told:
    with _anthropic(url) as client:
        got = client.messages.create(**_anthropic_request(parts, schema))
    usage = got.usage
    cached, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    text = "".join(block.text for block in got.content if block.type == "text")
    return Told(text, got.stop_reason or "", usage.input_tokens + cached + written, cached, usage.output_tokens)


def stream_anthropic(url: str, parts: Parts) -> str:
    with _anthropic(url) as client, client.messages.stream(**_anthropic_request(parts)) as stream:
        return "".join(stream.text_stream)


def tool_anthropic(url: str, name: str, result: str) -> str:
    asked = _anthropic_request(("hi", "?")) | {"tools": [{"name": name, "input_schema": TOOL_SCHEMA}]}
    with _anthropic(url) as client:
        got = client.messages.create(**asked)
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": result}
            for block in got.content
            if block.type == "tool_use"
        ]
        asked["messages"] += [
            {"role": "assistant", "content": [block.to_dict() for block in got.content]},
            {"role": "user", "content": results},
        ]
        (last,) = client.messages.create(**asked).content
    assert last.type == "text"
    return last.text


def _openai(url: str) -> openai.OpenAI:
    return openai.OpenAI(api_key=KEY, base_url=url + "/v1", max_retries=0, http_client=_plain())


def _chat_request(parts: Parts) -> dict[str, Any]:
    return {"model": MODEL, "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": _text_blocks(parts)}]}


def ask_chat(url: str, parts: Parts, schema: Schema = None) -> Told:
    wanted = {"type": "json_schema", "json_schema": {"name": "shape", "strict": True, "schema": schema}}
    with _openai(url) as client:
        got = client.chat.completions.create(**_chat_request(parts), **({"response_format": wanted} if schema else {}))
    usage, (choice,) = got.usage, got.choices
    assert usage is not None
    assert usage.prompt_tokens_details is not None
    cached = usage.prompt_tokens_details.cached_tokens or 0
    return Told(choice.message.content or "", choice.finish_reason, usage.prompt_tokens, cached, usage.completion_tokens)


def stream_chat(url: str, parts: Parts) -> str:
    with _openai(url) as client, client.chat.completions.create(**_chat_request(parts), stream=True) as stream:
        return "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)


def tool_chat(url: str, name: str, result: str) -> str:
    asked = _chat_request(("hi", "?")) | {"tools": [{"type": "function", "function": {"name": name, "parameters": TOOL_SCHEMA}}]}
    with _openai(url) as client:
        message = client.chat.completions.create(**asked).choices[0].message
        asked["messages"].append(message.to_dict())
        asked["messages"] += [{"role": "tool", "tool_call_id": call.id, "content": result} for call in message.tool_calls or ()]
        return client.chat.completions.create(**asked).choices[0].message.content or ""


def _input(parts: Parts) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [{"type": "input_text", "text": part} for part in parts]}]


def ask_responses(url: str, parts: Parts, schema: Schema = None) -> Told:
    text: Any = {"format": {"type": "json_schema", "name": "shape", "strict": True, "schema": schema}} if schema else openai.omit
    with _openai(url) as client:
        got = client.responses.create(model=MODEL, instructions=SYSTEM, input=_input(parts), text=text)  # type: ignore[arg-type]
    usage = got.usage
    assert usage is not None
    return Told(
        got.output_text, got.status or "", usage.input_tokens, usage.input_tokens_details.cached_tokens, usage.output_tokens
    )


def stream_responses(url: str, parts: Parts) -> str:
    with _openai(url) as client, client.responses.stream(model=MODEL, input=_input(parts)) as stream:  # type: ignore[arg-type]
        return stream.get_final_response().output_text


def tool_responses(url: str, name: str, result: str) -> str:
    items: list[Any] = _input(("hi", "?"))
    tools: list[Any] = [{"type": "function", "name": name, "parameters": TOOL_SCHEMA, "strict": False}]
    with _openai(url) as client:
        output = client.responses.create(model=MODEL, input=items, tools=tools).output
        items += [item.to_dict() for item in output]
        items += [
            {"type": "function_call_output", "call_id": item.call_id, "output": result}
            for item in output
            if item.type == "function_call"
        ]
        return client.responses.create(model=MODEL, input=items, tools=tools).output_text


def _openai_names(url: str) -> list[str]:
    with _openai(url) as client:
        return [model.id for model in client.models.list()]


def _anthropic_names(url: str) -> list[str]:
    with _anthropic(url) as client:
        return [model.id for model in client.models.list()]


@contextmanager
def _gemini(url: str) -> Iterator[genai.Client]:
    with _plain() as plain:
        client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=url, api_version="v1beta", httpx_client=plain))
        try:
            yield client
        finally:
            client.close()


def _turn(parts: Parts) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=part) for part in parts])


def ask_gemini(url: str, parts: Parts, schema: Schema = None) -> Told:
    config = types.GenerateContentConfig(
        system_instruction=SYSTEM, response_mime_type="application/json" if schema else None, response_json_schema=schema
    )
    with _gemini(url) as client:
        got = client.models.generate_content(model=MODEL, contents=[_turn(parts)], config=config)
    if not got.candidates:
        assert got.prompt_feedback is not None
        return Told("", str(got.prompt_feedback.block_reason.value))  # type: ignore[union-attr]
    usage = got.usage_metadata
    assert usage is not None
    stop = str(got.candidates[0].finish_reason.value)  # type: ignore[union-attr]
    return Told(
        got.text or "",
        stop,
        usage.prompt_token_count or 0,
        usage.cached_content_token_count or 0,
        usage.candidates_token_count or 0,
    )


def stream_gemini(url: str, parts: Parts) -> str:
    with _gemini(url) as client:
        return "".join(piece.text or "" for piece in client.models.generate_content_stream(model=MODEL, contents=[_turn(parts)]))


def tool_gemini(url: str, name: str, result: str) -> str:
    tool = types.Tool(function_declarations=[types.FunctionDeclaration(name=name, parameters_json_schema=TOOL_SCHEMA)])
    by_hand = types.AutomaticFunctionCallingConfig(disable=True)
    config = types.GenerateContentConfig(tools=[tool], automatic_function_calling=by_hand)
    turns = [_turn(("hi", "?"))]
    with _gemini(url) as client:
        got = client.models.generate_content(model=MODEL, contents=turns, config=config)
        answers = [
            types.FunctionResponse(id=call.id, name=call.name, response={"output": result}) for call in got.function_calls or ()
        ]
        turns += [got.candidates[0].content]  # type: ignore[index,list-item]
        turns += [types.Content(role="user", parts=[types.Part(function_response=answer) for answer in answers])]
        return client.models.generate_content(model=MODEL, contents=turns, config=config).text or ""


def _gemini_names(url: str) -> list[str]:
    with _gemini(url) as client:
        return [(model.name or "").removeprefix("models/") for model in client.models.list()]


def _ollama_request(parts: Parts, **more: Any) -> dict[str, Any]:
    turns = [{"role": "system", "content": SYSTEM}, *({"role": "user", "content": part} for part in parts)]
    return {"model": MODEL, "stream": False, "messages": turns, **more}


def ask_ollama(url: str, parts: Parts, schema: Schema = None) -> Told:
    reply = post(url + "/api/chat", _ollama_request(parts, **({"format": schema} if schema else {}))).raise_for_status()
    got = reply.json()
    cached = got.get("prompt_eval_cached_count", 0)
    return Told(got["message"]["content"], got["done_reason"], got["prompt_eval_count"], cached, got["eval_count"], got)


def stream_ollama(url: str, parts: Parts) -> str:
    lines = [json.loads(line) for line in post(url + "/api/chat", _ollama_request(parts, stream=True)).text.splitlines()]
    return "".join(line["message"]["content"] for line in lines)


def tool_ollama(url: str, name: str, result: str) -> str:
    asked = _ollama_request(("hi", "?"), tools=[{"type": "function", "function": {"name": name, "parameters": TOOL_SCHEMA}}])
    message = post(url + "/api/chat", asked).json()["message"]
    asked["messages"] += [message, *({"role": "tool", "tool_name": name, "content": result} for _ in message["tool_calls"])]
    return str(post(url + "/api/chat", asked).json()["message"]["content"])


def _ollama_names(url: str) -> list[str]:
    return [model["name"] for model in httpx2.get(url + "/api/tags", timeout=SECONDS, verify=False).json()["models"]]


@contextmanager
def _bedrock(url: str) -> Iterator[Any]:
    config = botocore.client.Config(retries={"total_max_attempts": 1}, read_timeout=SECONDS)
    client = boto3.client(
        "bedrock-runtime",
        endpoint_url=url,
        region_name="eu-west-1",
        aws_access_key_id=KEY,
        aws_secret_access_key="s",
        config=config,
    )
    try:
        yield client
    finally:
        client.close()


def _bedrock_request(parts: Parts, schema: Schema = None) -> dict[str, Any]:
    first, *others = [{"text": part} for part in parts if part]
    content = [first, {"cachePoint": {"type": "default"}}, *others]
    asked: dict[str, Any] = {"modelId": MODEL, "system": [{"text": SYSTEM}], "messages": [{"role": "user", "content": content}]}
    tool = {"toolSpec": {"name": "answer", "inputSchema": {"json": schema}}}
    return asked | ({"toolConfig": {"tools": [tool], "toolChoice": {"tool": {"name": "answer"}}}} if schema else {})


def ask_bedrock(url: str, parts: Parts, schema: Schema = None) -> Told:
    with _bedrock(url) as client:
        got = client.converse(**_bedrock_request(parts, schema))
    usage, (block, *_) = got["usage"], got["output"]["message"]["content"]
    cached = usage["cacheReadInputTokens"]
    total = usage["inputTokens"] + cached + usage["cacheWriteInputTokens"]
    text = block["text"] if "text" in block else json.dumps(block["toolUse"]["input"])
    return Told(text, got["stopReason"], total, cached, usage["outputTokens"])


def tool_bedrock(url: str, name: str, result: str) -> str:
    asked = _bedrock_request(("hi", "?"))
    asked["toolConfig"] = {"tools": [{"toolSpec": {"name": name, "inputSchema": {"json": TOOL_SCHEMA}}}]}
    with _bedrock(url) as client:
        message = client.converse(**asked)["output"]["message"]
        ids = [block["toolUse"]["toolUseId"] for block in message["content"] if "toolUse" in block]
        results = [{"toolResult": {"toolUseId": one, "content": [{"text": result}]}} for one in ids]
        asked["messages"] += [message, {"role": "user", "content": results}]
        return str(client.converse(**asked)["output"]["message"]["content"][0]["text"])


_HI = [{"role": "user", "content": "hi"}]
_GENERATE = f"/v1beta/models/{MODEL}:generateContent"
DIALECTS = (
    Dialect("anthropic", "/v1/messages", {"model": MODEL, "max_tokens": 9, "messages": _HI},
            ask_anthropic, tool_anthropic, _anthropic_names, (anthropic.APIError, httpx2.TransportError), stream_anthropic),
    Dialect("openai", "/v1/chat/completions", {"model": MODEL, "messages": _HI},
            ask_chat, tool_chat, _openai_names, (openai.APIError, httpx2.TransportError), stream_chat),
    Dialect("responses", "/v1/responses", {"model": MODEL, "input": "hi"},
            ask_responses, tool_responses, _openai_names, (openai.APIError, httpx2.TransportError, RuntimeError), stream_responses),
    Dialect("gemini", _GENERATE, {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
            ask_gemini, tool_gemini, _gemini_names, (google_errors.APIError, httpx2.TransportError), stream_gemini),
    Dialect("ollama", "/api/chat", {"model": MODEL, "stream": False, "messages": _HI},
            ask_ollama, tool_ollama, _ollama_names, (httpx2.HTTPError, KeyError), stream_ollama),
    Dialect("bedrock", f"/model/{MODEL}/converse", {"messages": [{"role": "user", "content": [{"text": "hi"}]}]},
            ask_bedrock, tool_bedrock, lambda _: [], (botocore.exceptions.ClientError,)),
)  # fmt: skip
