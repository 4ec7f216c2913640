"""HTTP/1.1 by hand: one request read from a stream, one reply as bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

MOST_HEAD = 64 * 1024
KEY_HEADERS = ("authorization", "x-api-key", "x-goog-api-key", "api-key")
REASONS = {
    200: "OK",
    307: "Temporary Redirect",
    400: "Bad Request",
    404: "Not Found",
    429: "Too Many Requests",
    500: "Server Error",
}


class Unreadable(Exception):
    """The bytes are no request."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request. Header names are in lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    @property
    def host(self) -> str:
        """The origin that the client believes it talks to."""
        return self.headers.get("host", "")

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """Every key it brought, as ``(header, value)``; a ``key`` in the query counts."""
        found = tuple((name, self.headers[name]) for name in KEY_HEADERS if name in self.headers)
        return found + ((("?key", self.query["key"]),) if "key" in self.query else ())


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply, ready to be sent or spoiled. ``pieces`` joined are the body; a stream sends them one by one, chunked."""

    status: int
    pieces: tuple[bytes, ...]
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    streamed: bool = False

    @property
    def body(self) -> bytes:
        """All of it."""
        return b"".join(self.pieces)

    def head(self, *framing: tuple[str, str]) -> bytes:
        """Status line and headers; ``framing`` says how the body ends."""
        lines = [f"HTTP/1.1 {self.status} {REASONS.get(self.status, 'Status')}"]
        named = (("Content-Type", self.content_type), *self.headers, *framing)
        lines += [f"{name}: {value}" for name, value in named if value]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def chunk(data: bytes) -> bytes:
    """One chunk; empty data ends a chunked body."""
    return b"%x\r\n%s\r\n" % (len(data), data)


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """The next request of a connection, ``None`` at its end. Raises Unreadable."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as exc:
        if exc.partial:
            raise Unreadable(f"cut after {len(exc.partial)} bytes") from exc
        return None
    except asyncio.LimitOverrunError as exc:
        raise Unreadable("the head is too long") from exc
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3:
        raise Unreadable(first)
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    target = urlsplit(words[1])
    body = await _body(reader, headers)
    return Request(words[0], unquote(target.path), dict(parse_qsl(target.query)), headers, body)


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() != "chunked":
        return await reader.readexactly(int(headers.get("content-length", "0")))
    found = bytearray()
    while size := int((await reader.readline()).split(b";")[0], 16):
        found += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readuntil(b"\r\n")
    return bytes(found)
