"""Read a patch without a repository, as `git diff`, `git format-patch` or `diff -u` write it.

git reads the names, forwards and backwards for both sides. What belongs to a file is found by
counting lines against the headers of hunks, and must agree with what git counts: git skips lines
after a hunk that other tools would apply.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from email import message_from_bytes
from email.policy import default
from io import BytesIO
from pathlib import Path

from msgspec.structs import replace
from unidiff.errors import UnidiffParseError

from reviewbot.errors import GitError, UsageError
from reviewbot.git.change import Change, ChangedFile, FileStatus
from reviewbot.git.diff import add_hunks, count_lines
from reviewbot.git.message import describe
from reviewbot.git.process import ENVIRONMENT, Git, decode_name

MAX_BYTES = 20_000_000
HINT = "write it with git diff, git format-patch or diff -u"
NAMES = re.compile(rb"--- .*\n\+\+\+ .*\n@@ -")
DELETED = re.compile(rb"^@@ -\d+(?:,\d+)? \+0,0 @@", re.MULTILINE)
HUNK = re.compile(rb"@@ -\d+(?:,(\d{1,9}))? \+\d+(?:,(\d{1,9}))? @@")
MAIL = re.compile(rb"^From [0-9a-f]{40,64} Mon Sep 17 00:00:00 2001\n", re.MULTILINE)
END_OF_MESSAGE = re.compile(rb"^(?:---$|diff --git |--- )", re.MULTILINE)
SUBJECT_PREFIX = re.compile(r"^(?:\[[^\]]*\]\s*)+")
INDEX = re.compile(rb"^index ([0-9a-f]+)\.\.([0-9a-f]+)(?: (\d{6}))?$", re.MULTILINE)
NONE = ("", "", "")
FULL_ID_LENGTHS = (40, 64)
MODE = re.compile(rb"^(old|new|new file|deleted file) mode (\d{6})$", re.MULTILINE)


async def load_patch(patch: bytes) -> Change:
    """The change of a patch. Raises UsageError if it is none, or could mean two things."""
    if len(patch) > MAX_BYTES:
        raise UsageError("the patch is larger than 20 MB", hint="review a smaller change")
    if patch.startswith((b"\xff\xfe", b"\xfe\xff")):
        message = "the patch is encoded as UTF-16"
        raise UsageError(message, hint="write it with git diff --output=FILE")
    if b"\r\n" in patch and patch.count(b"\n") == patch.count(b"\r\n"):
        patch = patch.replace(b"\r\n", b"\n")  # converted as a whole: git cannot read its headers
    sections = _sections(patch)
    if not sections:
        raise UsageError("the patch changes no file", hint=HINT)
    new, old = await _numstat(patch), await _numstat(patch, "--reverse")
    if not len(sections) == len(new) == len(old):
        raise UsageError("git reads other files in the patch than its lines show", hint=HINT)
    old.reverse()
    pairs = zip(sections, old, new, strict=True)
    files = [
        _file(section, before, path, count is None) for section, (_, before), (count, path) in pairs
    ]
    try:
        shown, notes = add_hunks(files, [[section] for section in sections])
    except UnidiffParseError as error:
        raise UsageError(f"the patch cannot be read: {error}", hint=HINT) from error
    for file, (count, _) in zip(shown, new, strict=True):
        if not file.is_binary and count_lines(file) != count:
            raise UsageError(
                f"the hunks of {file.path!r} have other lines than git reads", hint=HINT
            )
    joined, more_notes = _join(shown)
    title, description = describe(_messages(patch))
    return Change(
        target="--patch",
        base_tree="",
        head_tree="",
        files=joined,
        title=title,
        description=description,
        notes=notes + more_notes,
    )


async def _numstat(patch: bytes, *options: str) -> list[tuple[tuple[int, int] | None, str]]:
    """Counts of added and deleted lines, None for a binary file, and the name of each file."""
    environment = ENVIRONMENT | {"GIT_DIR": "/dev/null"}  # no repository, wherever "/" is
    git = Git(Path("/"), environment=environment)
    try:
        output = await git("apply", "--numstat", "-z", *options, stdin=patch)
    except GitError as error:
        raise UsageError(f"the patch cannot be read: {error}", hint=HINT) from error
    result = []
    for entry in output.split(b"\0")[:-1]:
        added, deleted, path = entry.split(b"\t", 2)
        name = decode_name(path)
        if any(part in ("", ".", "..") or part.lower() == ".git" for part in name.split("/")):
            raise UsageError(f"the patch changes a file outside of the tree: {name!r}")
        result.append((None if added == b"-" else (int(added), int(deleted)), name))
    return result


def _sections(patch: bytes) -> list[bytes]:
    """The part of the patch that belongs to each file. Raises UsageError."""
    spans: list[list[int]] = []  # where each part begins and ends
    is_open = has_names = has_hunks = False
    old = new = end = number = 0
    for number, line in enumerate(BytesIO(patch), 1):
        start, end = end, end + len(line)
        mark = line[:1]
        if old or new:  # lines that the hunk still lacks
            old -= mark not in (b"+", b"\\")
            new -= mark not in (b"-", b"\\")
            if mark not in (b"+", b"-", b" ", b"\n", b"\\") or old < 0 or new < 0:
                raise _wrong(number, "does not fit the header of its hunk")
        elif line.startswith((b"diff --cc ", b"diff --combined ")):
            message = "the patch is the combined diff of a merge"
            raise UsageError(message, hint="compare with one parent: git diff COMMIT^1 COMMIT")
        elif line.startswith(b"diff --git "):
            spans.append([start, end])
            is_open, has_names, has_hunks = True, False, False
        elif NAMES.match(patch, start):
            if has_names or not is_open:
                spans.append([start, end])
            is_open, has_names, has_hunks = True, True, False
        elif line.startswith(b"@@ -"):
            match = HUNK.match(line)
            if not is_open or match is None:
                raise _wrong(number, "is a hunk without the name of a file, or no hunk")
            old, new = (1 if count is None else int(count) for count in match.groups())
            has_hunks = True
        elif has_hunks and mark in (b"+", b"-", b" ") and line.strip() != b"--":
            raise _wrong(number, "follows a hunk that its header says is over")
        elif has_hunks and mark != b"\\":
            is_open = has_hunks = False  # text between the files
        if is_open:
            spans[-1][1] = end
    if old or new:
        raise _wrong(number, "ends in the middle of a hunk")
    return [patch[start:end] for start, end in spans]


def _wrong(number: int, complaint: str) -> UsageError:
    return UsageError(f"line {number} of the patch {complaint}", hint=HINT)


def _file(section: bytes, old_path: str, path: str, is_binary: bool) -> ChangedFile:
    header = section.partition(b"\n@@ ")[0]
    modes = {match[1]: match[2].decode("ascii") for match in MODE.finditer(header)}
    index = INDEX.search(header)
    old_blob, blob, usual = (part.decode("ascii") for part in index.groups(b"")) if index else NONE
    status: FileStatus = "modified"
    is_plain = not header.startswith(b"diff --git ")
    if b"new file" in modes or (is_plain and b"\n@@ -0,0 " in section):
        status = "added"
    elif b"deleted file" in modes or (is_plain and DELETED.search(section)):
        status = "deleted"
    elif b"\ncopy from " in header:
        status, old_path = "added", path
    elif b"\nrename from " in header:
        status = "renamed"
    elif old_path != path:
        raise UsageError(f"the patch calls one file {old_path!r} and {path!r}", hint=HINT)
    old_mode = modes.get(b"old") or modes.get(b"deleted file") or usual or "100644"
    mode = modes.get(b"new") or modes.get(b"new file") or usual or "100644"
    return ChangedFile(
        path=path,
        old_path=old_path,
        status=status,
        old_mode="000000" if status == "added" else old_mode,
        mode="000000" if status == "deleted" else mode,
        # A shortened id could be that of another file.
        old_blob=old_blob if len(old_blob) in FULL_ID_LENGTHS else "",
        blob=blob if len(blob) in FULL_ID_LENGTHS else "",
        is_binary=is_binary,
    )


def _join(files: Sequence[ChangedFile]) -> tuple[tuple[ChangedFile, ...], tuple[str, ...]]:
    """Files, each once: a changed type has two sections, and a series may change a file often."""
    joined: dict[str, ChangedFile] = {}
    notes = []
    for file in files:
        first = joined.get(file.path)
        if first is None:
            joined[file.path] = file
            continue
        status = file.status if file.status == "deleted" else first.status
        if first.status == "deleted" and file.status == "added":
            status = "type_changed" if first.old_mode[:3] != file.mode[:3] else "modified"
        if status != "type_changed":
            notes.append(
                f"The patch changes {file.path} several times: line numbers are those of each step."
            )
        joined[file.path] = replace(
            file,
            status=status,
            old_path=first.old_path,
            old_mode=first.old_mode,
            old_blob=first.old_blob,
            is_binary=first.is_binary or file.is_binary,
            hunks=first.hunks + file.hunks,
        )
    return tuple(joined.values()), tuple(dict.fromkeys(notes))


def _messages(patch: bytes) -> list[str]:
    """The messages of the mails that `git format-patch` wrote."""
    messages = []
    for mail in MAIL.split(patch)[1:]:
        end = END_OF_MESSAGE.search(mail)
        parsed = message_from_bytes(mail[: end.start()] if end else mail[:100_000], policy=default)
        subject = SUBJECT_PREFIX.sub("", str(parsed["Subject"] or ""), count=1)
        body = parsed.get_payload(decode=True)
        text = body.decode(errors="replace") if isinstance(body, bytes) else ""
        messages.append(f"{subject}\n\n{text}")
    return messages
