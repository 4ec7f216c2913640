"""Rounds of benchmarks as they can be compared: seconds, all above zero."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.evidence.parsers.roll import Names
from reviewbot.evidence.parsers.shape import Record
from reviewbot.evidence.parsers.timing import Timing


def timings(measured: Iterable[tuple[str, Sequence[object]]]) -> tuple[Timing, ...]:
    """Name and seconds of each benchmark, in the order of the report.

    One with a round of zero is left out: it was too short for its clock, as hyperfine writes of a command that takes no longer
    than the shell that starts it. Raises Unreadable where none is left, and for what are no seconds.
    """
    names = Names()
    found: list[Timing] = []
    short = ""
    for name, rounds in measured:
        own = names.own(name)
        seconds = tuple(_second(value) for value in rounds)
        if seconds and all(second > 0 for second in seconds):
            found.append(Timing(own, seconds))
        else:
            short = short or own
    if short and not found:
        raise Unreadable(f"no time could be measured of {short[:200]!r}: let each round do more work")
    return tuple(found)


def of(record: Record, key: str) -> Sequence[object]:
    """The rounds under this key, or their median or mean as the only one where a report holds no more. Raises Unreadable."""
    values = record.values
    rounds = values.get(key)
    if isinstance(rounds, list) and rounds:
        return rounds
    record.require("median" if values.get("mean") is None else "mean")
    return [values["mean"] if values.get("median") is None else values["median"]]


def _second(value: object) -> float:
    if type(value) not in (int, float) or not isinstance(value, int | float) or value < 0:
        raise Unreadable("a round without its seconds")
    return float(value)
