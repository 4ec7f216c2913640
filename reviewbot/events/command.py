"""The words of a ``/debate`` comment (``interface.md`` §6), read into a :class:`Command`.

Where a command stands: on the first line of the comment that is not blank, and there in the very first column. What is quoted,
fenced, indented, in a list or in the middle of a sentence is talk about a command. A byte order mark before the text is no text.
Words are parted by any white space, also by the no-break spaces of phones. A hidden character inside of a word makes it another
word. Case does not matter for ``/debate``, verbs, ``F1`` and commit ids.

What belongs to it: the rest of that line. For ``ask`` and ``dispute``, whose words are read as prose, the following lines belong
to it, too; for all others they are said to people and are not read. One comment holds one command.

A documented verb is always the verb: ``/debate config parsing`` is no review with a focus. What is nearly a verb is answered with
the verb (:class:`Misunderstood`), because the other reading is a review that costs money and that nobody asked for. The same goes
for words that a verb does not take, and for more text than is kept: nothing is cut or left out silently.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from types import MappingProxyType

MOST_FOCUS = 2_000
MOST_REASON = 300
"""Characters. Reasons are kept in the state of the pull request, which is small."""
MOST_PROSE = 10_000
"""Characters of a question or an argument."""
MOST_FINDINGS = 50


class Verb(StrEnum):
    """What is asked for. ``REVIEW`` is ``/debate`` alone, or with a focus."""

    REVIEW = "review"
    FULL = "full"
    FIX = "fix"
    EXPLAIN = "explain"
    DISMISS = "dismiss"
    ASK = "ask"
    DISPUTE = "dispute"
    UNDO = "undo"
    RESOLVE = "resolve"
    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    STATUS = "status"
    COST = "cost"
    CONFIG = "config"
    HELP = "help"


@dataclass(frozen=True, slots=True)
class Command:
    """``findings`` are ids as ``F1`` (none with ``FIX``: all of them); ``sha`` is 7 to 40 hexadecimal digits or empty.
    ``text`` is a focus, a reason, a question or an argument: untrusted words."""

    verb: Verb
    findings: tuple[str, ...] = ()
    sha: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Misunderstood:
    """A command that is none. ``said`` is its first word, untrusted; ``why`` is a sentence of ours, and so is safe to show."""

    said: str
    why: str
    nearest: Verb | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """How a verb is written, and what it does, for a reader. ``runs_stopped``: also where reviewbot was told to stop."""

    verb: Verb
    usage: str
    does: str
    read: Callable[[Form, str, str], Command | Misunderstood]
    runs_stopped: bool = False


_OPENING = re.compile(r"/debate(?=\s|\Z)", re.IGNORECASE)
_LINE_END = re.compile(r"\r\n|\n|\r")
_FINDING = re.compile(r"[Ff]([1-9][0-9]{0,4})")
"""At most five digits, so that no finding looks like a short commit id."""
_SHA = re.compile(r"[0-9A-Fa-f]{7,40}")
_AROUND = "`,.:;!?"
"""Marks that people put around words, and that belong to none."""
_BLANK = re.compile("[\\s\u00ad\u200b-\u200f\u2060\ufeff]*")


def read(body: str) -> Command | Misunderstood | None:
    """The command of a comment; ``None`` where it holds none. Every text is one of the three."""
    lines = _LINE_END.split(body.removeprefix("\ufeff"))
    index = next((index for index, line in enumerate(lines) if not _BLANK.fullmatch(line)), None)
    if index is None or not _OPENING.match(lines[index]):
        return None
    said = lines[index][len("/debate") :].strip()
    after = "\n".join(lines[index + 1 :])
    if said and not any(character.isalnum() for character in said):
        return Misunderstood(said[:80], f"`{BY_VERB[Verb.HELP].usage}` tells what can be said", Verb.HELP)
    first, rest = _cut(said)
    form = _FORMS.get(_word(first)) if first else _REVIEW
    if form:
        return form.read(form, rest, after)
    if nearest := _nearest(_word(first), rest):
        return Misunderstood(first[:80], f"did you mean `{BY_VERB[nearest].usage}`?", nearest)
    return _focused(_REVIEW, said, after)


def help_text() -> str:
    """All commands in Markdown. None of its lines is a command, and none would be one as a comment of its own."""
    return "\n".join(f"- `{form.usage}`: {form.does}" for form in FORMS)


def _cut(text: str) -> tuple[str, str]:
    """The first word, and the rest."""
    parts = text.split(maxsplit=1)
    return (parts[0], parts[1]) if len(parts) == 2 else (text, "")


def _word(text: str) -> str:
    """As verbs are compared."""
    return text.strip(_AROUND).lower() if text.isascii() else text


def _alone(form: Form, rest: str, _after: str) -> Command | Misunderstood:
    """A focus that begins with a verb is told apart by another first word, as in ``look at config parsing``."""
    if rest:
        return _wrong(form, "takes nothing more; to have something looked at, begin with another word")
    return Command(form.verb)


def _focused(form: Form, rest: str, _after: str) -> Command | Misunderstood:
    return Command(form.verb, text=rest) if len(rest) <= MOST_FOCUS else _too_long(form, MOST_FOCUS)


def _fixed(form: Form, rest: str, _after: str) -> Command | Misunderstood:
    """``all`` or findings, then at most one commit id; all where none is named."""
    words = [word for part in rest.split() for piece in part.split(",") if (word := piece.strip(_AROUND))]
    sha = words.pop().lower() if words and _SHA.fullmatch(words[-1]) else ""
    if [word.lower() for word in words] == ["all"]:
        words = []
    findings = tuple(dict.fromkeys(_id(word) for word in words))
    if "" in findings:
        return _wrong(form, "takes `all` or findings as `F1 F2`, and then the commit id that they were found at")
    if len(findings) > MOST_FINDINGS:
        return _wrong(form, f"takes at most {MOST_FINDINGS} findings")
    return Command(form.verb, findings=findings, sha=sha)


def _explained(form: Form, rest: str, _after: str) -> Command | Misunderstood:
    finding, more = _cut(rest)
    if more or not _id(finding):
        return _wrong(form, "takes one finding, as `F1`")
    return Command(form.verb, findings=(_id(finding),))


def _dismissed(form: Form, rest: str, _after: str) -> Command | Misunderstood:
    """One finding at a time: more would share a reason that was written for one."""
    finding, reason = _cut(rest)
    if not _id(finding) or _id(_cut(reason)[0]):
        return _wrong(form, "takes one finding, as `F1`, and a reason")
    if len(reason) > MOST_REASON:
        return _too_long(form, MOST_REASON)
    return Command(form.verb, findings=(_id(finding),), text=reason)


def _asked(form: Form, rest: str, after: str) -> Command | Misunderstood:
    text = f"{rest}\n{after}".strip()
    if not text:
        return _wrong(form, "takes a question")
    return Command(form.verb, text=text) if len(text) <= MOST_PROSE else _too_long(form, MOST_PROSE)


def _disputed(form: Form, rest: str, after: str) -> Command | Misunderstood:
    finding, argument = _cut(rest)
    text = f"{argument}\n{after}".strip()
    if not _id(finding) or not text:
        return _wrong(form, "takes one finding, as `F1`, and an argument")
    if len(text) > MOST_PROSE:
        return _too_long(form, MOST_PROSE)
    return Command(form.verb, findings=(_id(finding),), text=text)


def _id(word: str) -> str:
    """A finding's id as it is written everywhere; empty where the word is none."""
    found = _FINDING.fullmatch(word.strip(_AROUND))
    return f"F{found[1]}" if found else ""


def _wrong(form: Form, takes: str) -> Misunderstood:
    return Misunderstood(form.verb.value, f"`{form.verb}` {takes}: `{form.usage}`", form.verb)


def _too_long(form: Form, most: int) -> Misunderstood:
    return Misunderstood(form.verb.value, f"the text is longer than the {most:,} characters that are read", form.verb)


FORMS: tuple[Form, ...] = (
    Form(
        Verb.REVIEW,
        "/debate [focus text]",
        "review what is new since the last review; words after it say what to look at above all",
        _focused,
    ),
    Form(Verb.FULL, "/debate full", "review the whole pull request again", _alone),
    Form(Verb.FIX, "/debate fix [all|F1 F2 …] [<sha>]", "commit verified fixes, if the head is still that commit", _fixed),
    Form(Verb.EXPLAIN, "/debate explain F1", "who said what about one finding", _explained, runs_stopped=True),
    Form(Verb.DISMISS, "/debate dismiss F1 [reason]", "do not raise a finding again", _dismissed),
    Form(Verb.ASK, "/debate ask <question>", "ask the panel about this change", _asked),
    Form(Verb.DISPUTE, "/debate dispute F1 <argument>", "argue against a finding; the panel answers", _disputed),
    Form(Verb.UNDO, "/debate undo", "revert the last commit of fixes", _alone),
    Form(Verb.RESOLVE, "/debate resolve", "close reviewbot's threads", _alone),
    Form(Verb.PAUSE, "/debate pause", "review pushes no longer by themselves, only on request", _alone),
    Form(Verb.RESUME, "/debate resume", "review pushes again", _alone, runs_stopped=True),
    Form(Verb.STOP, "/debate stop", "do nothing more here until told to resume", _alone, runs_stopped=True),
    Form(Verb.STATUS, "/debate status", "what is known and running", _alone, runs_stopped=True),
    Form(Verb.COST, "/debate cost", "what the reviews of this pull request cost so far", _alone, runs_stopped=True),
    Form(Verb.CONFIG, "/debate config", "the configuration that holds here", _alone, runs_stopped=True),
    Form(Verb.HELP, "/debate help", "this list", _alone, runs_stopped=True),
)
"""The grammar, in the order of the help."""

BY_VERB: Mapping[Verb, Form] = MappingProxyType({form.verb: form for form in FORMS})

_REVIEW = BY_VERB[Verb.REVIEW]
_FORMS: Mapping[str, Form] = MappingProxyType({form.verb.value: form for form in FORMS if form is not _REVIEW})
_ABOUT_FINDINGS = (Verb.FIX, Verb.EXPLAIN, Verb.DISMISS, Verb.DISPUTE)
_MEANT: Mapping[str, Verb] = MappingProxyType(
    {
        "unpause": Verb.RESUME,
        "continue": Verb.RESUME,
        "start": Verb.RESUME,
        "cancel": Verb.STOP,
        "abort": Verb.STOP,
        "revert": Verb.UNDO,
        "ignore": Verb.DISMISS,
        "reject": Verb.DISMISS,
        "why": Verb.EXPLAIN,
    }
)
"""Words of other bots for ours. They are answered, not obeyed."""
_LIKENESS = 0.75
"""Of ``difflib``: one wrong, missing or swapped letter in a word of four or more: ``paus`` is 0.89 of ``pause``, ``halp`` 0.75
of ``help``."""


def _nearest(word: str, rest: str) -> Verb | None:
    """The verb that somebody may have meant, where the words after it would fit that verb.

    A single word may be nearly any verb, a word before a finding nearly one that takes findings. ``ask`` is so short that many
    honest words are like it: only its own letters in another order count."""
    if sorted(word) == sorted(Verb.ASK.value):
        return Verb.ASK
    if _id(word) and not rest:
        return Verb.EXPLAIN
    if rest and not _names_findings(rest):
        return None
    near = _ABOUT_FINDINGS if rest else tuple(verb for verb in _FORMS if verb != Verb.ASK)
    if _MEANT.get(word) in near:
        return _MEANT[word]
    found = get_close_matches(word[:20], near, n=1, cutoff=_LIKENESS)
    return Verb(found[0]) if found else None


def _names_findings(rest: str) -> bool:
    first = _cut(rest)[0]
    return bool(_id(first.split(",")[0])) or _word(first) == "all"
