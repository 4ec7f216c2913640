"""``go test -bench``: the lines of https://go.dev/design/14313-benchmark-format.

The number of processors that ends a name stays there: without it, ``size-10`` on one processor and ``size`` on ten are the same.
"""

from __future__ import annotations

import re

from reviewbot.evidence.parsers import rounds
from reviewbot.evidence.parsers.failure_text import decoded
from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.evidence.parsers.timing import Timing

_NAME = re.compile(r"(Benchmark\S*)[ \t]*")
_RESULT = re.compile(r"[ \t]*\d{1,18}[ \t]+(\d{1,18}(?:\.\d{1,18})?) ns/op(?=\s|$)")
_PACKAGE = "pkg: "


def read(data: bytes) -> tuple[Timing, ...]:
    """Nanoseconds of an operation as seconds, a round for each time that the benchmark was run (``-count``). Named
    ``package.BenchmarkName-processors``. Raises Unreadable where none was run."""
    measured: dict[str, list[object]] = {}
    package = begun = ""
    for line in decoded(data).split("\n"):
        if line.startswith(_PACKAGE):
            package, begun = line.removeprefix(_PACKAGE).strip(), ""
            continue
        named = _NAME.match(line)
        begun = named[1] if named else begun
        result = _RESULT.match(line, named.end() if named else 0)
        if result and begun:
            name = f"{package}.{begun}" if package else begun
            measured.setdefault(name, []).append(float(result[1]) / 1e9)
            begun = ""
    if not measured:
        raise Unreadable("no benchmark was run: look for the reason in the output, and whether -bench names one")
    return rounds.timings(measured.items())
