"""``--dry-run`` in words: who would be asked, about what, and the most it could cost."""

from __future__ import annotations

from reviewbot import wiring
from reviewbot.cli.tables import columns
from reviewbot.config.seats import SeatPlan

STATIC = "Nothing would be asked of a language model: the static panel reviews, at no cost."


def told(forecast: wiring.Forecast) -> str:
    """The forecast for a person."""
    seating = forecast.seating
    lines = [*([seating.why] if seating.why else []), *(f"note: {note}" for note in (*seating.notices, *forecast.notes))]
    if seating.is_static:
        return "\n".join([STATIC, *lines])
    everyone = (*seating.seats, *((seating.moderator,) if seating.moderator else ()))
    seats = columns(("seat", "role", "model", "fallback", "remark"), map(_seat, everyone), nothing="")
    reading = columns(
        ("portion", "tokens", "files"),
        ((portion.name, f"{portion.tokens:,}", _files(portion.paths)) for portion in forecast.portions),
        nothing="no portion: there is nothing to read",
    )
    price = (
        f"at most {forecast.calls} calls and ${forecast.worst_usd:.2f}, second attempts and look-ups apart "
        f"(the cap is ${forecast.cap_usd:.2f}); what the ledger holds already is not paid again"
    )
    return "\n".join([*lines, "", seats, "", reading, "", price])


def _seat(seat: SeatPlan) -> tuple[str, ...]:
    return (seat.name, seat.role, str(seat.spec), str(seat.fallback or ""), f"empty: {seat.vacant}" if seat.vacant else "")


def _files(paths: tuple[str, ...]) -> str:
    return ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
