"""Sending a reply: well, or broken in one of the ways that happen."""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tests.fakes.http import Reply, chunk

POLL_SECONDS = 0.01
MEGABYTE = 1024 * 1024


class Left(Exception):
    """The client hung up before it had everything."""


class Line:
    """One connection, on which at most one reply is under way. ``ending`` is called before the last byte goes out."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.begun: Callable[[], None] = _nothing
        self.ending: Callable[[], None] = _nothing

    def check(self) -> None:
        """Raises Left where the client is gone."""
        if self.reader.exception() is not None or self.reader.at_eof() or self.writer.is_closing():
            raise Left

    async def until(self, moment: float) -> None:
        """Wait for a moment of the loop's clock. Raises Left as soon as the client goes."""
        now = asyncio.get_running_loop().time
        while (rest := moment - now()) > 0:
            self.check()
            await asyncio.sleep(min(rest, POLL_SECONDS))

    async def pause(self, seconds: float) -> None:
        """Wait. Raises Left."""
        await self.until(asyncio.get_running_loop().time() + seconds)

    async def send(self, data: bytes) -> None:
        """Send and wait until most of it is on its way. Raises Left."""
        self.begun()
        try:
            self.writer.write(data)
            await self.writer.drain()
        except ConnectionError as exc:
            raise Left from exc

    async def give(self, reply: Reply, between: float = 0.0) -> None:
        """A good reply. A stream sends its first piece, waits ``between`` seconds, then sends the rest."""
        if not reply.streamed:
            self.ending()
            await self.send(reply.head(("Content-Length", str(len(reply.body)))) + reply.body)
            return
        first, *others = reply.pieces
        await self.send(reply.head(("Transfer-Encoding", "chunked")) + chunk(first))
        await self.pause(between)
        for piece in others:
            await self.send(chunk(piece))
        self.ending()
        await self.send(chunk(b""))

    async def silence(self) -> None:
        """Nothing, until the client goes."""
        while True:
            self.check()
            await asyncio.sleep(POLL_SECONDS)

    async def hang_up(self) -> None:
        """End the connection in order."""
        self.ending()
        self.writer.close()


Way = Callable[[Line, Reply, Mapping[str, Any]], Awaitable[None]]


def _nothing() -> None:
    return None


def _framing(reply: Reply) -> tuple[str, str]:
    return ("Transfer-Encoding", "chunked") if reply.streamed else ("Content-Length", str(len(reply.body)))


async def _truncated(line: Line, reply: Reply, options: Mapping[str, Any]) -> None:
    await line.send(reply.head(("Content-Length", str(len(reply.body)))) + reply.body[: options["at"]])
    await line.hang_up()


async def _truncated_chunked(line: Line, reply: Reply, options: Mapping[str, Any]) -> None:
    await line.send(reply.head(("Transfer-Encoding", "chunked")))
    if part := reply.body[: options["at"]]:
        await line.send(chunk(part))
    if options["ended"]:
        await line.send(chunk(b""))
    await line.hang_up()


async def _truncated_unframed(line: Line, reply: Reply, options: Mapping[str, Any]) -> None:
    await line.send(reply.head(("Connection", "close")) + reply.body[: options["at"]])
    await line.hang_up()


async def _cut(line: Line, reply: Reply, options: Mapping[str, Any]) -> None:
    await _some(line, reply, options["after"])
    await line.hang_up()


async def _some(line: Line, reply: Reply, pieces: int) -> None:
    """The head and the first pieces; of a reply in one piece its first half."""
    await line.send(reply.head(_framing(reply)))
    if not reply.streamed:
        await line.send(reply.body[: len(reply.body) // 2])
    for piece in reply.pieces[:pieces] if reply.streamed else ():
        await line.send(chunk(piece))


async def _error_event(line: Line, reply: Reply, options: Mapping[str, Any]) -> None:
    if not reply.streamed:
        await _cut(line, reply, options)
        return
    await _some(line, reply, options["after"])
    await line.send(chunk(options["event"]))
    line.ending()
    await line.send(chunk(b""))


async def _hang(line: Line, reply: Reply, options: Mapping[str, Any]) -> None:
    after = options["after"]
    if after != "request":
        sent = 0 if after == "headers" else after
        await line.send(reply.head(("Content-Length", str(len(reply.body)))) + reply.body[:sent])
    await line.silence()


async def _trickle(line: Line, reply: Reply, options: Mapping[str, Any]) -> None:
    await line.send(reply.head(("Content-Length", str(len(reply.body)))))
    for index in range(len(reply.body) - 1):
        await line.send(reply.body[index : index + 1])
        await line.pause(1 / options["rate"])
    line.ending()
    await line.send(reply.body[-1:])


async def _gzip_bomb(line: Line, reply: Reply, options: Mapping[str, Any]) -> None:
    packed = await asyncio.to_thread(_bomb, options["megabytes"])
    line.ending()
    await line.send(reply.head(("Content-Encoding", "gzip"), ("Content-Length", str(len(packed)))) + packed)


def _bomb(megabytes: int) -> bytes:
    return gzip.compress(b'{"error":"' + b"A" * (megabytes * MEGABYTE) + b'"}')


async def _huge(line: Line, reply: Reply, options: Mapping[str, Any]) -> None:
    size = options["megabytes"] * MEGABYTE
    opening, closing = b'{"error":"', b'"}'
    await line.send(reply.head(("Content-Length", str(len(opening) + size + len(closing)))) + opening)
    for _ in range(options["megabytes"] * 16):
        await line.send(b"A" * (MEGABYTE // 16))
    line.ending()
    await line.send(closing)


async def _endless_chunks(line: Line, reply: Reply, options: Mapping[str, Any]) -> None:
    await line.send(reply.head(("Transfer-Encoding", "chunked")))
    while True:
        line.check()
        await line.send(chunk(b" " * options["size"]))
        await asyncio.sleep(options["pause"])


async def _content_length_lie(line: Line, reply: Reply, options: Mapping[str, Any]) -> None:
    await line.send(reply.head(("Content-Length", str(len(reply.body) + options["by"]))) + reply.body)
    await line.hang_up()


async def _connection_reset(line: Line, reply: Reply, options: Mapping[str, Any]) -> None:
    own: socket.socket = line.writer.get_extra_info("socket")
    own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    line.ending()
    line.writer.transport.abort()


async def _wrong_content_type(line: Line, reply: Reply, options: Mapping[str, Any]) -> None:
    await line.give(Reply(reply.status, reply.pieces, options["content_type"], reply.headers, reply.streamed))


WAYS: dict[str, Way] = {
    "truncated": _truncated,
    "truncated_chunked": _truncated_chunked,
    "truncated_unframed": _truncated_unframed,
    "cut": _cut,
    "error_event": _error_event,
    "hang": _hang,
    "trickle": _trickle,
    "gzip_bomb": _gzip_bomb,
    "huge": _huge,
    "endless_chunks": _endless_chunks,
    "content_length_lie": _content_length_lie,
    "connection_reset": _connection_reset,
    "wrong_content_type": _wrong_content_type,
}
