"""Text that every JSON reader and every database takes."""

from __future__ import annotations

import re

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(words: str) -> str:
    """``words`` without what JSON readers refuse: undecodable bytes and NUL as ``\\xNN``, half pairs as ``\\uNNNN``."""
    return _UNSTORABLE.sub(_escaped, words)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match.group())
    if 0xDC80 <= code <= 0xDCFF:  # how surrogateescape holds the byte
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}"
