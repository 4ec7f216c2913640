"""Models on an Ollama server, through its own API: the compatible one has no `num_ctx`."""

import math
import re
from typing import Any, ClassVar

import msgspec
from msgspec.structs import replace

from reviewbot.llm import http, provider
from reviewbot.llm.http import HttpProvider, OnText, Parts, VendorError
from reviewbot.llm.provider import Account, ModelReply, ModelRequest, ProviderError, Usage

TOOLS = "tools"
CONTEXT_STEP = 1_024
# How fields of Usage begin that are seconds, and the counters of nanoseconds.
DURATIONS = {"load": "load_duration", "input": "prompt_eval_duration", "output": "eval_duration"}


def address_of(host: str) -> str:
    """Where the server of OLLAMA_HOST answers: a URL, `host`, or `host:port`; 0.0.0.0 is local."""
    address = host.strip().rstrip("/")
    if "://" not in address:
        port = "" if re.search(r":\d+$", address) else ":11434"
        address = f"http://{address or '127.0.0.1'}{port}"
    return address.replace("//0.0.0.0", "//127.0.0.1")


class Ollama(HttpProvider):
    complaints: ClassVar = {TOOLS: re.compile("does not support tools")}
    unreachable_hint = "start it with `ollama serve`, or set OLLAMA_HOST"

    def __init__(self, account: Account) -> None:
        super().__init__(account, address_of(account.base_url))
        self._contexts: dict[str, int] = {}  # by model

    async def _ask(self, request: ModelRequest, without: Parts, on_text: OnText) -> ModelReply:
        if not request.may_call_tools or TOOLS in without:
            request = replace(request, tools=())
        body = self._body(request)
        said, last = dict[str, str](), dict[str, Any]()
        wishes: list[provider.Wish] = []
        async with self._post("/api/chat", body, self._bearer) as lines:
            async for line in lines:
                last = msgspec.json.decode(line, type=dict[str, Any])
                if error := last.get("error"):
                    raise VendorError(500, error)
                message = last.get("message") or {}
                for name in {"content", "thinking"} & message.keys():
                    said[name] = said.get(name, "") + (message[name] or "")
                on_text(message.get("content") or "")
                for call in message.get("tool_calls") or ():
                    function = call["function"]
                    wishes.append((call.get("id"), function["name"], function.get("arguments")))
        # The last line has the counters.
        usage, read = None, last.get("prompt_eval_count", 0)
        if written := last.get("eval_count"):
            took = {f"{n}_seconds": last.get(counter, 0) / 1e9 for n, counter in DURATIONS.items()}
            usage = Usage(input_tokens=read, output_tokens=written, **took)
        if read >= body["options"]["num_ctx"]:
            # Servers before 0.12.6 cut a prompt to exactly that.
            message = f"{self._account.name} read only {read} tokens"
            raise ProviderError(message, fault="too_long", usage=usage)
        calls = provider.calls_of(request, wishes)
        reply = ModelReply(text=said.get("content", ""), calls=calls, usage=usage, native=said)
        stop = last.get("done_reason") or "nothing"
        return self._checked(request, reply, stop if last.get("done") else "")

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        # A grammar for the answer would keep the model from calling tools.
        question = provider.question_of(request, with_schema=bool(request.tools))
        messages: list[Any] = [{"role": "user", "content": f"{request.prefix}\n\n{question}"}]
        for turn in request.turns:
            calls = []
            for call in turn.calls:
                function = {"name": call.name, "arguments": http.json_object(call.arguments)}
                calls.append({"id": call.id, "function": function})
            messages.append({"role": "assistant", **(turn.native or {}), "tool_calls": calls})
            messages += [
                {"role": "tool", "tool_name": call.name, "tool_call_id": call.id, "content": result}
                for call, result in turn.pairs
            ]
        tools = [{"type": "function", "function": tool} for tool in request.tools]
        needed = len(msgspec.json.encode((messages, tools))) // 3 + request.max_output_tokens
        context = self._contexts.get(request.model, 0)
        if needed > context:  # another value than before makes the server load the model again
            context = math.ceil(needed * 9 / 8 / CONTEXT_STEP) * CONTEXT_STEP
            self._contexts[request.model] = context
        length = {"num_ctx": context, "num_predict": request.max_output_tokens}
        return {
            "model": request.model,
            "messages": messages,
            **({"tools": tools} if tools else {"format": request.schema}),
            # Refuse what is too long. Servers before 0.12.6 do not know this, and cut the prompt.
            "truncate": False,
            "shift": False,
            "keep_alive": "10m",
            "options": {**length, "temperature": 0, "seed": 0},
        }

    def _meaning(self, request: ModelRequest, without: Parts, error: VendorError) -> ProviderError:
        failure, text = super()._meaning(request, without, error), http.message_of(error.body)
        if error.status == 404 and "model" in text:
            failure.hint = f"ollama pull {request.model}"
        elif error.status == 404:
            failure.fault = "invalid"
            failure.hint = "check OLLAMA_HOST: another server answers there"
        elif "system memory" in text:
            failure.hint = "use a smaller model"
        return failure


connect = Ollama
