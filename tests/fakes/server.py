"""The fake servers: one thread, one loop, one port on loopback, all dialects."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import socket
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.fakes.faults import Canned, Fault, Spoiled, Trouble
from tests.fakes.http import MOST_HEAD, Reply, Request, Unreadable, read_request
from tests.fakes.journal import Arrived, Journal
from tests.fakes.local import Machine
from tests.fakes.meter import counted
from tests.fakes.scripts import Item, fitting, perform
from tests.fakes.seen import Answer, Pace, Seen, Speed
from tests.fakes.transport import WAYS, Left, Line
from tests.fakes.wire import WIRES, Refusal, listings
from tests.fakes.wire.dialect import Wire, dumped

LOCAL = ("ollama",)
MOST_WAITING = 64
"""How many ``before_reply`` may block at once."""
NAMES = ("claude-fake-1", "gpt-fake-1", "gemini-fake-1", "fake:1b")


class Server:
    """A thread with a loop that listens. ``handle`` answers one request and says whether the connection goes on."""

    def __init__(self) -> None:
        self._ready = threading.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), name="fake models", daemon=True)
        self.journal = Journal()
        self.port = 0

    @property
    def url(self) -> str:
        """The origin, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def requests(self) -> list[Arrived]:
        """Every request so far."""
        return list(self.journal.requests)

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Every key header so far, as ``(name, value)``."""
        return self.journal.keys

    def __enter__(self) -> Any:
        self._socket = _bound(0)
        self.port = self._socket.getsockname()[1]
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        if kind is None and self.journal.errors:
            raise self.journal.errors[0]

    @contextlib.contextmanager
    def refuse(self) -> Iterator[None]:
        """While this lasts, connections to the port are refused."""
        self._run(self._deafen())
        try:
            yield
        finally:
            self._run(self._listen())

    async def handle(self, request: Request, line: Line) -> bool:
        """Answer one request. Raises Left."""
        raise NotImplementedError

    def _run(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _main(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._loop.set_default_executor(ThreadPoolExecutor(MOST_WAITING))
        self.prepare()
        await self._listen()
        self._ready.set()
        await self._stop.wait()
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)
        self._socket.close()

    def prepare(self) -> None:
        """What must be made inside the loop."""

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._connected, sock=self._socket, limit=MOST_HEAD, backlog=512)

    async def _deafen(self) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._socket = _bound(self.port)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        line = Line(reader, writer)
        try:
            while (request := await read_request(reader)) is not None:
                self.journal.arrived(request)
                if not await self.handle(request, line) or writer.is_closing():
                    break
        except (Left, Unreadable, ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        except Exception as exc:  # noqa: BLE001 - a mistake in a script: the test shall see it
            self.journal.errors.append(exc)
        finally:
            self._tasks.discard(task)
            if writer.is_closing():
                with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                    await writer.wait_closed()
            writer.transport.abort()  # also where it was closing and the server ended first: what is left unread is of no use


def _bound(port: int) -> socket.socket:
    # The protocol is named so that asyncio sets TCP_NODELAY on what it accepts.
    own = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    own.bind(("127.0.0.1", port))
    return own


class Decoy(Server):
    """Another origin, where no key may ever arrive."""

    async def handle(self, request: Request, line: Line) -> bool:
        """A harmless answer."""
        await line.give(Reply(200, (b'{"decoy": true}',)))
        return True


class Models(Server):
    """The models. See ``README.md``."""

    def __init__(
        self,
        seconds: float = 0.0,
        script: Item | None = None,
        *,
        names: Sequence[str] = NAMES,
        speed: Speed = Speed(),  # noqa: B008 - a frozen value
        parallel: int | None = None,
        counts: str = "cached",
        journal_file: Path | None = None,
    ) -> None:
        super().__init__()
        self.seconds = seconds
        self.script: Item = script if script is not None else fitting()
        self.names = tuple(names)
        self.speed = speed
        self.journal = Journal(journal_file)
        self._parallel, self._counts = parallel, counts

    @property
    def calls(self) -> list[Seen]:
        """Every call so far."""
        return list(self.journal.calls)

    @property
    def refused(self) -> list[str]:
        """Why requests were refused that the real servers would refuse, too."""
        return list(self.journal.refused)

    @property
    def most_in_flight(self) -> int:
        """The most calls that were under way at once."""
        return self.journal.most_in_flight

    def bytes_shared(self) -> float:
        """The share of prompt bytes in the longest common prefix with an earlier call of the same protocol and model."""
        return self.journal.bytes_shared()

    def wait_for(self, calls: int, seconds: float = 10.0) -> None:
        """Wait until so many calls have arrived. Raises TimeoutError."""
        self.journal.wait_for(calls, seconds)

    def wait_idle(self, seconds: float = 10.0) -> None:
        """Wait until no call is under way. Raises TimeoutError."""
        self.journal.wait_idle(seconds)

    def reset(self) -> None:
        """Forget all calls, and what is cached and loaded with them."""
        self.journal.forget()
        self.machine.loaded.clear()

    def prepare(self) -> None:
        """The local machine has a place for each answer, and places belong to a loop."""
        self.machine = Machine(lambda: self.speed, self._parallel, self._counts)

    async def handle(self, request: Request, line: Line) -> bool:
        """One request: a control, a listing, or a call."""
        line.begun = line.ending = lambda: None
        listed = self._control(request) or listings.listing(request, self.names, tuple(self.machine.loaded))
        if listed is not None:
            await line.give(listed)
            return True
        try:
            found = _read(request)
        except Refusal as exc:
            self.journal.refused.append(str(exc))
            await line.give(_wire_of(request).trouble(Trouble("refused", "bad_request", str(exc))))
            return True
        if found is None:
            await line.give(Reply(404, (dumped({"error": {"message": f"no route for {request.method} {request.path}"}}),)))
            return True
        wire, seen = found[0], self.journal.began(found[1], request, found[2])
        try:
            await self._answer(wire, seen, line)
        except Left:
            self.journal.ended(seen, "left")
            raise
        finally:
            self.journal.ended(seen, "stopped")
        return True

    async def _answer(self, wire: Wire, seen: Seen, line: Line) -> None:
        said = perform(self.script, seen)
        answer = said if isinstance(said, Answer) else getattr(said, "of", None) or perform(fitting(), seen)
        assert isinstance(answer, Answer)
        seen.usage = answer.usage or counted(seen.asked, answer, self.journal.earlier(seen))
        line.begun = lambda: self.journal.replied(seen)
        line.ending = lambda: self.journal.ended(seen, "answered" if isinstance(said, Answer) else said.name)
        seconds = self.seconds if answer.seconds is None else answer.seconds
        local = seen.protocol in LOCAL and not isinstance(said, Trouble | Canned)
        half = seconds / 2 if seen.streamed and not isinstance(said, Trouble | Canned) else 0.0
        await line.pause(seconds - half)
        pace = await self._work(seen, line) if local else None
        if answer.before_reply is not None:
            await asyncio.to_thread(answer.before_reply)
        reply = _reply(wire, seen, said, answer, pace)
        seen.status, seen.reply_bytes = reply.status, len(reply.body)
        if isinstance(said, Spoiled):
            options = {**said.options, "event": wire.error_event()}
            await WAYS[said.how](line, reply, options)
        else:
            await line.give(reply, half)

    async def _work(self, seen: Seen, line: Line) -> Pace:
        if seen.asked.context is not None and seen.usage.input > seen.asked.context:
            seen.usage = dataclasses.replace(seen.usage, input=seen.asked.context, cached=0)
        return await self.machine.work(seen, line)

    def _control(self, request: Request) -> Reply | None:
        """Orders from another process."""
        if not request.path.startswith("/__fakes/"):
            return None
        order = request.path.removeprefix("/__fakes/")
        if order == "journal":
            return Reply(200, (dumped([seen.document() for seen in self.calls]),))
        if order == "speed":
            self.speed = Speed(**json.loads(request.body))
        elif order == "seconds":
            self.seconds = float(json.loads(request.body))
        elif order == "reset":
            self.reset()
        else:
            return Reply(404, (b"{}",))
        return Reply(200, (b"{}",))


def _read(request: Request) -> tuple[Wire, Any, dict[str, Any]] | None:
    """Which dialect, what was asked, and the body. Raises Refusal."""
    if request.method != "POST":
        return None
    try:
        body = json.loads(request.body or b"{}")
        for wire in WIRES.values():
            if (asked := wire.asked(request, body)) is not None:
                return wire, asked, body
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as exc:
        raise Refusal(f"the request cannot be read: {type(exc).__name__}: {exc}") from exc
    return None


def _wire_of(request: Request) -> Wire:
    ways = {
        "/v1/messages": "anthropic",
        "/api/": "ollama",
        "/model/": "bedrock",
        "/models/": "gemini",
        "/v1/responses": "responses",
    }
    return WIRES[next((name for way, name in ways.items() if way in request.path), "openai")]


def _reply(wire: Wire, seen: Seen, said: Answer | Fault, answer: Answer, pace: Pace | None) -> Reply:
    if isinstance(said, Trouble):
        return wire.trouble(said)
    if isinstance(said, Canned):
        return said.reply
    return wire.reply(seen, answer, pace)
