"""The words of a /debate comment.

A command stands on the first line of a comment that is not blank, in its first column. What is
quoted, indented, in a list or in a sentence is talk about a command. The rest of the line belongs
to it; for `ask` and `dispute`, the lines below as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Literal

from msgspec import Struct

# What follows the verb.
Arguments = Literal["none", "focus", "finding", "finding_and_reason", "question", "argument"]
MAX_FOCUS, MAX_REASON, MAX_PROSE = 2_000, 300, 10_000  # characters
LIKENESS = 0.75  # of difflib: one wrong letter in a word of four

OPENING = re.compile(r"/debate(?=\s|\Z)", re.IGNORECASE)
LINE_END = re.compile(r"\r\n|\n|\r")
FINDING = re.compile(r"[Ff]([1-9][0-9]{0,5})")
BLANK = re.compile("[\\s\u00ad\u200b-\u200f\u2060\ufeff]*")
AROUND = "`,.:;!?"  # marks that people put around words


class Form(Struct, frozen=True, kw_only=True):
    """How a command is written.

    Attributes:
        runs_in: "here" is the job that the comment starts, which has no keys; "review" is a run of
            the review workflow, which it orders.
        while_stopped: whether it works after /debate stop.
    """

    verb: str
    usage: str
    help: str
    arguments: Arguments = "none"
    runs_in: Literal["here", "review"] = "here"
    while_stopped: bool = False


FORMS: tuple[Form, ...] = (
    Form(
        verb="review",
        usage="/debate [focus]",
        help="review what is new; words after it say what to look at above all",
        arguments="focus",
        runs_in="review",
    ),
    Form(
        verb="full",
        usage="/debate full",
        help="review the whole pull request again",
        runs_in="review",
    ),
    Form(
        verb="explain",
        usage="/debate explain F1",
        help="who said what about a finding, and what decided",
        arguments="finding",
        while_stopped=True,
    ),
    Form(
        verb="dismiss",
        usage="/debate dismiss F1 reason",
        help="do not report a finding again",
        arguments="finding_and_reason",
    ),
    Form(
        verb="ask",
        usage="/debate ask question",
        help="ask the panel about this change",
        arguments="question",
        runs_in="review",
    ),
    Form(
        verb="dispute",
        usage="/debate dispute F1 argument",
        help="argue against a finding; the panel judges it again",
        arguments="argument",
        runs_in="review",
    ),
    Form(verb="pause", usage="/debate pause", help="review pushes only when asked"),
    Form(
        verb="resume",
        usage="/debate resume",
        help="review pushes again",
        while_stopped=True,
    ),
    Form(verb="stop", usage="/debate stop", help="do nothing more here until /debate resume"),
    Form(
        verb="status",
        usage="/debate status",
        help="what is known about this pull request",
        while_stopped=True,
    ),
    Form(
        verb="cost",
        usage="/debate cost",
        help="what the reviews of this pull request cost so far",
        while_stopped=True,
    ),
    Form(verb="help", usage="/debate help", help="this list", while_stopped=True),
)
# Words of other bots for ours. They are answered, not obeyed.
SYNONYMS = {
    "unpause": "resume",
    "continue": "resume",
    "start": "resume",
    "cancel": "stop",
    "abort": "stop",
    "ignore": "dismiss",
    "reject": "dismiss",
    "why": "explain",
}


class Command(Struct, frozen=True):
    """`text` is a focus, a reason, a question or an argument: untrusted words."""

    form: Form
    finding: str = ""
    text: str = ""

    @property
    def verb(self) -> str:
        return self.form.verb


class Misunderstood(Struct, frozen=True):
    """A command that is none; `words` are a sentence of ours."""

    words: str


def is_command(body: str) -> bool:
    return OPENING.match(_lines(body)[0]) is not None


def parse(body: str, forms: Sequence[Form] = FORMS) -> Command | Misunderstood | None:
    """The command of a comment; None if it holds none.

    What is nearly a verb is answered with the verb: the other reading is a review that costs money
    and that nobody asked for.
    """
    line, *below = _lines(body)
    opening = OPENING.match(line)
    if opening is None:
        return None
    words = line[opening.end() :].strip()
    first, _, rest = _first_word(words)
    by_verb = {form.verb: form for form in forms if form.verb != "review"}
    form = by_verb.get(first.strip(AROUND).lower() if first.isascii() else first)
    if form:
        return _read(form, rest.strip(), "\n".join(below))
    if words and not any(character.isalnum() for character in words):
        return Misunderstood("`/debate help` lists what can be asked for.")
    if nearest := _nearest(first.strip(AROUND).lower(), rest, by_verb):
        return Misunderstood(f"Did you mean `{by_verb[nearest].usage}`?")
    review = next(form for form in forms if form.verb == "review")
    return _read(review, words, "")


def _read(form: Form, rest: str, below: str) -> Command | Misunderstood:
    first, _, more = _first_word(rest)
    id = _id(first)
    prose = f"{more if form.arguments == 'argument' else rest}\n{below}".strip()
    limits = {"focus": MAX_FOCUS, "finding_and_reason": MAX_REASON}
    text = {"focus": rest, "finding_and_reason": more.strip()}.get(form.arguments, "")
    if form.arguments in ("question", "argument"):
        text = prose
    if len(text) > (limit := limits.get(form.arguments, MAX_PROSE)):
        return Misunderstood(f"The text is longer than {limit:,} characters.")
    match form.arguments:
        case "none":
            is_right = not rest
        case "finding":
            is_right = bool(id) and not more
        case "finding_and_reason" | "argument":
            is_right = bool(id and text) and not _id(_first_word(text)[0])
        case "question":
            is_right = bool(text)
        case "focus":
            return Command(form, text=text)
    if not is_right:
        return Misunderstood(f"It is written `{form.usage}`.")
    return Command(form, "" if form.arguments in ("none", "question") else id, text)


def _nearest(word: str, rest: str, verbs: dict[str, Form]) -> str:
    """The verb that somebody may have meant, if the words after it would fit."""
    if _id(word) and not rest:
        return "explain"
    names_finding = bool(_id(_first_word(rest)[0]))
    if rest and not names_finding:
        return ""
    # `ask` is so short that many honest words are like it.
    near = [v for v in verbs if v != "ask" and (not rest or " F1" in verbs[v].usage)]
    if SYNONYMS.get(word) in near:
        return SYNONYMS[word]
    return next(iter(get_close_matches(word[:20], near, n=1, cutoff=LIKENESS)), "")


def _lines(body: str) -> list[str]:
    """From the first line on that is not blank; a byte order mark is no text."""
    lines = LINE_END.split(body.removeprefix("\ufeff"))
    start = next((n for n, line in enumerate(lines) if not BLANK.fullmatch(line)), 0)
    return lines[start:]


def _first_word(text: str) -> tuple[str, str, str]:
    """Like str.partition, by any white space."""
    parts = text.split(maxsplit=1)
    return (parts[0], " ", parts[1]) if len(parts) == 2 else (text.strip(), "", "")


def _id(word: str) -> str:
    match = FINDING.fullmatch(word.strip(AROUND))
    return f"F{match[1]}" if match else ""
