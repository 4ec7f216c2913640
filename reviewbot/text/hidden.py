"""Characters that a reader does not see, or that change the order of what is seen.

Among them are line ends of a language inside of what git and a diff show as one line: what follows
one in a comment is executed, and a reader takes it for the comment.

See https://trojansource.codes and Unicode's default ignorable characters (UAX #44). Emoji
sequences, joiners beside letters that need them, and a leading byte order mark are normal.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from reviewbot.text.files import language_of

HiddenKind = Literal["bidi", "zero_width", "tag", "filler", "control"]


class Hidden(Struct, frozen=True):
    """A hidden character at `text[offset]`; `name` is that of Unicode."""

    kind: HiddenKind
    codepoint: int
    name: str
    offset: int


CHARACTERS: dict[HiddenKind, str] = {
    "bidi": "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069",
    "zero_width": "\u00ad\u034f\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\ufe00-\ufe0f"
    "\ufeff\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0100-\U000e01ef",
    "tag": "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff",
    "filler": "\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0",
    "control": "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff",
}
# Patterns are compiled where they are needed: most text is ASCII.
RUN = rf"(?:(?!\r(?:\n|\Z))[{''.join(CHARACTERS.values())}])+"

BYTE_ORDER_MARK, JOINER = "\ufeff", "\u200d"
EMOJI = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
# Right-to-left, Indic and South-East Asian scripts, without the hidden characters among them.
LETTER = "[\u0590-\u061b\u061d-\u109f\u1780-\u17b3\u17b6-\u180a\u1810-\u18af\ufb1d-\ufefc]"
# Thai, Lao, Burmese and Khmer divide words with it, as others do with a space.
WORD_BREAK = "\u200b"
UNSPACED = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff]"
MARK_OF_SCRIPT = "[\u034f\u061c\u180b-\u180f\u200c-\u200f]"
# England, Scotland, Wales: the flags that Unicode writes as a black flag with tags.
FLAGS = tuple(
    "".join(chr(0xE0000 + ord(letter)) for letter in f"{region}\x7f")
    for region in ("gbeng", "gbsct", "gbwls")
)
CONTROLS = {"\b": "BACKSPACE", "\f": "FORM FEED", "\r": "CARRIAGE RETURN", "\x1b": "ESCAPE"}

# Executed with the compilers of Python, JavaScript, Java and C; the others by their
# specifications. A lone carriage return ends no line in Go, Rust, Ruby, Perl and shells.
LINE_ENDS = {
    "\r": "python java kotlin scala groovy c cpp objective-c swift dart php lua sql",
    "\r\u2028\u2029": "javascript typescript vue svelte",
    "\r\x85\u2028\u2029": "csharp yaml",  # YAML 1.1
}
LINE_END_OF = {name: f"[{signs}]" for signs, names in LINE_ENDS.items() for name in names.split()}
# JLS 3.3: escapes are translated before comments are recognized, in this form only.
JAVA_ESCAPE = r"(?i)(?>.*?//).*?(?<!\\)(?:\\\\)*(\\u+000[ad])(?=.*\S)"
# PEP 263: any encoding but those in which every ASCII character stands for itself. In UTF-7,
# `+AAo-` is a line feed, in `unicode_escape` it is `\n`. Python takes the first that has a name.
PYTHON_ENCODING = (
    r"(?a)(?>[ \t\f]*#.*?coding[:=][ \t]*(?=[-\w.]))(?i:(?!(?:utf[-_]?8(?:[-_].*)?"
    r"|(?:us[-_]?)?ascii|latin[-_]?\d+|iso[-_]?8859[-_]\d+(?:[-_].*)?|(?:windows[-_]?|cp)\d{3,4}"
    r"|gb(?:k|2312|18030)|big5|euc[-_]\w+|s(?:hift)?[-_]?jis\w*|koi8[-_]\w|mac[-_]?roman)"
    r"(?![-\w.])))([-\w.]+)"
)


def find_hidden(text: str) -> Iterator[Hidden]:
    """Every hidden character, in order. Tabs, `\\n` and `\\r\\n` are not hidden."""
    # Most text is printable ASCII, which this tells many times faster than the pattern.
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return
    for match in re.finditer(RUN, text):
        run = match.group()
        if run in FLAGS and text[match.start() - 1 : match.start()] == "\N{WAVING BLACK FLAG}":
            continue
        for offset, character in enumerate(run, match.start()):
            # No script and no emoji needs more than two in a row; more can carry hidden text.
            if len(run) > 2 or not _is_normal(text, offset):
                kind = next(k for k, own in CHARACTERS.items() if re.match(f"[{own}]", character))
                is_byte = "\ud800" <= character <= "\udfff"
                unnamed = "UNDECODABLE BYTE" if is_byte else "UNNAMED CHARACTER"
                name = unicodedata.name(character, CONTROLS.get(character, unnamed))
                yield Hidden(kind, ord(character), name, offset)


def visible(text: str) -> str:
    """The text with each hidden character written as ⟨U+202E⟩. It keeps its lines."""
    characters = list(text)
    for hidden in find_hidden(text):
        characters[hidden.offset] = f"⟨U+{hidden.codepoint:04X}⟩"
    return "".join(characters)


def find_line_ends(path: str, text: str) -> Iterator[tuple[int, str]]:
    """At most one for each line where something follows it: the line from 1, and a sentence."""
    language = language_of(path)
    if language not in LINE_END_OF:
        return
    for number, line in enumerate(text.split("\n"), 1):
        content = line.rstrip()
        if match := re.search(LINE_END_OF[language], content):
            what = f"U+{ord(match[0]):04X} ends the line for {language}"
            yield number, f"{what}, so what follows it is code"
        elif language == "java" and (match := re.match(JAVA_ESCAPE, content)):
            yield number, f"{match[1]} ends the comment, so what follows it is code"
        elif language == "python" and number <= 2 and (match := re.match(PYTHON_ENCODING, content)):
            yield number, f"In the encoding {match[1][:40]}, a comment can contain code"


def _is_normal(text: str, offset: int) -> bool:
    character = text[offset]
    before, after = text[offset - 1 : offset], text[offset + 1 : offset + 2]
    if character == BYTE_ORDER_MARK:
        return offset == 0
    if re.search(LETTER, before + after) and re.match(MARK_OF_SCRIPT, character):
        return True
    if character == WORD_BREAK:  # some write two
        before = text[offset - 2 : offset - 1] if before == WORD_BREAK else before
        after = text[offset + 2 : offset + 3] if after == WORD_BREAK else after
        return bool(re.match(UNSPACED, before) and re.match(UNSPACED, after))
    if character in "\ufe0e\ufe0f":  # show it as text, as an emoji
        return bool(re.match(EMOJI, before) or (after == "\u20e3" and re.match("[0-9#*]", before)))
    if character == JOINER and re.match(EMOJI, after):
        before = text[offset - 2 : offset - 1] if before in ("\ufe0e", "\ufe0f") else before
        return re.match(EMOJI, before) is not None
    return False
