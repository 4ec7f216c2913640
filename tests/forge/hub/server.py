"""The socket: a request as a value in, an answer as a value out."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from tests.forge.hub.answers import Answer, Asked, Dropped


class Server:
    """``start`` listens on a free port of loopback in a thread of its own; ``stop`` ends it."""

    def __init__(self, done: Callable[[Asked], Answer], broken: Callable[[str], None]) -> None:
        self.done = done
        self.broken = broken
        self.http: ThreadingHTTPServer | None = None

    @property
    def port(self) -> int:
        assert self.http, "the hub is not started: with Hub() as hub"
        return int(self.http.server_address[1])

    def start(self) -> None:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1

            def answer(self) -> None:
                server.answer(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = answer  # noqa: N815

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        class Listener(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, request: object, client_address: object) -> None:
                """Who goes away early is no matter; anything else is a fault of the fake, and fails the test."""
                error = sys.exception()
                if not isinstance(error, ConnectionError):
                    server.broken(f"the fake broke:\n{traceback.format_exc()}")

        self.http = Listener(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self) -> None:
        if self.http:
            self.http.shutdown()
            self.http.server_close()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Read a request, do it, send what came of it."""
        split = urlsplit(handler.path)
        asked = Asked(
            handler.command, split.path, split.query, {k.lower(): v for k, v in handler.headers.items()}, read_content(handler)
        )
        try:
            answer = self.done(asked)
        except Dropped:
            handler.close_connection = True
            return
        handler.send_response(answer.status)
        for name, value in {"content-type": answer.media, "content-length": str(len(answer.content)), **answer.headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(answer.content)


def read_content(handler: BaseHTTPRequestHandler) -> bytes:
    """The body, also where it comes in chunks (git sends large packs so)."""
    if handler.headers.get("transfer-encoding", "").lower() != "chunked":
        return handler.rfile.read(int(handler.headers.get("content-length") or 0))
    parts = []
    while size := int(handler.rfile.readline().split(b";")[0], 16):
        parts.append(handler.rfile.read(size))
        handler.rfile.readline()
    handler.rfile.readline()
    return b"".join(parts)
