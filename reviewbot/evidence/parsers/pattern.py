r"""Remarks by a regular expression of the configuration, for tools that write no known format.

The expression is matched from the beginning of each line. Its named groups say what is what: ``path`` and ``line`` have to be
there, ``column``, ``end_line``, ``severity``, ``rule`` and ``message`` may be; without ``message`` the whole line is the message.

An expression comes from the base of a change, but the lines come from tools that read the change, so an expression that takes
exponential time on some line is refused: a repeated group must not hold anything of varying length, nor a choice. Repeats in a
row that take the same characters need time as the length of a line to the power of their number. MAX_WORK bounds it for those
of any character (``.*.*.*=``). What remains is the same with others (``\d*\d*\d*\d*=``), for which there are but MAX_LINE and
MAX_CHOICES. Write what separates the fields, as in ``(?P<path>[^:]+):(?P<line>\d+)``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from reviewbot.evidence.parsers import plain, shape
from reviewbot.evidence.parsers.remark import Grade, Remark, Unreadable

MAX_PATTERN = 1_000
"""Characters."""
MAX_CHOICES = 16
"""How often one expression repeats something, leaves it open or has it one way or another."""
MAX_COUNT = 1_000
"""The highest number in braces."""
MAX_LINE = 1_000
"""Characters of a line that are matched."""
MAX_WORK = 200_000_000_000
"""Of a report: the lengths of its lines, each to the power of how often the expression repeats a dot. Half a minute at worst."""

NEEDED = frozenset({"path", "line"})
ALLOWED = NEEDED | {"column", "end_line", "severity", "rule", "message"}
_NUMBER = re.compile(r"[0-9]{1,9}")
_SIGNS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_COUNT = re.compile(r"\{(?P<low>[0-9]{0,12})(?:(?P<comma>,)(?P<high>[0-9]{0,12}))?\}")
_SET = re.compile(r"\[\^?+\]?+(?:\\.|[^\]\\])*\]")
_GROUP = re.compile(r"\((?:\?(?:P<\w+>|[:>=!]|<[=!]))?")
_AMBIGUOUS_SET = re.compile(r"(?<!\\)\[|--|&&|~~|\|\|")
"""What Python may come to read as an operator inside of a set."""


class BadPattern(ValueError):
    """An expression that cannot be used, with the reason in words."""


def reader(pattern: str) -> Callable[[bytes], tuple[Remark, ...]]:
    """A reader of reports. It raises Unreadable where one is too large, and this raises BadPattern."""
    if len(pattern) > MAX_PATTERN:
        raise BadPattern(f"longer than {MAX_PATTERN} characters")
    power = _repeated_dots(pattern)
    expression = _compiled(pattern)

    def read(data: bytes) -> tuple[Remark, ...]:
        return shape.first(_remarks(expression, data, power=power))

    return read


def _remarks(expression: re.Pattern[str], data: bytes, *, power: int) -> Iterator[Remark]:
    work = 0
    for line in plain.lines(data):
        cut = line[:MAX_LINE]
        work += len(cut) ** power
        if work > MAX_WORK:
            raise Unreadable("its lines are too long and too many for an expression that repeats a dot so often")
        found = expression.match(cut)
        if found and (remark := _remark(found)):
            yield remark


def _remark(found: re.Match[str]) -> Remark | None:
    """``None`` where a group did not catch what it is for."""
    said = {name: (text or "").strip() for name, text in found.groupdict().items()}
    numbers = {name: said.get(name, "") for name in ("line", "end_line", "column")}
    if not said["path"] or not all(_NUMBER.fullmatch(digits) for digits in numbers.values() if digits):
        return None
    return Remark(
        said["path"],
        plain.number(numbers["line"]),
        said.get("message") or found.string.strip(),
        rule=said.get("rule") or None,
        grade=plain.GRADES.get(said.get("severity", "").lower(), Grade.WARNING),
        end_line=plain.number(numbers["end_line"]),
        column=plain.number(numbers["column"]),
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        expression = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as exc:
        raise BadPattern(f"no regular expression: {exc}") from exc
    _check_groups(frozenset(expression.groupindex))
    return expression


def _check_groups(names: frozenset[str]) -> None:
    if missing := NEEDED - names:
        raise BadPattern(f"it lacks the group {_listed(missing)}: write it as (?P<{min(missing)}>...)")
    if unknown := names - ALLOWED:
        raise BadPattern(f"it has the group {_listed(unknown)}: known are {_listed(ALLOWED)}")


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))


@dataclass(slots=True)
class _Scan:
    """What was seen of an expression. ``varies`` says of each open group whether its length does; ``atom`` of what stands just
    before, ``None`` where nothing can be repeated, and ``is_dot`` whether it is a dot."""

    varies: list[bool] = field(default_factory=lambda: [False])
    atom: bool | None = None
    is_dot: bool = False
    choices: int = 0
    dots: int = 0

    def repeat(self, *, least: int, most: int | None) -> None:
        """``most`` is ``None`` where it has no bound. A second sign (``*?``) says how, not how often."""
        if self.atom is None:
            return
        if self.atom and most != 1:
            raise BadPattern("a repeated group holds a repeat or a choice: some line would take it forever")
        if max(least, most or 0) > MAX_COUNT:
            raise BadPattern(f"a repeat of more than {MAX_COUNT} times")
        self.dots += most is None and self.is_dot
        self.atom = None
        if least != most:
            self.choose()

    def choose(self) -> None:
        self.varies[-1], self.atom = True, None
        self.choices += 1
        if self.choices > MAX_CHOICES:
            raise BadPattern(f"more than {MAX_CHOICES} repeats and choices")

    def leave(self) -> None:
        if len(self.varies) == 1:
            raise BadPattern("no regular expression: unbalanced parenthesis")
        self.atom, self.is_dot = self.varies.pop(), False
        self.varies[-1] = self.varies[-1] or self.atom


def _repeated_dots(pattern: str) -> int:
    """How many there are. Raises BadPattern for what may take exponential time; otherwise invalid expressions may pass."""
    scan, at = _Scan(), 0
    while at < len(pattern):
        at = _step(scan, pattern, at)
    return scan.dots


def _step(scan: _Scan, pattern: str, at: int) -> int:
    """Takes in what stands at a place, and returns the next."""
    sign = pattern[at]
    if sign in _SIGNS:
        least, most = _SIGNS[sign]
        scan.repeat(least=least, most=most)
    elif count := _counted(pattern, at):
        least = int(count["low"] or 0)
        scan.repeat(least=least, most=_most(count, least))
        return count.end()
    elif sign == "(":
        return _enter(scan, pattern, at)
    elif sign == ")":
        scan.leave()
    elif sign == "|":
        scan.choose()
    else:
        scan.atom, scan.is_dot = False, sign == "."
        return _past_atom(pattern, at)
    return at + 1


def _counted(pattern: str, at: int) -> re.Match[str] | None:
    """``{3}``, ``{3,}``, ``{,9}``; anything else in braces stands for itself."""
    found = _COUNT.match(pattern, at)
    return found if found and found[0] != "{}" else None


def _most(count: re.Match[str], least: int) -> int | None:
    if not count["comma"]:
        return least
    return int(count["high"]) if count["high"] else None


def _enter(scan: _Scan, pattern: str, at: int) -> int:
    found = _GROUP.match(pattern, at)
    if not found or pattern.startswith("?", found.end()):
        raise BadPattern("it has flags, a comment, a condition or a reference: only groups can be used")
    scan.varies.append(False)
    scan.atom = None
    return found.end()


def _past_atom(pattern: str, at: int) -> int:
    if pattern[at] == "\\":
        if pattern[at + 1 : at + 2].isdigit():
            raise BadPattern("it refers back to a group: only groups can be used")
        return at + 2
    if pattern[at] != "[":
        return at + 1
    found = _SET.match(pattern, at)
    if not found:
        raise BadPattern("no regular expression: unterminated character set")
    if _AMBIGUOUS_SET.search(found[0], 1):
        raise BadPattern(r"a set holds [, --, &&, ~~ or ||: write \[ and so on inside of a set")
    return found.end()
