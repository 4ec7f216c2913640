"""What a review consumed, in the words of every human format: in total, and by whom. Plain words, not yet escaped."""

from __future__ import annotations

from dataclasses import dataclass

from reviewbot.domain.counted import counted
from reviewbot.domain.money import Usage
from reviewbot.domain.review import Review

MODERATOR = "moderator"
REPLAYED = "replayed: nothing was paid in this run"
NOTHING = "no model calls, $0.00"


@dataclass(frozen=True, slots=True)
class Share:
    """What one chair consumed. ``role`` and ``model`` are empty where the review does not say."""

    name: str
    role: str
    model: str
    usage: Usage

    @property
    def title(self) -> str:
        """The name, and the role where that is another word."""
        return self.name if self.role in ("", self.name) else f"{self.name} ({self.role})"


def shares(review: Review) -> tuple[Share, ...]:
    """Everyone who was asked something, in the order of the table; the moderator and whoever else was asked come last."""
    seats = {entry.seat.name: entry.seat for entry in review.attendance}
    used = review.bill.by_panelist
    names = [name for name in dict.fromkeys((*seats, *used)) if name in used and used[name].calls]
    return tuple(
        Share(name, seats[name].role if name in seats else "", seats[name].model if name in seats else "", used[name])
        for name in names
    )


def total(review: Review) -> str:
    """The whole bill on a line."""
    return words(review.bill.total)


def words(used: Usage) -> str:
    """Money, calls, tokens and seconds, the share of them served locally; what was cached, replayed or estimated, if anything."""
    if not used.calls:
        return NOTHING
    parts = [f"{dollars(used.cost_usd)} for {counted(used.calls, 'model call')}", tokens(used)]
    parts += [f"{used.seconds:.1f} s of answers"] if used.seconds else []
    return ", ".join([*parts, *reservations(used)])


def tokens(used: Usage) -> str:
    """Tokens read and written, and which part of them was cached or served locally."""
    cached = f" ({percent(used.cached_share)} cached)" if used.cached_input_tokens else ""
    local = f", {percent(used.local_share)} of all tokens local"
    return f"{used.input_tokens:,} tokens in{cached}, {used.output_tokens:,} out{local}"


def reservations(used: Usage) -> tuple[str, ...]:
    """What must be said beside the sum: what was not paid in this run, and what is an estimate."""
    told = []
    if used.replayed_calls >= used.calls > 0:
        told.append(REPLAYED)
    elif used.replayed_calls:
        told.append(f"{used.replayed_calls} of {used.calls} replayed, {dollars(used.paid_usd)} paid in this run")
    if used.estimated_usd > 0:
        whole = used.estimated_usd >= used.cost_usd
        told.append("estimated" if whole else f"{dollars(used.estimated_usd)} of it estimated")
    return tuple(told)


def dollars(amount: float) -> str:
    """US dollars; more digits where cents would say nothing."""
    return f"${amount:,.2f}" if amount >= 100 else f"${amount:.4f}"


def percent(share: float) -> str:
    """A share that is neither rounded down to nothing nor up to all."""
    if 0 < share < 0.005:
        return "<1%"
    if 0.995 <= share < 1:
        return ">99%"
    return f"{min(share, 1.0):.0%}"
