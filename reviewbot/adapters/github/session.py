"""The one place that decides what is sent again, when, and when to give up.

* What only reads is sent again after GitHub's own trouble (5xx, a page for browsers, a cut connection), with jitter, a few times.
* What changes something is never sent again unless GitHub said that it did nothing: a rate limit, a token that ran out, a
  connection that never came about. A lost answer is an UnsureError.
* Rate limits are waited for as long as the budget of ``patience`` lasts; beyond it they are a DeferredError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from reviewbot.adapters.github import faults, reading
from reviewbot.adapters.github.auth import Keys
from reviewbot.adapters.github.exchange import Answer, Call, LostError, Wire
from reviewbot.errors import ForgeError, UnsureError
from reviewbot.ports import Clock

ATTEMPTS = 4
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 10.0
MOST_PAGES = 30


class Waits:
    """What may be waited in all, in seconds. ``sleep`` waits, ``random`` gives a number in [0, 1)."""

    def __init__(self, patience: float, *, clock: Clock, sleep: Callable[[float], None], random: Callable[[], float]) -> None:
        self._left = patience
        self._clock = clock
        self._sleep = sleep
        self._random = random

    def wait(self, seconds: float) -> bool:
        """Wait so long, or not at all where the budget does not allow it."""
        if seconds > self._left:
            return False
        begun = self._clock.seconds()
        self._sleep(seconds)
        self._left -= max(seconds, self._clock.seconds() - begun)
        return True

    def jitter(self, attempt: int) -> float:
        """Full jitter: anything from nothing to the exponential bound. ``attempt`` counts from 1."""
        return self._random() * min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (attempt - 1))


class Session:
    """Calls to one GitHub. For one thread."""

    def __init__(self, wire: Wire, keys: Keys, waits: Waits) -> None:
        self._wire = wire
        self._keys = keys
        self._waits = waits

    @property
    def graphql_url(self) -> str:
        """Where GraphQL is asked."""
        return self._wire.graphql_url

    def answer(self, call: Call) -> Answer:
        """The answer to a call: a fine one, or one whose status ``call.passing`` names. Raises ForgeError."""
        answer = self._tried(call, self._keys.bearer(self._asked))
        if answer.status == 401 and self._keys.renew():
            answer = self._tried(call, self._keys.bearer(self._asked))
        return _fine(answer, call)

    def json(self, call: Call) -> Any:
        """The JSON that a call is answered with, ``None`` for an empty body. Raises ForgeError."""
        return self.document(self.answer(call), call)

    def document(self, answer: Answer, call: Call) -> Any:
        """The JSON of an answer that is fine. Who wanted to change something and cannot read what came of it is unsure."""
        if not answer.body:
            return None
        try:
            return reading.loads(answer.body)
        except ForgeError as exc:
            raise exc if call.is_read else UnsureError(exc.message, hint="look at the pull request first") from exc

    def pages(self, call: Call, *, most: int = MOST_PAGES) -> Iterator[list[Any]]:
        """The lists of all pages, by ``Link``; at most ``most``, and none twice. Raises ForgeError."""
        seen = {call.path}
        for _ in range(most):
            answer = self.answer(call)
            yield reading.items(self.document(answer, call), "a list")
            onward = answer.next_page
            if onward is None or onward in seen:
                return
            seen.add(onward)
            call = Call("GET", onward, call.doing, is_read=True, accept=call.accept, missing=call.missing)

    def fetch(self, url: str, most: int, call: Call) -> bytes:
        """What lies elsewhere, asked for without a token and once; ``call`` led there. Raises ForgeError."""
        try:
            return self._wire.fetch(url, most)
        except LostError as exc:
            raise faults.lost(exc, call) from exc

    def pause(self, call: Call, seconds: float) -> None:
        """Wait for a limit that a body told of. Raises DeferredError where that is too long."""
        if not self._waits.wait(seconds):
            raise faults.deferred(call, seconds)

    def breathe(self, attempt: int) -> bool:
        """Wait a moment after attempt number ``attempt``; whether there may be another one."""
        return attempt < ATTEMPTS and self._waits.wait(self._waits.jitter(attempt))

    def close(self) -> None:
        """End the connections."""
        self._wire.close()

    def _asked(self, call: Call, bearer: str) -> Answer:
        """A fine answer to whoever holds a token of another kind."""
        return _fine(self._tried(call, bearer), call)

    def _tried(self, call: Call, bearer: str) -> Answer:
        """The first answer that is neither a limit nor GitHub's own trouble. Raises ForgeError after too many."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                answer = self._wire.exchange(call, bearer)
            except LostError as exc:
                may = exc.again and (call.is_read or not exc.is_sent)
                if not (may and self.breathe(attempt)):
                    raise faults.lost(exc, call) from exc
                continue
            seconds = faults.limited(answer, attempt)
            if seconds is not None:
                if attempt == ATTEMPTS:
                    raise faults.deferred(call, seconds)
                self.pause(call, seconds)
                continue
            if not faults.is_passing(answer, call):
                return answer
            if not (call.is_read and self.breathe(attempt)):
                raise faults.trouble(answer, call)
        raise AssertionError("the last attempt returns or raises")


def _fine(answer: Answer, call: Call) -> Answer:
    if answer.is_fine or answer.status in call.passing:
        return answer
    raise faults.refusal(answer, call)
