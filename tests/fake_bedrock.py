"""Answers of Amazon Bedrock's Converse API, and its faults. Signatures are not verified."""

from collections.abc import Sequence
from typing import Any

from tests.vendor_server import Sent, json_answer


def answer(
    text: str = "",
    *,
    calls: Sequence[tuple[str, str, Any]] = (),
    stop: str = "",
    input_tokens: int = 10,
    cached: int = 0,
    written: int = 0,
) -> Sent:
    """
    Args:
        calls: of tools, as (id, name, arguments).
        input_tokens: those that are not cached, as the API counts them.
    """
    content: list[dict[str, Any]] = [{"text": text}] if text or calls else []
    for id_, name, value in calls:
        content.append({"toolUse": {"toolUseId": id_, "name": name, "input": value}})
    usage = {"inputTokens": input_tokens, "outputTokens": 5, "totalTokens": 0}
    usage |= {"cacheReadInputTokens": cached, "cacheWriteInputTokens": written}
    said = {"output": {"message": {"role": "assistant", "content": content}}, "usage": usage}
    stop = stop or ("tool_use" if calls else "end_turn")
    return json_answer({"metrics": {"latencyMs": 12}, "stopReason": stop, **said})


def error(status: int, code: str, message: str) -> Sent:
    headers = {"x-amzn-errortype": f"{code}:http://internal.amazon.com/", "retry-after": "3"}
    return json_answer({"message": message}, status, headers=headers)


def refuses(message: str) -> Sent:
    return error(400, "ValidationException", message)


LONG = "The model returned the following errors: Input is too long for requested model."
SUBSCRIPTION = "Model access is denied: the role may not perform AWS Marketplace actions."
FAULTS: dict[str, Sent] = {
    "overloaded: 503": error(503, "ServiceUnavailableException", "Too many connections."),
    "overloaded: model": error(424, "ModelErrorException", "The model returned an error."),
    "rate_limited: 429": error(429, "ThrottlingException", "Too many requests, please wait."),
    "spent: a day": error(429, "ThrottlingException", "Too many tokens per day, please wait."),
    "spent: quota": error(400, "ServiceQuotaExceededException", "You have exceeded your quota."),
    "timeout: 408": error(408, "ModelTimeoutException", "The request took too long to process."),
    "too_long: 400": refuses(LONG),
    "too_long: 413": error(413, "RequestEntityTooLargeException", "Request entity is too large"),
    "invalid: 400": refuses("The provided request is not valid."),
    "denied: 403": error(403, "UnrecognizedClientException", "The security token is invalid."),
    "no_model: subscription": error(403, "AccessDeniedException", SUBSCRIPTION),
    "no_model: 403": error(403, "AccessDeniedException", "You don't have access to the model."),
    "no_model: 404": error(404, "ResourceNotFoundException", "It has reached the end of its life."),
    "truncated: max_tokens": answer("half of", stop="max_tokens"),
    "truncated: answer": answer(calls=[("use_1", "answer", {"claims": []})], stop="max_tokens"),
    "refused: guardrail": answer("Sorry.", stop="guardrail_intervened"),
    "refused: filter": answer(stop="content_filtered"),
    "malformed: tool": answer("half of", stop="malformed_tool_use"),
    "malformed: no tool": answer("text", stop="tool_use"),
    "malformed: nothing": answer(),
    "malformed: HTML page": Sent(headers={"content-type": "text/html"}, chunks=(b"<html>",)),
    "malformed: other JSON": json_answer({"choices": []}),
    "malformed: types": json_answer({"output": {"message": {"content": [7]}}, "stopReason": ""}),
    "interrupted: cut": Sent(chunks=(b'{"output":',), cut=True),
}
