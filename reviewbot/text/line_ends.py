"""Line ends of a language inside of what git and a diff show as one line.

What follows such a character in a comment is executed, and a reader takes it for the comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from reviewbot.text.files import language_of


class LineEnd(Struct, frozen=True):
    """A line end that git does not show.

    Attributes:
        line: as git counts, from 1.
        offset: in the whole text.
        message: a sentence without a full stop.
    """

    line: int
    offset: int
    message: str


# Executed with the compilers of Python, JavaScript, Java and C; the others by their
# specifications. A lone carriage return ends no line in Go, Rust, Ruby, Perl and shells.
CARRIAGE_RETURN = """
    python java kotlin scala groovy c cpp objective-c swift dart php lua sql
    javascript typescript vue svelte csharp yaml
"""
MORE = {
    **dict.fromkeys(("javascript", "typescript", "vue", "svelte"), "\u2028\u2029"),
    **dict.fromkeys(("csharp", "yaml"), "\x85\u2028\u2029"),  # YAML 1.1
}
CHARACTERS = {name: re.compile(f"[\r{MORE.get(name, '')}]") for name in CARRIAGE_RETURN.split()}

# JLS 3.3: escapes are translated before comments are recognized, in this form only.
JAVA_ESCAPE = re.compile(r"//.*?(?<!\\)(?:\\\\)*(\\u+000[ad])(?=.*\S)", re.IGNORECASE)

# PEP 263: any encoding but those in which every ASCII character stands for itself. In UTF-7,
# `+AAo-` is a line feed, in `unicode_escape` it is `\n`.
PYTHON_ENCODING = re.compile(
    r"[ \t\f]*#.*?coding[:=][ \t]*(?!(?:utf[-_]?8(?:[-_].*)?|(?:us[-_]?)?ascii|latin[-_]?\d+"
    r"|iso[-_]?8859[-_]\d+(?:[-_].*)?|(?:windows[-_]?|cp)\d{3,4}|gb(?:k|2312|18030)|big5"
    r"|euc[-_]\w+|s(?:hift)?[-_]?jis\w*|koi8[-_]\w|mac[-_]?roman)(?![-\w.]))([-\w.]+)",
    re.IGNORECASE,
)


def find_line_ends(path: str, text: str) -> Iterator[LineEnd]:
    """At most one for each line, and only where something follows it on that line."""
    language = language_of(path)
    characters = CHARACTERS.get(language or "")
    if characters is None:
        return
    offset = 0
    for number, line in enumerate(text.split("\n"), 1):
        content = line.rstrip()
        if match := characters.search(content):
            what = f"U+{ord(match[0]):04X} ends the line for {language}, so what follows it is code"
            yield LineEnd(number, offset + match.start(), what)
        elif language == "java" and (match := JAVA_ESCAPE.search(content)):
            what = f"{match[1]} ends the comment, so what follows it is code"
            yield LineEnd(number, offset + match.start(1), what)
        elif language == "python" and number <= 2 and (match := PYTHON_ENCODING.match(content)):
            what = f"In the encoding {match[1][:40]}, a comment can contain code"
            yield LineEnd(number, offset + match.start(1), what)
        offset += len(line) + 1
