"""The words of a /debate comment.

A command stands on the first line of a comment that is not blank, in its first column. What is
quoted, indented, in a list or in a sentence is talk about a command. The rest of the line belongs
to it; for `ask` and `dispute`, the lines below as well.
"""

import re
from difflib import get_close_matches
from typing import Literal

from msgspec import Struct

# What follows the verb.
Arguments = Literal["none", "focus", "finding", "findings", "reason", "question", "argument"]
MAX_TEXT = {"focus": 2_000, "reason": 300}  # characters
MAX_PROSE = 10_000
LIKENESS = 0.75  # of difflib: one wrong letter in a word of four

OPENING = re.compile(r"/debate(?=\s|\Z)", re.IGNORECASE)
FINDING = re.compile(r"[Ff]([1-9][0-9]{0,5})")
AROUND = "`,.:;!?"  # marks that people put around words


class Form(Struct, frozen=True):
    """How a command is written, and whether it works after /debate stop."""

    verb: str
    usage: str
    help: str
    arguments: Arguments = "none"
    while_stopped: bool = False


FOCUS = "review what is new; words after it say what to look at above all"
FIX = "fix these findings or all, and commit what all checks and tests accept"
EXPLAIN = "who said what about a finding, and what decided"
DISPUTE = "argue against a finding; the panel judges it again"
COST = "what the reviews of this pull request cost so far"
FORMS: tuple[Form, ...] = (
    Form("review", "/debate [focus]", FOCUS, "focus"),
    Form("full", "/debate full", "review the whole pull request again"),
    Form("fix", "/debate fix [F1 F2]", FIX, "findings"),
    Form("undo", "/debate undo", "take back the last commit of fixes"),
    Form("explain", "/debate explain F1", EXPLAIN, "finding", while_stopped=True),
    Form("dismiss", "/debate dismiss F1 reason", "do not report a finding again", "reason"),
    Form("ask", "/debate ask question", "ask the panel about this change", "question"),
    Form("dispute", "/debate dispute F1 argument", DISPUTE, "argument"),
    Form("pause", "/debate pause", "review pushes only when asked"),
    Form("resume", "/debate resume", "review pushes again", while_stopped=True),
    Form("stop", "/debate stop", "do nothing more here until /debate resume"),
    Form("status", "/debate status", "what is known about this pull request", while_stopped=True),
    Form("cost", "/debate cost", COST, while_stopped=True),
    Form("help", "/debate help", "this list", while_stopped=True),
)
# Words of other bots, and likely slips. They are answered, not obeyed.
SYNONYMS = {
    **dict.fromkeys(("unpause", "continue", "start"), "resume"),
    **dict.fromkeys(("cancel", "abort"), "stop"),
    **dict.fromkeys(("ignore", "reject", "resolve"), "dismiss"),
    **dict.fromkeys(("fixes", "autofix"), "fix"),
    "why": "explain",
    "revert": "undo",
}


class Command(Struct, frozen=True):
    """`text` holds untrusted words. No `findings` of /debate fix are all of them.

    `login` is who gave it, as far as that is known.
    """

    form: Form
    finding: str = ""
    text: str = ""
    findings: tuple[str, ...] = ()
    login: str = ""

    @property
    def verb(self) -> str:
        return self.form.verb


class Misunderstood(Struct, frozen=True):
    """A command that is none; `words` are a sentence of ours."""

    words: str


def parse(body: str) -> Command | Misunderstood | None:
    """The command of a comment; None if it holds none.

    What is nearly a verb is answered with the verb: a review would cost money, and nobody wants it.
    """
    line, *below = re.split(r"\r\n?|\n", re.sub(r"\A(\s*\n)+", "", body))
    opening = OPENING.match(line)
    if opening is None:
        return None
    words = line[opening.end() :].strip()
    first, rest = _first_word(words)
    by_verb = {form.verb: form for form in FORMS}
    review = by_verb.pop("review")
    verb = first.strip(AROUND).lower() if first.isascii() else first
    if verb not in ("ask", "dispute") and any(map(OPENING.match, below)):
        return Misunderstood("There are several commands: give each in a comment of its own.")
    if verb == review.verb and not rest:
        return Command(review)
    if verb in by_verb:
        return _read(by_verb[verb], rest, "\n".join(below))
    if words and not any(character.isalnum() for character in words):
        return Misunderstood("`/debate help` lists what can be asked for.")
    if not rest or _id(_first_word(rest)[0]):  # what may follow a verb
        word = first.strip(AROUND).lower()
        # `ask` is so short that many honest words are like it.
        near = get_close_matches(word[:20], [*by_verb.keys() - {"ask"}], n=1, cutoff=LIKENESS)
        meant = "explain" if _id(word) and not rest else SYNONYMS.get(word, "".join(near))
        if meant:
            return Misunderstood(f"Did you mean `{by_verb[meant].usage}`?")
    return _read(review, words, "")


def _read(form: Form, rest: str, below: str) -> Command | Misunderstood:
    first, more = _first_word(rest)
    id = _id(first)
    named = [_id(word) for word in rest.replace(",", " ").split()]
    is_all = first.strip(AROUND).lower() in ("", "all") and not more
    text = {
        "focus": rest,
        "reason": more,
        "question": f"{rest}\n{below}".strip(),
        "argument": f"{more}\n{below}".strip(),
    }.get(form.arguments, "")
    if len(text) > (limit := MAX_TEXT.get(form.arguments, MAX_PROSE)):
        return Misunderstood(f"The text is longer than {limit:,} characters.")
    is_right = {
        "none": not rest,
        "focus": True,
        "finding": bool(id) and not more,
        "findings": is_all or all(named),
        "question": bool(text),
    }.get(form.arguments, bool(id and text) and not _id(_first_word(text)[0]))
    if not is_right:
        return Misunderstood(f"Usage: `{form.usage}`.")
    if form.arguments == "findings":
        return Command(form, findings=() if is_all else tuple(dict.fromkeys(named)))
    return Command(form, id if " F1" in form.usage else "", text)


def _first_word(text: str) -> tuple[str, str]:
    first, *rest = text.split(maxsplit=1) or [""]
    return first, "".join(rest).strip()


def _id(word: str) -> str:
    match = FINDING.fullmatch(word.strip(AROUND))
    return f"F{match[1]}" if match else ""
