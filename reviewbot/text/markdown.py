"""Untrusted text in GitHub's Markdown.

The text is not read as Markdown, apart from code in backticks: all else is escaped, and what
GitHub makes live on its own (@name, #1, https://, :emoji:, the hash of a commit, a /command) is
shown as code, where it is dead.
"""

import re

from reviewbot.text.hidden import visible
from reviewbot.text.plain import shortened_bytes, unstyled, without_commands

CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
# An escape does not help: GitHub looks for these in the HTML that it has made of the text.
LIVE = re.compile(
    r"@\w|#\d|://|www\.|mailto:|xmpp:|gh-\d|(?<!:):(?:[+-]1|\d*[a-z_][\w+-]*|100|1234):(?!:)"
    r"|(?<!\w)(?=[a-f]*\d)[0-9a-f]{7,64}(?!\w)",
    re.IGNORECASE,
)
SLASH_COMMAND = re.compile(r"^(?=/[A-Za-z])", re.MULTILINE)
# An underscore inside of a word is no emphasis. A pipe is an entity, so that `|` only stands in
# code, where a table needs `\|` and nothing else may have it.
SPECIAL = re.compile(r"[\\`*\[\]<~$]|&(?=[#\w])|(?<![^\W_])_|_(?![^\W_])")
BLOCK_START = re.compile(r"\A(?:(?=>|::|(?:[-+]+|=+|#{1,6})(?:\s|$))|(\d{1,9})(?=[.)](?:\s|$)))")
LANGUAGE = re.compile(r"[A-Za-z][A-Za-z0-9+-]{0,20}#?")
OPENED_BY = {")": "(", "]": "[", "}": "{", ">": "<"}
# GitHub makes a button of a suggestion, and pictures with links of the others.
ACTIVE = frozenset({"suggestion", "mermaid", "geojson", "topojson", "stl", "math"})


def inline(text: str) -> str:
    """One line of prose. In a cell of a table, use `inline(text).replace("|", r"\\|")`."""
    text = " ".join(visible(unstyled(text)).split())
    line = ""
    position = 0
    for match in CODE_SPAN.finditer(text):
        line = _joined(_prose(line, text[position : match.start()]), code(match[2]) or " ")
        position = match.end()
    return without_commands(_prose(line, text[position:])).strip()


def code(text: str) -> str:
    """A code span, or nothing for nothing."""
    shown = visible(unstyled(text)).replace("\r\n", "\n")
    content = without_commands(" ".join(shown.split("\n")).strip())
    if not content:
        return ""
    fence = "`" * (_longest_run(content) + 1)
    padding = " " if content[0] == "`" or content[-1] == "`" else ""
    return f"{fence}{padding}{content}{padding}{fence}"


def block(text: str, language: str = "") -> str:
    """A block of code. A line that a bot could take for its /command moves by one column."""
    content = visible(unstyled(text)).replace("\r\n", "\n").strip("\n")
    content = SLASH_COMMAND.sub(" ", without_commands(content))
    fence = "`" * max(3, _longest_run(content) + 1)
    is_named = LANGUAGE.fullmatch(language) and language.lower() not in ACTIVE
    return f"{fence}{language if is_named else ''}\n{content}\n{fence}"


def whole_lines(text: str, limit: int) -> str:
    """As many lines as fit into so many bytes of UTF-8: part of one could be live."""
    is_short = len(text.encode("utf-8", "replace")) <= limit
    return text if is_short else shortened_bytes(text, limit - 1).rpartition("\n")[0] + "\n…"


def _prose(line: str, text: str) -> str:
    """The line with text that is not code."""
    for word in re.split(r"(\s+|\]\()", text):
        if not LIVE.search(word) and (line or not SLASH_COMMAND.match(word)):
            line = _joined(line, _escape(word) if line else BLOCK_START.sub(r"\1\\", _escape(word)))
            continue
        start = len(word) - len(word.lstrip("([{\"'<"))
        end = len(word)
        while _ends_with_more(word[start:end]):
            end -= 1
        line += _escape(word[:start])
        line = _joined(line, code(word[start:end])) + _escape(word[end:])
    return line


def _ends_with_more(text: str) -> bool:
    """Whether the last character belongs to the sentence, or closes what the text does not open."""
    last = text[-1:]
    if last in OPENED_BY:
        return text.count(OPENED_BY[last]) < text.count(last)
    return last in {*".,;:!?"} or (last in {*"'\""} and text.count(last) % 2 == 1)


def _joined(line: str, more: str) -> str:
    """Two runs of backticks beside each other would be one."""
    return f"{line} {more}" if line.endswith("`") and more.startswith("`") else line + more


def _escape(text: str) -> str:
    return SPECIAL.sub(r"\\\g<0>", text).replace("|", "&#124;")


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
