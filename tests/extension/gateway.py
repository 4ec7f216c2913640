"""A gateway on loopback as the example's provider speaks to it: scripts of the fake models answer."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.fakes.scripts import Script, perform
from tests.fakes.seen import Answer, Asked, Seen, Step, Wish


class Gateway:
    """``url`` answers by ``script``, which may be replaced. ``bodies`` are the questions, ``keys`` what came as a key."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.bodies: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Gateway:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, body: dict[str, Any], key: str) -> dict[str, Any]:
        """What is said to a question."""
        with self._lock:
            self.keys.add(key)
            self.bodies.append(body)
            made = perform(self.script, _seen(body, len(self.bodies)))
        assert isinstance(made, Answer)
        if made.tool_calls:
            wishes = [{"id": f"w{n}", "name": wish.name, "arguments": wish.arguments} for n, wish in enumerate(made.tool_calls)]
            return {"tool_calls": wishes, "input_tokens": 10, "output_tokens": 5}
        return {"text": made.text, "input_tokens": 10, "output_tokens": 5}


def _seen(body: dict[str, Any], number: int) -> Seen:
    steps = tuple(
        Step(
            tuple(Wish(call["name"], call["arguments"], call["id"]) for call in step["calls"]),
            tuple((one["call_id"], one["text"], one["is_error"]) for one in step["results"]),
        )
        for step in body["looked_up"]
    )
    asked = Asked(
        "gateway",
        body["model"],
        body["system"],
        (body["question"],),
        body["answer_schema"],
        {tool["name"]: tool["parameters"] for tool in body["tools"]},
        steps,
    )
    return Seen(number, asked, {}, "/answer", body, b"", 0.0, 1)


def _handler(gateway: Gateway) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._say({"models": ["house-1"]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            self._say(gateway.answer(body, self.headers.get("authorization", "")))

        def _say(self, document: dict[str, Any]) -> None:
            data = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    return Handler
