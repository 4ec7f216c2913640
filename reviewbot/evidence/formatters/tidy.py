"""One run of a formatter over many texts, each under the name that it has in the tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reviewbot.domain.evidence import Side
from reviewbot.evidence import tools
from reviewbot.evidence.formatters.table import Formatter
from reviewbot.evidence.tools import FILES, MOST_FILES, Tool
from reviewbot.evidence.view import View, is_inside
from reviewbot.ports import Ended, Job, Outcome

Texts = Sequence[tuple[str, bytes]]
"""Names and what stands under them. A name may come more than once."""

_EACH = """tool=$1 scratch=$2 extra=$3 number=0
shift 3
for path; do
    if (%s) <"$scratch/$number" >"$TMPDIR/tidied" 2>/dev/null; then
        echo "$number $(wc -c <"$TMPDIR/tidied")"
        cat "$TMPDIR/tidied"
    fi
    number=$((number + 1))
done"""


def jobs(formatter: Formatter, texts: Texts, view: View, *, seconds: float) -> tuple[Job, ...]:
    """A run, or more than one where more texts are to be read than can be named. Configuration of the change has no effect."""
    parts = [texts[start : start + MOST_FILES] for start in range(0, len(texts), MOST_FILES)]
    return tuple(_job(formatter, part, view, seconds=seconds) for part in parts)


def read(texts: Texts, outcomes: Sequence[Outcome]) -> tuple[bytes | None, ...]:
    """What came of each text; ``None`` for one that could not be read, and where the run did not come to its end."""
    parts = [len(texts[start : start + MOST_FILES]) for start in range(0, len(texts), MOST_FILES)]
    return tuple(one for outcome, count in zip(outcomes, parts, strict=True) for one in _texts(outcome, count))


def _job(formatter: Formatter, texts: Texts, view: View, *, seconds: float) -> Job:
    names = tuple(name if is_inside(name) else "unnamed" for name, _ in texts)
    argv = ("/bin/sh", "-c", _EACH % formatter.command, "sh", formatter.program, "{scratch}", formatter.extra(view), FILES)
    tool = Tool(f"format:{formatter.name}", argv, lambda _: (), formatter.files, formatter.configuration)
    made = tools.job(tool, view, Side.HEAD, seconds=seconds, paths=names)
    assert made is not None
    made = replace(made, files=tuple((str(number), data) for number, (_, data) in enumerate(texts)))
    return replace(made, executes=False, tree=None, overlay=(), without=()) if formatter.parses else made


def _texts(outcome: Outcome, count: int) -> tuple[bytes | None, ...]:
    """Each text comes behind a line with its number and its size."""
    found: dict[int, bytes] = {}
    rest = outcome.stdout if outcome.ended is Ended.EXITED and outcome.exit_code == 0 else b""
    while rest:
        head, _, rest = rest.partition(b"\n")
        words = head.split()
        if len(words) != 2 or not all(word.isdigit() and len(word) < 10 for word in words):
            return (None,) * count
        number, size = map(int, words)
        if len(rest) < size:
            return (None,) * count
        found[number], rest = rest[:size], rest[size:]
    return tuple(found.get(number) or None for number in range(count))
