"""What Go's tests, crashes and compiler print: the first sentence of a failure, and its place."""

from __future__ import annotations

import re

from reviewbot.evidence.parsers import failure_text

Reason = tuple[str, int, str]
"""File (empty where none is said), 1-based line (0 then), first sentence."""

_BUILD_ERROR = re.compile(
    r"^(?:vet: )?(?:\./)?([^\s:]{1,500}\.\w{1,5}):(\d{1,9})(?::\d{1,9})?: (?!warning|note)(.+)$", re.MULTILINE
)
_CRASH = re.compile(r"^(?:panic|fatal error): .*", re.MULTILINE)
_SAID = re.compile(r"^[ \t]+([\w.-]{1,200}\.go):(\d{1,9}):(.*)$", re.MULTILINE)
_ASSERTION = re.compile(r"^[ \t]*Error:[ \t](.*(?:\n.*)?)", re.MULTILINE)
"""testify's failures begin with an empty line and a trace."""
_FRAMING = re.compile(r"^[ \t]*(?:=== (?:RUN|PAUSE|CONT|NAME)\b|--- (?:PASS|FAIL|SKIP):).*\n?", re.MULTILINE)
_OF_GO = "testing.go"
"""Where the testing package itself speaks, of a data race or a time-out."""


def without_framing(text: str) -> str:
    """What a test printed, without the lines that Go puts around it."""
    return _FRAMING.sub("", text)


def has_build_error(text: str) -> bool:
    """A compiler or vet said why it failed."""
    return _BUILD_ERROR.search(text) is not None


def reason_of_build(text: str) -> Reason:
    """By the first error of a compiler or vet; of another failure where none is said."""
    error = _BUILD_ERROR.search(text)
    return (error[1], int(error[2]), error[3][: failure_text.MAX_MESSAGE]) if error else reason(text)


def reason(text: str) -> Reason:
    """Where it crashed, with the path that was compiled; else what the test said first, with a base name, as Go prints it."""
    crash, said = _CRASH.search(text), _SAID.search(text)
    if crash:
        return (*failure_text.place(text[crash.start() :]), crash[0].strip()[: failure_text.MAX_MESSAGE])
    if not said:
        return (*failure_text.place(text), failure_text.message(text))
    place = (said[1], int(said[2])) if said[1] != _OF_GO else failure_text.place(text)
    if said[3].strip():
        return (*place, failure_text.message(said[3]))
    assertion = _ASSERTION.search(text, said.end())
    return (*place, failure_text.message(assertion[1] if assertion else text[said.end() :]))
