"""A server on loopback that says what a test tells it to say, byte by byte, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from reviewbot.adapters.github import Credential, Hub, Manners, Token

SECRET = "ghs_" + "canaryCANARY0123456789canaryCANARY01"
REPOSITORY = "octo/hello"
DATE = "Sat, 21 Nov 2026 12:00:00 GMT"
EPOCH = 1_795_262_400
"""``DATE`` in seconds since 1970."""


@dataclass(frozen=True)
class Say:
    """An answer. ``cut``: so many bytes of the body are sent, then the connection ends. ``silent``: it ends without an answer."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    media: str = "application/json; charset=utf-8"
    cut: int | None = None
    silent: bool = False


@dataclass(frozen=True)
class Heard:
    """A request as it came."""

    verb: str
    path: str
    headers: dict[str, str]
    body: bytes
    port: int = 0

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def say(body: Any, status: int = 200, **headers: str) -> Say:
    return Say(status, json.dumps(body).encode(), {name.replace("_", "-"): value for name, value in headers.items()})


SILENCE = Say(silent=True)
UNICORN = b"<!DOCTYPE html><html><head><title>Unicorn! &middot; GitHub</title></head></html>"


class Scripted:
    """``answers`` are said one by one; the last one again and again."""

    def __init__(self, *answers: Say | Callable[[Heard], Say]) -> None:
        self.answers = list(answers)
        self.heard: list[Heard] = []
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                scripted._answer(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}"

    def asked(self) -> list[str]:
        return [f"{heard.verb} {heard.path}" for heard in self.heard]

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        heard = Heard(
            handler.command, handler.path, {k.lower(): v for k, v in handler.headers.items()}, body, handler.client_address[1]
        )
        self.heard.append(heard)
        told = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        answer = told if isinstance(told, Say) else told(heard)
        handler.close_connection = answer.silent or answer.cut is not None
        if answer.silent:
            return
        handler.send_response_only(answer.status)
        length = {} if "transfer-encoding" in answer.headers else {"content-length": str(len(answer.body))}
        for name, value in {"date": DATE, "content-type": answer.media, **length, **answer.headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(answer.body if answer.cut is None else answer.body[: answer.cut])


@contextmanager
def listening(*answers: Say | Callable[[Heard], Say]) -> Iterator[Scripted]:
    server = Scripted(*answers)
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.http.shutdown()
        server.http.server_close()
        thread.join()


class Time:
    """A clock that only moves while somebody sleeps. ``slept`` are the pauses, in seconds."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def seconds(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@contextmanager
def opened(
    url: str,
    *,
    time: Time | None = None,
    patience: float = 300.0,
    credential: Credential | None = None,
    repository: str = REPOSITORY,
) -> Iterator[Hub]:
    time = time or Time()
    manners = Manners(patience, sleep=time.sleep, random=lambda: 0.5)
    hub = Hub.open(url, repository, credential or Token(SECRET), clock=time, manners=manners)
    try:
        yield hub
    finally:
        hub.close()
