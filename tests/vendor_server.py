"""An HTTP server on loopback that plays a vendor of models: fakes in `fake_*.py` build on it."""

import json
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from msgspec import Struct, field


class Received(Struct, frozen=True, kw_only=True):
    """A request that the server got. `number` counts from 1."""

    number: int
    method: str
    path: str
    headers: dict[str, str]  # names in lower case
    body: Any
    at: float  # time.monotonic


class Sent(Struct, frozen=True, kw_only=True):
    """What the server answers.

    Attributes:
        chunks: sent one after another, `pause` seconds apart.
        delay: seconds before the first byte.
        cut: close the connection after the last chunk without ending the body.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    chunks: Iterable[bytes] = ()
    delay: float = 0
    pause: float = 0
    cut: bool = False


def json_answer(value: Any, status: int = 200, **more: Any) -> Sent:
    return Sent(status=status, chunks=(json.dumps(value).encode(),), **more)


class VendorServer:
    """Answers each request with what `script` returns for it; a list is answered in its order.

    Attributes:
        received: all requests so far.
    """

    def __init__(self, script: Callable[[Received], Sent] | Sequence[Sent]) -> None:
        answers: Iterator[Sent] | None = None if callable(script) else iter(list(script))
        self.received: list[Received] = []
        self._is_running = False
        self.answered: list[float] = []  # when each answer was complete, by time.monotonic
        lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def handle_any(self) -> None:
                text = self.rfile.read(int(self.headers.get("content-length") or 0))
                try:
                    body = json.loads(text) if text else None
                except ValueError:
                    body = text
                with lock:
                    received = Received(
                        number=len(outer.received) + 1,
                        method=self.command,
                        path=self.path,
                        headers={name.lower(): value for name, value in self.headers.items()},
                        body=body,
                        at=time.monotonic(),
                    )
                    outer.received.append(received)
                    sent = script(received) if callable(script) else next(answers)  # type: ignore[arg-type]
                self._send(sent)
                outer.answered.append(time.monotonic())

            def _send(self, sent: Sent) -> None:
                time.sleep(sent.delay)
                try:
                    self.send_response(sent.status)
                    for name, value in sent.headers.items():
                        self.send_header(name, value)
                    is_chunked = "content-length" not in sent.headers
                    if is_chunked:
                        self.send_header("transfer-encoding", "chunked")
                    self.end_headers()
                    for number, chunk in enumerate(sent.chunks):
                        time.sleep(sent.pause if number else 0)
                        form = b"%x\r\n%b\r\n" % (len(chunk), chunk) if is_chunked else chunk
                        self.wfile.write(form)
                        self.wfile.flush()
                    if sent.cut:
                        self.close_connection = True
                        self.connection.close()
                        return
                    self.wfile.write(b"0\r\n\r\n")
                except OSError:
                    self.close_connection = True  # the client has gone

            do_GET = do_POST = do_CONNECT = handle_any

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            request_queue_size = 128  # with 5, the default, many calls at once are cut off

            def handle_error(self, *arguments: Any) -> None:
                if not isinstance(sys.exception(), ConnectionError):  # the client has gone
                    super().handle_error(*arguments)

        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    @contextmanager
    def running(self) -> Iterator["VendorServer"]:
        """Serve once; within it, it may be entered again."""
        if self._is_running:
            yield self
            return
        self._is_running = True
        thread = threading.Thread(target=self._server.serve_forever, args=(0.005,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()
