"""Line ends of a language inside of what git and a diff show as one line.

What follows such a character in a comment is executed, and a reader takes it for the comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reviewbot.text.files import language_of

# Executed with the compilers of Python, JavaScript, Java and C; the others by their
# specifications. A lone carriage return ends no line in Go, Rust, Ruby, Perl and shells.
LANGUAGES = {
    "\r": "python java kotlin scala groovy c cpp objective-c swift dart php lua sql",
    "\r\u2028\u2029": "javascript typescript vue svelte",
    "\r\x85\u2028\u2029": "csharp yaml",  # YAML 1.1
}
CHARACTERS = {
    name: re.compile(f"[{signs}]") for signs, names in LANGUAGES.items() for name in names.split()
}

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


def find_line_ends(path: str, text: str) -> Iterator[tuple[int, str]]:
    """At most one for each line where something follows it: the line from 1, and a sentence."""
    language = language_of(path)
    if language not in CHARACTERS:
        return
    for number, line in enumerate(text.split("\n"), 1):
        content = line.rstrip()
        if match := CHARACTERS[language].search(content):
            what = f"U+{ord(match[0]):04X} ends the line for {language}"
            yield number, f"{what}, so what follows it is code"
        elif language == "java" and (match := JAVA_ESCAPE.search(content)):
            yield number, f"{match[1]} ends the comment, so what follows it is code"
        elif language == "python" and number <= 2 and (match := PYTHON_ENCODING.match(content)):
            yield number, f"In the encoding {match[1][:40]}, a comment can contain code"
