"""What golangci-lint says of gofmt: that a file is not formatted, and no word of how it should be. gofmt itself writes that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from reviewbot.evidence.fixers import splices
from reviewbot.evidence.fixers.offer import Change, Offer
from reviewbot.evidence.fixers.text import Break, Measure, Spot, Unit
from reviewbot.evidence.formatters import tidy
from reviewbot.evidence.formatters.table import GOFMT
from reviewbot.evidence.view import CheckOptions, View
from reviewbot.ports import Job, Outcome

LINTER, RULE = "golangci-lint", "gofmt"

_SIMPLE = replace(GOFMT, command='"$tool" -s')
"""As golangci-lint calls it, unless it is told otherwise."""
_MEASURE = Measure((Unit.BYTE,), (Break.FEED,), (True,))


def jobs(texts: tidy.Texts, view: View, options: CheckOptions) -> tuple[Job, ...]:
    """Runs of gofmt over files of the head. They only parse."""
    return tidy.jobs(_SIMPLE, texts, view, seconds=options.seconds)


def offers(texts: tidy.Texts, outcomes: Sequence[Outcome]) -> Iterator[Offer]:
    """How each file should be; of one that cannot be read, nothing."""
    for (path, data), tidied in zip(texts, tidy.read(texts, outcomes), strict=True):
        if tidied is not None:
            yield Offer(path, 0, RULE, tuple(_changes(path, data, tidied)), _MEASURE, "Format the file as gofmt does")


def _changes(path: str, data: bytes, tidied: bytes) -> Iterator[Change]:
    for one in splices.between(path, data, tidied):
        yield Change(path, Spot(0, one.start), Spot(0, one.end), one.text.decode("utf-8", "replace"))
