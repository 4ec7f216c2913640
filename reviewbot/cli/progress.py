"""What a review is doing now, on standard error."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from reviewbot.cli.options import is_given
from reviewbot.cli.output import say
from reviewbot.events import Event
from reviewbot.text.plain import plain

INTERVAL = 0.2
CLEAR = "\r\x1b[K"


class Progress:
    """Receives events: one live line on a terminal, a plain line for each with -v elsewhere."""

    def __init__(self) -> None:
        self._is_live = sys.stderr.isatty() and not is_given("quiet")
        self._is_verbose = is_given("verbose")
        self._running: list[str] = []
        self._started = time.monotonic()

    def emit(self, event: Event) -> None:
        name = event.name.strip("{}").removeprefix("own_").replace("/", ": ")
        if event.seconds is None:
            self._running.append(name)
        elif name in self._running:
            self._running.remove(name)
        if self._is_verbose and not self._is_live and event.seconds is not None:
            how = "recorded" if event.was_recorded else f"{event.seconds:.1f} s"
            say(f"reviewbot: {name} ({how})")

    @asynccontextmanager
    async def shown(self) -> AsyncIterator[None]:
        """Keep the line up to date until the end, then remove it."""
        drawing = asyncio.create_task(self._draw()) if self._is_live else None
        try:
            yield
        finally:
            if drawing:
                drawing.cancel()
                with suppress(asyncio.CancelledError):
                    await drawing
                print(end=CLEAR, file=sys.stderr, flush=True)

    async def _draw(self) -> None:
        while True:
            await asyncio.sleep(INTERVAL)
            columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80
            what = ", ".join(dict.fromkeys(self._running)) or "reading the change"
            line = f"{time.monotonic() - self._started:.0f} s  {what}"
            print(f"{CLEAR}{plain(line)[: columns - 1]}", end="", file=sys.stderr, flush=True)
