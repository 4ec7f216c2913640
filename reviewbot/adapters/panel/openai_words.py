"""What servers that speak OpenAI's language answer, read into values: faults, chat completions, counters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from reviewbot.adapters.panel import http
from reviewbot.ports import Account, Completion, Fault, ProviderError, Stop, Tokens, ToolCall

#: ``error.code`` (or ``error.type``) where it says more than the status. L7 to L9 and L11 of the documented faults.
_CODES = {
    "context_length_exceeded": Fault.TOO_LONG,
    "exceed_context_size_error": Fault.TOO_LONG,
    "insufficient_quota": Fault.SPENT,
    "organization_usage_limit_exceeded": Fault.SPENT,
    "credit_balance_exhausted": Fault.SPENT,
    "organization_spend_limit_exceeded": Fault.SPENT,
    "project_spend_limit_exceeded": Fault.SPENT,
    "billing_hard_limit_reached": Fault.SPENT,
    "billing_not_active": Fault.SPENT,
    "rate_limit_exceeded": Fault.RATE_LIMITED,
    "slow_down": Fault.RATE_LIMITED,
    "server_is_overloaded": Fault.OVERLOADED,
    "server_error": Fault.SERVER,
    "vector_store_timeout": Fault.SERVER,
    "model_not_found": Fault.NO_MODEL,
    "invalid_api_key": Fault.DENIED,
    "invalid_prompt": Fault.INVALID,
}
#: How servers say that a prompt is too long where they have no code for it (OpenAI's limit per minute, vLLM, LM Studio).
_LONG_WORDS = (
    "maximum context length", "context size", "context length", "context window", "prompt is too long", "request too large",
    "context the overflows",
)  # fmt: skip
_STOPS = {"stop": Stop.END, "length": Stop.LENGTH, "content_filter": Stop.REFUSED}
#: Parts of the model's turn that it wants back. The reasoning is DeepSeek's and OpenRouter's.
_RETURNED = ("role", "content", "tool_calls", "reasoning_content", "reasoning_details")
_AGAIN = (Fault.RATE_LIMITED, Fault.OVERLOADED, Fault.SERVER)


def failure(status: int, body: object, headers: Mapping[str, str], *, account: Account) -> ProviderError:
    """The error that a server answered. ``body`` is JSON, or the text where it was none, with or without ``error`` around it."""
    fault, words = judge(status, body)
    wait = http.retry_after(headers) if fault in _AGAIN else None
    if status == 404 and not _error(body):
        words += " (nothing answers at this path: check base_url, which often ends in /v1)"
    return ProviderError(fault, http.one_line(f"{account.name}: {status} {words}", account), retry_after=wait)


def judge(status: int, body: object) -> tuple[Fault, str]:
    """What a status and a body mean, and their words."""
    error = _error(body)
    code, kind = str(error.get("code") or ""), str(error.get("type") or "")
    message = str(error.get("message") or "") or (http.spoken(body) if isinstance(body, str) else "")
    if status < 400 and code.isdecimal():
        # An error in a 200, as OpenRouter sends it: its code is the status.
        status = int(code[:3])
    fault = _CODES.get(code) or _CODES.get(kind) or (http.fault_of_status(status) if status >= 400 else Fault.SERVER)
    lower = message.lower()
    if fault in (Fault.INVALID, Fault.RATE_LIMITED, Fault.SERVER) and any(word in lower for word in _LONG_WORDS):
        fault = Fault.TOO_LONG
    elif fault is Fault.DENIED and "moderation" in lower:
        # OpenRouter's 403 for one prompt, not for the account.
        fault = Fault.INVALID
    return fault, f"{code or kind}: {message}" if code or kind else message


def completion(found: Mapping[str, Any], request_id: str, account: Account) -> Completion:
    """A chat completion. Raises ProviderError for what is none, and for an error in a 200."""
    if found.get("error"):
        fault, words = judge(200, found)
        raise ProviderError(fault, http.one_line(f"{account.name}: {words}", account))
    choices = found.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise ProviderError(Fault.UNREADABLE, f"{account.name} answered without a choice")
    finish = str(choice.get("finish_reason") or "")
    if finish == "error":
        fault, words = judge(200, choice)
        raise ProviderError(fault, http.one_line(f"{account.name}: {words or 'the answer ended in an error'}", account))
    text, refusal, calls = _text(message.get("content")), message.get("refusal"), _calls(message.get("tool_calls"))
    stop, reason = _stop(finish, refused=bool(refusal), calls=bool(calls), empty=not text)
    wants = stop is Stop.TOOLS
    return Completion(
        stop=stop,
        text=text,
        tokens=tokens(found.get("usage")),
        tool_calls=calls if wants else (),
        opaque=_opaque(message) if wants else "",
        reason=http.one_line(f"refusal: {refusal}", account) if refusal else reason,
        request_id=request_id or str(found.get("id") or ""),
    )


def tokens(usage: object) -> Tokens:
    """Counters of either API. Cached tokens are a part of the input here."""
    found = usage if isinstance(usage, dict) else {}
    read = _count(found, "prompt_tokens", "input_tokens")
    written = _count(found, "completion_tokens", "output_tokens")
    if read is None or written is None:
        return Tokens(known=False)
    details = found.get("prompt_tokens_details") or found.get("input_tokens_details")
    details = details if isinstance(details, dict) else {}
    cached = min(_count(details, "cached_tokens") or 0, read)
    return Tokens(read, cached, min(_count(details, "cache_write_tokens") or 0, read - cached), written)


def _stop(finish: str, *, refused: bool, calls: bool, empty: bool) -> tuple[Stop, str]:
    """Why it stopped. Some servers say ``stop`` where they want tools; an end without text is no answer."""
    if refused:
        return Stop.REFUSED, ""
    if calls and finish in ("tool_calls", "stop"):
        return Stop.TOOLS, finish
    stop = _STOPS.get(finish, Stop.OTHER)
    if stop is Stop.END:
        return (Stop.OTHER, "an answer without text") if empty else (Stop.END, "")
    return stop, finish or "no reason given"


def _text(content: object) -> str:
    """The text of a message: a string, or a list of parts, of which only texts count."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(
        part["text"]
        for part in parts
        if isinstance(part, dict) and part.get("type", "text") in ("text", "output_text") and isinstance(part.get("text"), str)
    )


def _calls(listed: object) -> tuple[ToolCall, ...]:
    """The wishes. Arguments that a server gives as an object instead of text are written out."""
    found = []
    for number, item in enumerate(listed if isinstance(listed, list) else []):
        function = item.get("function") if isinstance(item, dict) else None
        if isinstance(function, dict):
            given = function.get("arguments")
            arguments = given if isinstance(given, str) else json.dumps(given or {}, ensure_ascii=False)
            found.append(ToolCall(str(item.get("id") or f"call_{number}"), str(function.get("name") or ""), arguments))
    return tuple(found)


def _opaque(message: Mapping[str, Any]) -> str:
    kept = {"role": "assistant"} | {key: message[key] for key in _RETURNED if message.get(key) is not None}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


def _count(found: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = found.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None


def _error(body: object) -> Mapping[str, Any]:
    """``error`` of a body, or the body where the library has unwrapped it, or what other servers put in its place."""
    found = body if isinstance(body, dict) else {}
    inner = found.get("error", found)
    if isinstance(inner, str):
        return {"message": inner}
    inner = inner if isinstance(inner, dict) else {}
    return inner if inner.get("message") or "detail" not in found else {"message": json.dumps(found["detail"])}
