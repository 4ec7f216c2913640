"""Characters that a reader does not see, or that move what is seen: found, and made visible.

After "Trojan Source" (CVE-2021-42574) and the tag-block smuggling of instructions to language models. Joiners and
variation selectors inside an emoji sequence are writing and are left alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class HiddenKind(StrEnum):
    """What the character does to a reader."""

    BIDI = "bidi"
    ZERO_WIDTH = "zero_width"
    TAG = "tag"
    FILLER = "filler"
    CONTROL = "control"


@dataclass(frozen=True, slots=True)
class Hidden:
    """One hidden character: its Unicode name, code point, offset in the text that was searched, and kind."""

    name: str
    codepoint: int
    column: int
    kind: HiddenKind


_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_ZERO_WIDTH = "\u00ad\u034f\u180b-\u180f\u200b\u200c\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0100-\U000e01ef"
_TAG = "\U000e0000-\U000e007f"
_FILLER = "\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
_CONTROL = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
_EMOJI = "\u00a9\u00ae\u203c-\u3299\ufe0f\U0001f000-\U0001faff"

_KINDS = (
    (HiddenKind.BIDI, re.compile(f"[{_BIDI}]")),
    (HiddenKind.TAG, re.compile(f"[{_TAG}]")),
    (HiddenKind.FILLER, re.compile(f"[{_FILLER}]")),
    (HiddenKind.CONTROL, re.compile(f"[{_CONTROL}\r]")),
)
_HIDDEN = re.compile(
    f"[{_BIDI}{_ZERO_WIDTH}{_TAG}{_FILLER}{_CONTROL}]"
    r"|\r(?!\n|\Z)"
    f"|(?<![{_EMOJI}])[\u200d\ufe00-\ufe0f](?!\u20e3)"
    f"|\u200d(?![{_EMOJI}])"
    "|[\ufe00-\ufe0d]"
)
_UNNAMED = {
    0x00: "NULL",
    0x07: "BELL",
    0x08: "BACKSPACE",
    0x0B: "LINE TABULATION",
    0x0C: "FORM FEED",
    0x0D: "CARRIAGE RETURN",
    0x1B: "ESCAPE",
    0x7F: "DELETE",
    0x85: "NEXT LINE",
    0x9B: "CONTROL SEQUENCE INTRODUCER",
}


def find(text: str) -> Iterator[Hidden]:
    """Every hidden character of ``text``, in order. Tab, line feed and a carriage return before one are not hidden."""
    if _is_plain(text):
        return
    for match in _HIDDEN.finditer(text):
        character = match.group()
        yield Hidden(_name(character), ord(character), match.start(), _kind(character))


def visible(text: str) -> str:
    """``text`` with each hidden character written as ``⟨U+202E⟩``."""
    return text if _is_plain(text) else _HIDDEN.sub(lambda match: f"⟨U+{ord(match.group()):04X}⟩", text)


def _is_plain(text: str) -> bool:
    """Printable ASCII in lines, as most text is: told many times faster than by the expression."""
    return text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()


def _kind(character: str) -> HiddenKind:
    return next((kind for kind, members in _KINDS if members.match(character)), HiddenKind.ZERO_WIDTH)


def _name(character: str) -> str:
    codepoint = ord(character)
    if 0xD800 <= codepoint <= 0xDFFF:
        return "UNDECODABLE BYTE"
    return unicodedata.name(character, _UNNAMED.get(codepoint, f"UNNAMED CHARACTER U+{codepoint:04X}"))
