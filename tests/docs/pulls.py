"""A server that pulls models, as Ollama does, in front of a fake one that answers with them."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Pulls:
    """``with Pulls(models.url) as service``: ``service.url``; ``service.pulled`` are the names that ``/api/pull`` was asked for. All
    else goes on to ``models.url``."""

    def __init__(self, behind: str) -> None:
        self.pulled: list[str] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.path == "/api/pull":
                    asked = json.loads(body)
                    assert asked["stream"] is False
                    service.pulled.append(asked["model"])
                    self._answer(200, b'{"status": "success"}')
                else:
                    self._pass_on(body)

            def do_GET(self) -> None:
                self._pass_on(None)

            def _pass_on(self, body: bytes | None) -> None:
                request = urllib.request.Request(f"{behind}{self.path}", data=body, method=self.command)
                request.add_header("Content-Type", "application/json")
                try:
                    with urllib.request.urlopen(request, timeout=60) as reply:
                        self._answer(reply.status, reply.read())
                except urllib.error.HTTPError as error:
                    self._answer(error.code, error.read())

            def _answer(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Nothing is printed."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Pulls:
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join(10)
        self._server.server_close()
