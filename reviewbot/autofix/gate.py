"""The gate: what no patch may do, whoever wrote it (``security.md`` 6).

Judged is the tree that a patch makes, as git lists it, and not the patch's text: a text can say one thing to a reader and another
to git. What is not allowed here in so many words is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from reviewbot.autofix import content, listing, names, protected, suppression, syntax, tests
from reviewbot.autofix.content import Texts
from reviewbot.autofix.listing import Entry
from reviewbot.autofix.syntax import Parser
from reviewbot.domain.repair import Edit, Refusal
from reviewbot.errors import GitError, PatchError
from reviewbot.ports import Objects, RawDiff, Trees
from reviewbot.screen import shown

RULES = {
    "size": "a patch is small: its bytes, hunks, files and changed lines, and the files that it changes",
    "empty": "a patch changes something",
    "apply": "git applies it to the tree that it is for, with all of its context and exactly where it says",
    "form": "git itself writes that change in the same words: nothing beside it, nothing twice, no other way to say it",
    "entry": "regular files are modified, and added where they may be; no mode, type or name changes, nothing is removed",
    "scope": "only files are changed that it may change",
    "name": "names are what they look like, on every file system, and are not taken for others",
    "protected": "what decides what runs is left alone, unless an operator opened it",
    "content": "files stay text in UTF-8, without marks of a merge, placeholders and characters that nobody sees",
    "secret": "no secret comes",
    "tests": "tests do not become fewer, and say no less",
    "suppression": "what a tool says is mended, and not silenced",
    "syntax": "what could be read can be read",
}
"""Every rule by the name that a Refusal gives, in the order in which they are asked."""

MOST_REASONS = 5
"""Reasons that are told of one rule in one file."""
MOST_REASON = 300
"""Characters of a reason."""

_HUNK = re.compile(rb"^@@ ", re.MULTILINE)
_SECTION = re.compile(rb"^diff --git ", re.MULTILINE)
_BINARY = re.compile(rb"^GIT binary patch", re.MULTILINE)
_HEADING = re.compile(rb"^(@@ [^@\n]{1,60} @@)[^\n]*+", re.MULTILINE)
"""No line of a hunk begins with these: each has a mark before it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a patch may change: bytes and hunks of its text, files, lines added and removed, bytes of a file."""

    patch_bytes: int
    hunks: int
    files: int
    lines: int
    file_bytes: int = 500_000


SMALL = Limits(patch_bytes=256_000, hunks=200, files=10, lines=400)
"""For what models write: as much as one can read at a sitting (400 lines: SmartBear's study at Cisco), and far above a usual
fix. Bytes leave room for long lines, hunks for one in every second line."""
BATCH = Limits(patch_bytes=2_000_000, hunks=4_000, files=200, lines=8_000)
"""For fixes of tools that are safe by their rules, many at once: some thousand of a line each."""


def nothing(_path: str) -> bool:
    """No protected file is opened."""
    return False


@dataclass(frozen=True, slots=True)
class GateOptions:
    """What this patch may do. ``reviewed`` are the files that it may change; ``may_add`` says that others may come. ``opened``
    says of a path that the operator lets fixes change it though it is protected; ``parser`` knows languages beyond Python."""

    reviewed: frozenset[str]
    may_add: bool = False
    opened: Callable[[str], bool] = nothing
    parser: Parser = syntax.unknown
    limits: Limits = SMALL


@dataclass(frozen=True, slots=True)
class Admitted:
    """What the gate says of a patch. ``tree`` is the one that it makes, empty where git does not apply it, and ``diff`` what git
    says of it: show and write this one, never the patch that came. It may be used where there are no ``refusals``."""

    tree: str
    diff: RawDiff | None
    refusals: tuple[Refusal, ...]

    @property
    def passed(self) -> bool:
        """It may be used."""
        return not self.refusals


def admitted(patch: bytes, tree: str, *, trees: Trees, objects: Objects, options: GateOptions) -> Admitted:
    """The whole gate for one patch against a tree: weigh, apply, list, judge. Raises GitError where git itself fails."""
    if heavy := weigh(patch, options.limits):
        return Admitted("", None, heavy)
    try:
        made = trees.apply(tree, patch)
    except PatchError as error:
        return Admitted("", None, (_refusal("apply", "", error.message),))
    diff = trees.between(tree, made)
    found = judge(diff, objects.blob, options, names_at=lambda: (entry.path for entry in objects.entries(tree)))
    if _without_headings(diff.patch) != _without_headings(patch):
        found += (_refusal("form", "", "git itself writes this change in other words"),)
    return Admitted(made, diff, found)


def foreseen(edits: Iterable[Edit], options: GateOptions) -> tuple[Refusal, ...]:
    """What the gate would refuse for the names of edits alone, before there is a tree with them in it."""
    return tuple(refusal for edit in edits for refusal in _foreseen(edit, options))


def weigh(patch: bytes, limits: Limits = SMALL) -> tuple[Refusal, ...]:
    """What is refused before anything is applied, for what it would cost."""
    if len(patch) > limits.patch_bytes:
        return (_refusal("size", "", f"the patch has {len(patch):,} bytes: at most {limits.patch_bytes:,} are taken"),)
    if not patch.strip():
        return (_refusal("empty", "", "the patch is empty"),)
    return tuple(_weighed(patch, limits))


def judge(
    diff: RawDiff, blob: Callable[[str], bytes], options: GateOptions, *, names_at: Callable[[], Iterable[str]]
) -> tuple[Refusal, ...]:
    """What is refused of a change as git lists it. ``blob`` reads a file by its id (GitError where it is not there), ``names_at``
    lists the tree before the change, and is asked only where a file is new. Contents are read once all names are allowed."""
    entries = listing.read(diff)
    if entries is None:
        return (_refusal("entry", "", "git's lists of what is changed do not agree"),)
    if not entries:
        return (_refusal("empty", "", "the patch changes nothing"),)
    if large := tuple(_measured(entries, options.limits)):
        return large
    known = frozenset(names_at()) if any(entry.is_added for entry in entries) else frozenset()
    known |= {entry.path for entry in entries}
    if refused := tuple(refusal for entry in entries for refusal in _by_name(entry, options, known)):
        return refused
    return tuple(refusal for entry in entries for refusal in _by_content(entry, options, blob))


def _weighed(patch: bytes, limits: Limits) -> Iterator[Refusal]:
    hunks, sections = len(_HUNK.findall(patch)), len(_SECTION.findall(patch))
    if hunks > limits.hunks:
        yield _refusal("size", "", f"the patch has {hunks:,} hunks: at most {limits.hunks:,} are taken")
    if sections > limits.files:
        yield _refusal("size", "", f"the patch changes {sections:,} files: at most {limits.files:,} are taken")
    if b"\0" in patch or _BINARY.search(patch):  # a few bytes of such a patch can become gigabytes
        yield _refusal("content", "", "the patch is not text alone")


def _measured(entries: tuple[Entry, ...], limits: Limits) -> Iterator[Refusal]:
    lines = sum(entry.lines or 0 for entry in entries)
    if len(entries) > limits.files:
        yield _refusal("size", "", f"the patch changes {len(entries):,} files: at most {limits.files:,} are taken")
    if lines > limits.lines:
        yield _refusal("size", "", f"the patch changes {lines:,} lines: at most {limits.lines:,} are taken")


def _by_name(entry: Entry, options: GateOptions, known: frozenset[str]) -> Iterator[Refusal]:
    path = entry.path
    if not (entry.is_modified or (entry.is_added and options.may_add)):
        yield _refusal("entry", path, _deed(entry))
    if entry.is_modified and path not in options.reviewed:
        yield _refusal("scope", path, "it is not among the files that may be changed")
    yield from (_refusal("name", path, why) for why in names.faults(path))
    if entry.is_added and (other := names.lookalike(path, known)):
        yield _refusal("name", path, f"it looks like {other!r}, which is there")
    if entry.is_added and (module := names.shadowed(path, known)):
        yield _refusal("name", path, f"it would be imported in place of the module {module!r}")
    yield from _protected(path, options)


def _protected(path: str, options: GateOptions) -> Iterator[Refusal]:
    if protected.is_sealed(path):
        yield _refusal("protected", path, "it belongs to git, or to what the forge runs with a token: nobody may open it")
    elif (why := protected.protection(path)) and not options.opened(path):
        yield _refusal("protected", path, f"{why}; an operator may open it with fix.open")


def _deed(entry: Entry) -> str:
    """What is done to a file that is not allowed."""
    if entry.letter == "D":
        return "it is removed"
    if entry.letter == "A":
        return "it is new" if entry.is_added else f"it is new, with the mode {entry.new_mode:06o}"
    if entry.old_mode != entry.new_mode:
        return f"its mode changes from {entry.old_mode:06o} to {entry.new_mode:06o}"
    return "it is no regular file" if entry.letter == "M" else f"git lists it as {entry.letter}"


def _by_content(entry: Entry, options: GateOptions, blob: Callable[[str], bytes]) -> Iterator[Refusal]:
    path, most = entry.path, options.limits.file_bytes
    try:
        older, newer = None if entry.is_added else blob(entry.old_id), blob(entry.new_id)
    except GitError as error:
        yield _refusal("content", path, f"it cannot be read: {error.message}")
        return
    if max(len(newer), len(older or b"")) > most:
        yield _refusal("size", path, f"it has more than {most:,} bytes")
        return
    if not options.opened(path) and any(protected.is_shell_script(data) for data in (older or b"", newer)):
        yield _refusal("protected", path, "it is a shell script; an operator may open it with fix.open")
    new, old = content.text(newer), content.text(older or b"")
    if new is None or old is None or entry.lines is None:
        yield _refusal("content", path, "it is no text in UTF-8, or was none")
        return
    texts = Texts(path, None if older is None else old, new)
    for rule, faults in _examined(texts, options):
        yield from (_refusal(rule, path, why) for why in islice(faults, MOST_REASONS))


def _examined(texts: Texts, options: GateOptions) -> Iterator[tuple[str, Iterator[str]]]:
    yield "content", content.faults(texts)
    yield "secret", content.leaks(texts)
    yield "tests", tests.faults(texts)
    yield "suppression", suppression.faults(texts)
    yield "syntax", syntax.faults(texts, options.parser)


def _foreseen(edit: Edit, options: GateOptions) -> Iterator[Refusal]:
    if edit.content is None:
        yield _refusal("entry", edit.path, "it is removed")
    if edit.path not in options.reviewed and not options.may_add:
        yield _refusal("scope", edit.path, "it is not among the files that may be changed")
    yield from (_refusal("name", edit.path, why) for why in names.faults(edit.path))
    yield from _protected(edit.path, options)


def _refusal(rule: str, path: str, reason: str) -> Refusal:
    """The reason as everyone may see it: it may quote the patch."""
    return Refusal(rule, path, " ".join(shown.text(reason).split())[:MOST_REASON])


def _without_headings(patch: bytes) -> bytes:
    """What stands behind a hunk's numbers helps a reader, and is another in another version of git."""
    return _HEADING.sub(rb"\1", patch)
