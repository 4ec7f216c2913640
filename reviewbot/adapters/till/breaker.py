"""Keeps calls away from a provider that is down: asking it again would only cost time.

Closed → open after ``FAULTS_TO_OPEN`` faults in a row that speak of the provider and not of the call → half-open after
``PAUSE_SECONDS``: one call goes through as a probe. What no pause mends (a spent quota, a refused key) shuts it for the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from reviewbot.ports import Clock, Fault, ProviderError

FAULTS_TO_OPEN = 5
"""Three attempts of one call and the first ones of another: two calls must agree before a third pays for it."""

PAUSE_SECONDS = 30.0
"""How long an open breaker waits for its probe."""

AILING = frozenset({Fault.OVERLOADED, Fault.SERVER, Fault.NETWORK, Fault.TIMEOUT})
"""Faults that say the provider is down. A rate limit does not: it says when to come back."""

FINAL = frozenset({Fault.SPENT, Fault.DENIED})
"""Faults that no waiting mends in this run."""


class Shut(ProviderError):
    """The call was not made, because of ``fault`` in an earlier one. Trying again at once is pointless."""


class Breaker:
    """The state of one provider in one run."""

    def __init__(
        self, provider: str, *, clock: Clock, faults: int = FAULTS_TO_OPEN, pause_seconds: float = PAUSE_SECONDS
    ) -> None:
        self._provider = provider
        self._clock = clock
        self._faults = faults
        self._pause = pause_seconds
        self._in_a_row = 0
        self._last: ProviderError | None = None
        self._opened_at: float | None = None
        self._probing = False
        self._for_good: ProviderError | None = None
        self._no_model: dict[str, ProviderError] = {}

    def check(self, model: str) -> None:
        """Raises Shut where a call of ``model`` would not be let through now. Changes nothing."""
        final = self._for_good or self._no_model.get(model)
        if final is not None:
            raise Shut(final.fault, final.message)
        if self._opened_at is None or self._last is None:
            return
        left = self._opened_at + self._pause - self._clock.seconds()
        if left > 0 or self._probing:
            raise Shut(self._last.fault, f"{self._provider} is not asked for now: {self._last.message}")

    @contextmanager
    def guard(self, model: str) -> Iterator[None]:
        """Around one attempt: Shut where it may not be made, and what it shows is remembered. A probe that is cancelled
        frees its place for the next one."""
        self.check(model)
        probe = self._opened_at is not None
        self._probing = probe or self._probing
        try:
            yield
        except ProviderError as error:
            self._failed(model, error)
            raise
        else:
            self._in_a_row, self._opened_at, self._last = 0, None, None
        finally:
            if probe:
                self._probing = False

    def _failed(self, model: str, error: ProviderError) -> None:
        if error.fault in FINAL:
            self._for_good = self._for_good or error
        elif error.fault is Fault.NO_MODEL:
            self._no_model.setdefault(model, error)
        if error.fault not in AILING:
            # It answered, so it is up: whatever is wrong is wrong with this call.
            self._in_a_row, self._opened_at = 0, None
            return
        self._in_a_row += 1
        self._last = error
        if self._in_a_row >= self._faults:
            self._opened_at = self._clock.seconds()
