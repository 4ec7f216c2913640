"""Read a patch without a repository, as `git diff`, `git format-patch` or `diff -u` write it.

git reads the names, forwards and backwards for both sides. The lines of a file are those between
two headers, and must be as many as git counts: git skips lines after a hunk that other tools would
apply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from email import message_from_bytes
from email.policy import default
from itertools import pairwise
from pathlib import Path

from msgspec.structs import replace

from reviewbot.errors import GitError, UsageError
from reviewbot.git.change import Change, ChangedFile, FileStatus, describe
from reviewbot.git.diff import add_hunks
from reviewbot.git.process import ENVIRONMENT, Git, decode_name
from reviewbot.git.tree import is_outside

MAX_BYTES = 20_000_000
HINT = "write it with git diff, git format-patch or diff -u"
GIT_HEADER = re.compile(rb"^diff --git( .*)", re.MULTILINE)
NAMES = re.compile(rb"^--- .*\n\+\+\+ .*\n@@ -", re.MULTILINE)
DELETED = re.compile(rb"^@@ -\d+(?:,\d+)? \+0,0 @@", re.MULTILINE)
MAIL = re.compile(rb"^From [0-9a-f]{40,64} Mon Sep 17 00:00:00 2001\n", re.MULTILINE)
# Where the hunks of a file end: text between the files, or a signature.
END_OF_HUNKS = re.compile(rb"^(?:-- ?\n)?[^-+ \\@\n]", re.MULTILINE)
END_OF_MESSAGE = re.compile(rb"^(?:---$|diff --git |--- )", re.MULTILINE)
SUBJECT_PREFIX = re.compile(r"^(?:\[[^\]]*\]\s*)+")
INDEX = re.compile(rb"^index [0-9a-f]+\.\.[0-9a-f]+ (\d{6})$", re.MULTILINE)
MODE = re.compile(rb"^(old|new|new file|deleted file) mode (\d{6})$", re.MULTILINE)


async def load_patch(patch: bytes) -> Change:
    """The change of a patch. Raises UsageError if it is none, or could mean two things."""
    if len(patch) > MAX_BYTES:
        raise UsageError("the patch is larger than 20 MB", hint="review a smaller change")
    if patch.count(b"\n") == patch.count(b"\r\n"):
        patch = patch.replace(b"\r\n", b"\n")  # converted as a whole: headers end at a line feed
    try:
        # With --no-prefix alone, both names of a file are equal.
        p0 = ["-p0"] * any(n == n[: len(n) // 2] * 2 for n in GIT_HEADER.findall(patch))
        new, old = await _numstat(patch, *p0), await _numstat(patch, *p0, "--reverse")
        sections = list(_sections(patch))
        if not len(sections) == len(new) == len(old):
            raise GitError("git reads other files in it than its lines show")
        files = [
            _file(section, old_path, path, count is None)
            for section, (_, old_path), (count, path) in zip(sections, old[::-1], new, strict=True)
        ]
        counts = [count or (0, 0) for count, _ in new]
        shown, notes = add_hunks(files, counts, [[section] for section in sections])
    except GitError as error:
        raise UsageError(f"the patch cannot be read: {error}", hint=HINT) from error
    for file, section, count in zip(files, sections, counts, strict=True):
        _, _, lines = section.partition(b"\n@@")
        if not file.is_binary and len(re.findall(rb"^[-+]", lines, re.MULTILINE)) != sum(count):
            raise UsageError(f"lines of {file.path!r} follow a hunk that is over", hint=HINT)
    title, description = describe(_messages(patch))
    return Change(
        target="--patch",
        base_tree="",
        head_tree="",
        files=_join(shown),
        title=title,
        description=description,
        notes=notes,
    )


async def _numstat(patch: bytes, *options: str) -> list[tuple[tuple[int, int] | None, str]]:
    """Counts of added and deleted lines, None for a binary file, and the name of each file."""
    environment = ENVIRONMENT | {"GIT_DIR": "/dev/null"}  # no repository, wherever "/" is
    git = Git(Path("/"), environment=environment)
    output = await git("apply", "--numstat", "-z", *options, stdin=patch)
    result = []
    for entry in output.split(b"\0")[:-1]:
        added, deleted, path = entry.split(b"\t", 2)
        name = decode_name(path)
        if is_outside(name):
            raise UsageError(f"the patch changes a file outside of the tree: {name!r}")
        result.append((None if added == b"-" else (int(added), int(deleted)), name))
    return result


def _sections(patch: bytes) -> Iterator[bytes]:
    """The part of a patch that belongs to each file."""
    header = GIT_HEADER if GIT_HEADER.search(patch) else NAMES
    starts = [match.start() for match in header.finditer(patch)]
    for start, end in pairwise([*starts, len(patch)]):
        names, mark, hunks = patch[start:end].partition(b"\n@@ ")
        yield names + mark + END_OF_HUNKS.split(hunks, maxsplit=1)[0]


def _file(section: bytes, old_path: str, path: str, is_binary: bool) -> ChangedFile:
    header = section.partition(b"\n@@ ")[0]
    modes = {match[1]: match[2].decode("ascii") for match in MODE.finditer(header)}
    index = INDEX.search(header)
    usual = index[1].decode("ascii") if index else "100644"
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
    old_mode = modes.get(b"old") or modes.get(b"deleted file") or usual
    mode = modes.get(b"new") or modes.get(b"new file") or usual
    return ChangedFile(
        path=path,
        old_path=old_path,
        status=status,
        old_mode="000000" if status == "added" else old_mode,
        mode="000000" if status == "deleted" else mode,
        is_binary=is_binary,
    )


def _join(files: Sequence[ChangedFile]) -> tuple[ChangedFile, ...]:
    """Files, each once: a changed type has two sections. Raises UsageError."""
    joined: dict[str, ChangedFile] = {}
    for file in files:
        if first := joined.get(file.path):
            if (first.status, file.status) != ("deleted", "added"):
                message = f"the patch changes {file.path!r} more than once"
                raise UsageError(message, hint="write one diff of all commits: git diff A...B")
            hunks, is_binary = first.hunks + file.hunks, first.is_binary or file.is_binary
            file = replace(file, status="type_changed", old_mode=first.old_mode)
            file = replace(file, hunks=hunks, is_binary=is_binary)
        joined[file.path] = file
    return tuple(joined.values())


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
