"""Checks that need no process: pure functions from a file's text to results."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from reviewbot.domain.evidence import Result
from reviewbot.evidence.analysers import loops, marker, secret, unicode
from reviewbot.evidence.analysers.source import Source

Analyser = Callable[[Source], Iterator[Result]]

BY_TEXT: tuple[Analyser, ...] = (secret.analyse, unicode.analyse, marker.analyse)
"""For any text."""
BY_TREE: tuple[Analyser, ...] = (loops.analyse,)
"""For Python that parses."""
