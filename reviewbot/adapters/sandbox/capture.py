"""Keeps the beginning and the end of what a stream carries."""

from __future__ import annotations

from collections import deque


class Capture:
    """Takes any number of bytes, keeps at most ``limit`` of them: three quarters from the start, one from the end."""

    def __init__(self, limit: int) -> None:
        self._head_limit = limit * 3 // 4
        self._tail_limit = limit - self._head_limit
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.total = 0

    def feed(self, data: bytes) -> None:
        """Take the next piece."""
        self.total += len(data)
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail.append(data)
            self._tail_size += len(data)
            while self._tail_size - len(self._tail[0]) >= self._tail_limit:
                self._tail_size -= len(self._tail.popleft())

    def bytes(self) -> bytes:
        """What was kept, with a line that says how much was left out in between."""
        tail = b"".join(self._tail)[-self._tail_limit :] if self._tail_limit else b""
        lost = self.total - len(self._head) - len(tail)
        gap = b"\n... %d bytes left out ...\n" % lost if lost else b""
        return bytes(self._head) + gap + tail
