"""The names that a change is about: what it declares, and what it calls. By the look of lines, in any language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from reviewbot.ports import Passage

MOST_CHANGED, MOST_CALLED = 24, 24
SHORTEST, LONGEST = 3, 80
LONGEST_LINE = 400
"""Characters of a line that are looked at: nobody declares anything behind them."""
MOST_LINES = 8_000
"""Changed lines that are looked at, in the order of the passages."""

_WORD = r"[A-Za-z_$][\w$]{0,100}"
_MODIFIERS = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|override|virtual|inline|unsafe|const"
    r"|pub(?:\([^)]{0,40}\))?)\s{1,4}){0,6}"
)
_DECLARED = re.compile(
    rf"\s*{_MODIFIERS}(?:def|class|func|function\*?|fun|fn|interface|struct|trait|enum|module|type|record|object|protocol"
    r"|CREATE (?:OR REPLACE )?(?:TABLE|VIEW|FUNCTION|PROCEDURE))\s+"
    rf"(?:\([^)]{{0,80}}\)\s*)?(?:self\.)?({_WORD})(?=\s{{0,4}}(?:[({{<:\[=;]|$|extends\b|implements\b|struct\b|interface\b|for\b))",
    re.IGNORECASE,
)
"""The last part keeps prose out: "class which holds" declares nothing."""
_ASSIGNED = re.compile(rf"(?:export\s+)?(?:(?:const|let|var|val|static)\s+)?({_WORD})\s{{0,20}}(?::[^=]{{1,80}})?=(?!=)")
_METHOD = re.compile(
    rf"\s*(?:(?:public|private|protected|internal|static|final|abstract|async|override|virtual|inline)\s+){{1,6}}"
    rf"(?:[\w<>\[\],.?*&]{{1,60}}\s+){{0,2}}({_WORD})\s{{0,4}}\("
)
_CALLED = re.compile(rf"({_WORD})\s{{0,4}}\(|^\s{{0,40}}@({_WORD})")


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_OPENERS = _listed("""
    export default public private protected internal static final abstract async override virtual inline unsafe const pub
    def class func function function* fun fn interface struct trait enum module type record object protocol create
    """)
"""The first word of what ``_DECLARED`` and ``_METHOD`` match. Most lines begin with another, and are passed by at once."""
_COMMON = _listed("""
    if elif else for while switch case catch return print yield await async with assert raise throw new delete typeof
    sizeof not and or in is del lambda except finally try import from function func def class super self this cls match
    select when unless until len str int float bool dict list set tuple bytes type range zip map filter sorted reversed
    enumerate isinstance issubclass hasattr getattr setattr repr hash iter next open min max sum any all abs round
    format vars dir object property staticmethod classmethod append add extend insert remove pop update get items keys
    values split join strip lower upper replace startswith endswith encode decode read write close main test setup run
    call apply bind then push shift slice forEach reduce find has log error warn info debug string number boolean Array
    Object String Number Boolean Promise Error Exception ValueError TypeError KeyError RuntimeError make cap copy panic
    println printf sprintf Println Printf Sprintf Errorf unwrap expect clone into Some None Ok Err vec assertEqual
    assertTrue assertFalse describe expect beforeEach afterEach fixture parametrize dataclass field true false null nil
    undefined default name value data result args kwargs tmp the
    """)


@dataclass(frozen=True, slots=True)
class Names:
    """``changed``: declared in changed or removed lines, or around them. ``called``: called in added lines. The most frequent
    first; none is in both."""

    changed: tuple[str, ...] = ()
    called: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """What to search for."""
        return (*self.changed, *self.called)


def wanted(passages: Sequence[Passage]) -> Names:
    """The names of a change, at most ``MOST_CHANGED`` and ``MOST_CALLED``. Words that stand everywhere, short ones and those of
    tests (nobody calls them) are none."""
    lines = [line for _, line in zip(range(MOST_LINES), _touched(passages), strict=False)]
    around = (name for passage in passages if passage.changed or passage.removed for name in _around(passage.symbol))
    changed = _frequent([*(name for _, line in lines for name in declared(line)), *around], MOST_CHANGED)
    known = set(changed)
    calls = (name for is_added, line in lines if is_added for name in called(line) if name not in known)
    return Names(changed, _frequent(calls, MOST_CALLED))


def declared(line: str) -> tuple[str, ...]:
    """The name that a line declares: a function, a class, or what is assigned at its very beginning."""
    line = line[:LONGEST_LINE]
    opens = _opens(line)
    if opens and (certain := _DECLARED.match(line)):
        return (certain[1],)
    likely = ("=" in line and _ASSIGNED.match(line)) or (opens and _METHOD.match(line))
    return (likely[1],) if likely and likely[1] not in _COMMON else ()


def _opens(line: str) -> bool:
    words = line.split(None, 1)
    return bool(words) and (words[0].lower() in _OPENERS or words[0][:4].lower() == "pub(")


def called(line: str) -> list[str]:
    """The names before an opening parenthesis, and decorators."""
    if "(" not in line and "@" not in line:
        return []
    line = line[:LONGEST_LINE]
    own = declared(line)
    return [name for pair in _CALLED.findall(line) for name in pair if name and name not in own]


def _touched(passages: Sequence[Passage]) -> Iterator[tuple[bool, str]]:
    """Every added and every removed line, with whether it was added."""
    for passage in passages:
        yield from ((True, text) for number in sorted(passage.changed) if (text := passage.text(number)) is not None)
        yield from ((False, line.text) for line in passage.removed)


def _around(symbol: str) -> Iterator[str]:
    """The function's own name; of ``A.__init__`` the class, whose callers are its."""
    parts = re.findall(_WORD, symbol)
    for part in reversed(parts[-2:]):
        if not part.startswith("__"):
            yield part
            return


def _frequent(names: Iterable[str], most: int) -> tuple[str, ...]:
    counts = Counter(name for name in names if _is_telling(name))
    return tuple(name for name, _ in counts.most_common(most))


def _is_telling(name: str) -> bool:
    if not SHORTEST <= len(name) <= LONGEST or name in _COMMON or name.startswith("__"):
        return False
    return not name.startswith("test_")
