"""Warm one, then fan out: a provider's cache holds a prefix only once the first answer to it has begun."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

WORTH_TOKENS = 1_024
"""Prompts below this length are cached by no vendor (OpenAI's and Anthropic's documented minimum)."""

PATIENCE_SECONDS = 8.0
"""By then a long prompt has been read, whether or not a server says so before its answer is complete."""


class Warmth:
    """Which prefixes are warm, by any key."""

    def __init__(self, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._patience = patience_seconds
        self._begun: dict[str, asyncio.Event] = {}

    @asynccontextmanager
    async def turn(self, key: str) -> AsyncIterator[Callable[[], None]]:
        """Around one call. The first with its key goes at once, the others when it has begun to answer (or ended, or patience
        has). Yields what to call when the answer begins."""
        first = key not in self._begun
        begun = self._begun.setdefault(key, asyncio.Event())
        if not first and not begun.is_set():
            try:
                async with asyncio.timeout(self._patience):
                    await begun.wait()
            except TimeoutError:
                pass
        try:
            yield begun.set
        finally:
            if first:
                begun.set()
