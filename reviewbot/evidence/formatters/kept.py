"""What a file keeps whatever is written into it: its line endings, its byte order mark, a line feed at its end."""

from __future__ import annotations

import re
from collections import Counter

BOM = b"\xef\xbb\xbf"
_ENDINGS = re.compile(rb"\r\n|\r|\n")
_LAYOUT = re.compile(rb"[\s,;()'\"`\\]+")


def kept(head: bytes, content: bytes) -> bytes:
    """What shall stand in a file of the head, as that file is written. Endings are kept where all of the head's are alike. A line
    feed that the head lacks at its end may come: that is what some fixes are about."""
    ending = _ending(head)
    if ending is not None:
        content = _ENDINGS.sub(ending, content) if b"\r" in ending else content.replace(b"\r\n", ending)
    content = _marked(content, has=head.startswith(BOM))
    ended = not content or content.endswith(b"\n") or not head.endswith(b"\n")
    return content if ended else content + (ending or b"\n")


def same_words(one: bytes, other: bytes) -> bool:
    """The texts differ in layout alone: in space, commas, quotes, parentheses and order. What a formatter does beyond that is
    not taken from it, since its settings may be programs."""
    return _words(one) == _words(other)


def _ending(data: bytes) -> bytes | None:
    """What ends each line, ``None`` where that differs or no line ends."""
    found = set(_ENDINGS.findall(data))
    return found.pop() if len(found) == 1 and b"\r" not in found else None


def _marked(content: bytes, *, has: bool) -> bytes:
    bare = content.removeprefix(BOM)
    return BOM + bare if has else bare


def _words(data: bytes) -> tuple[Counter[bytes], Counter[bytes]]:
    """The words, and every other character that is no layout."""
    bare = _LAYOUT.sub(b" ", data.removeprefix(BOM)).lower()
    return Counter(re.findall(rb"\w+", bare)), Counter(re.findall(rb"[^\w ]", bare))
