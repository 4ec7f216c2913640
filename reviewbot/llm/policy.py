"""What follows from each fault of a call: another attempt, an end, a charge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from reviewbot.llm.provider import Fault, ProviderError

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8.0  # seconds
MOST_RETRIES = 10  # of one provider in a review, so that one that is down is not asked for ever


class Policy(Struct, frozen=True, kw_only=True):
    """What a fault leads to.

    Attributes:
        attempts: how often one request is made.
        ends: what is not asked again in this review.
        ails: it speaks of the provider and not of the call, so the circuit breaker counts it.
        charged: the vendor may have charged the call although it did not say what was used.
        kept: the vendor answered and charged it, so the same question has the same outcome.
        next_model: whether the fallback model is asked instead.
    """

    attempts: int = 1
    ends: Literal["nothing", "model", "provider"] = "nothing"
    ails: bool = False
    charged: bool = False
    kept: bool = False
    next_model: bool = False


POLICIES: Mapping[Fault, Policy] = {
    "unreachable": Policy(attempts=3, ails=True, next_model=True),
    "interrupted": Policy(attempts=2, ails=True, charged=True, next_model=True),
    "overloaded": Policy(attempts=3, ails=True, next_model=True),
    "rate_limited": Policy(attempts=3, next_model=True),
    # What took too long once takes too long again.
    "timeout": Policy(ails=True, charged=True, next_model=True),
    "too_long": Policy(),
    "spent": Policy(ends="provider", next_model=True),
    "denied": Policy(ends="provider", next_model=True),
    "no_model": Policy(ends="model", next_model=True),
    "invalid": Policy(),
    "refused": Policy(charged=True, kept=True),
    "truncated": Policy(charged=True, kept=True),
    # Who answers nonsense twice always does.
    "malformed": Policy(attempts=2, charged=True, next_model=True),
}


def pause_before_next(error: ProviderError, attempt: int, chance: float) -> float | None:
    """Seconds to wait after attempt number `attempt` failed; None: it was the last.

    Args:
        chance: from 0 to 1. Waits are anything up to a bound that doubles, so that not all come
            back at once; a vendor that says when to come back is believed.
    """
    if attempt >= POLICIES[error.fault].attempts:
        return None
    if error.retry_after is not None:
        return max(0.0, error.retry_after) + chance * FIRST_PAUSE
    return float(chance * min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (attempt - 1)))
