"""OpenAI's responses API, plain and as a stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.fakes.faults import Trouble
from tests.fakes.http import Reply, Request
from tests.fakes.seen import Answer, Asked, Pace, Seen, Step, Wish
from tests.fakes.wire import dialect
from tests.fakes.wire.dialect import Refusal, event
from tests.fakes.wire.openai_chat import check_strict, error_reply

#: neutral word → status, reason of an incomplete one.
STOPS = {
    "end": ("completed", ""),
    "tools": ("completed", ""),
    "length": ("incomplete", "max_output_tokens"),
    "refused": ("incomplete", "content_filter"),
}


class Responses:
    """``POST /v1/responses``."""

    def asked(self, request: Request, body: Mapping[str, Any]) -> Asked | None:
        """See Wire."""
        if request.path != "/v1/responses":
            return None
        given = body["input"]
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        system = (body.get("instructions") or "") + "".join(
            text for one in _said_by(items, "system", "developer") for text in one
        )
        parts = tuple(text for one in _said_by(items, "user") for text in one)
        wanted = (body.get("text") or {}).get("format") or {}
        if wanted.get("strict"):
            check_strict(wanted["schema"], wanted["name"])
        later = [one for one in items if "role" not in one or one["role"] == "assistant"]
        return Asked(
            "responses",
            body["model"],
            system,
            parts,
            wanted.get("schema"),
            {tool["name"]: tool.get("parameters") or {} for tool in body.get("tools") or ()},
            _exchanges(later),
            bool(body.get("stream")),
            body.get("max_output_tokens"),
            cacheable=dialect.cacheable(body.get("tools"), system, *parts, later),
        )

    def reply(self, seen: Seen, answer: Answer, pace: Pace | None) -> Reply:
        """See Wire."""
        document = _document(seen, answer)
        headers = (("x-request-id", f"req_{seen.number:06d}"),)
        if not seen.streamed:
            return Reply(200, (dialect.dumped(document),), headers=headers)
        return Reply(200, tuple(_events(document)), "text/event-stream; charset=utf-8", headers, streamed=True)

    def trouble(self, fault: Trouble) -> Reply:
        """See Wire."""
        return error_reply(fault)

    def error_event(self) -> bytes:
        """See Wire."""
        return event(
            {
                "type": "error",
                "sequence_number": 99,
                "code": "server_error",
                "message": "The server had an error.",
                "param": None,
            },
            "error",
        )


def _said_by(items: list[Mapping[str, Any]], *roles: str) -> list[list[str]]:
    return [dialect.text_of(one["content"]) for one in items if one.get("role") in roles]


def _exchanges(later: list[Mapping[str, Any]]) -> tuple[Step, ...]:
    steps: list[Step] = []
    for one in later:
        kind = one.get("type")
        if kind == "function_call":
            wish = Wish(one["name"], one["arguments"], one["call_id"])
            if steps and not steps[-1].results:
                steps[-1] = Step((*steps[-1].calls, wish))
            else:
                steps.append(Step((wish,)))
        elif kind == "function_call_output":
            if not steps or one["call_id"] not in [call.id for call in steps[-1].calls]:
                raise Refusal(f"No tool call found for function call output with call_id {one['call_id']}.")
            steps[-1] = Step(steps[-1].calls, (*steps[-1].results, (one["call_id"], one["output"], False)))
    for step in steps:
        if len(step.results) != len(step.calls):
            raise Refusal(f"No tool output found for function call {step.calls[-1].id}.")
    return tuple(steps)


def _document(seen: Seen, answer: Answer) -> dict[str, Any]:
    status, reason = STOPS.get(answer.why, (answer.why, answer.detail))
    usage = seen.usage
    document: dict[str, Any] = {
        "id": f"resp_{seen.number:06d}",
        "object": "response",
        "created_at": 1_790_000_000,
        "status": status,
        "error": {"code": reason or "server_error", "message": "The model failed."} if status == "failed" else None,
        "incomplete_details": {"reason": reason} if status == "incomplete" else None,
        "instructions": None,
        "metadata": {},
        "model": seen.model,
        "output": _output(seen, answer, status),
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": {
            "input_tokens": usage.input,
            "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": 0},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.input + usage.output,
        },
    }
    if answer.shape == "no_usage":
        document["usage"] = None
    return document


def _output(seen: Seen, answer: Answer, status: str) -> list[dict[str, Any]]:
    if answer.shape in ("empty_choices", "null_content"):
        return []
    items: list[dict[str, Any]] = []
    if answer.thinking:
        items.append(
            {"type": "reasoning", "id": f"rs_{seen.number:06d}", "summary": [{"type": "summary_text", "text": answer.thinking}]}
        )
    contents: list[dict[str, Any]] = (
        [{"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}] if answer.text else []
    )
    if answer.shape == "content_parts":
        half = len(answer.text) // 2
        contents = [{**contents[0], "text": text} for text in (answer.text[:half], answer.text[half:])]
    if answer.shape == "refusal":
        contents = [{"type": "refusal", "refusal": answer.detail}]
    if contents:
        ending = "completed" if status == "completed" else "incomplete"
        items.append(
            {"type": "message", "id": f"msg_{seen.number:06d}", "role": "assistant", "status": ending, "content": contents}
        )
    for index, wish in enumerate(answer.tool_calls):
        own = {"type": "function_call", "id": f"fc_{seen.number:04d}{index:02d}", "status": "completed", "name": wish.name}
        items.append({**own, "call_id": dialect.call_id(seen, index, wish, "call_"), "arguments": dialect.arguments_text(wish)})
    return items


def _events(document: dict[str, Any]) -> list[bytes]:
    found: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**document, "status": "in_progress", "output": [], "usage": None}}
    ]
    for index, item in enumerate(document["output"]):
        at = {"output_index": index, "item_id": item["id"]}
        begun = {**item, "status": "in_progress", **({"content": []} if item["type"] == "message" else {})}
        found.append({"type": "response.output_item.added", "output_index": index, "item": begun})
        for place, content in enumerate(item.get("content", ()) if item["type"] == "message" else ()):
            found += _content_events({**at, "content_index": place}, content)
        if item["type"] == "function_call":
            found.append({"type": "response.function_call_arguments.delta", **at, "delta": item["arguments"]})
            found.append(
                {"type": "response.function_call_arguments.done", **at, "arguments": item["arguments"], "name": item["name"]}
            )
        found.append({"type": "response.output_item.done", "output_index": index, "item": item})
    ending = document["status"] if document["status"] in ("completed", "incomplete", "failed") else "completed"
    found.append({"type": f"response.{ending}", "response": document})
    return [event({**one, "sequence_number": number}, one["type"]) for number, one in enumerate(found)]


def _content_events(at: dict[str, Any], content: dict[str, Any]) -> list[dict[str, Any]]:
    word, kind = ("text", "output_text") if content["type"] == "output_text" else ("refusal", "refusal")
    return [
        {"type": "response.content_part.added", **at, "part": {**content, word: ""}},
        *({"type": f"response.{kind}.delta", **at, "delta": piece, "logprobs": []} for piece in dialect.slices(content[word])),
        {"type": f"response.{kind}.done", **at, word: content[word], "logprobs": []},
        {"type": "response.content_part.done", **at, "part": content},
    ]
