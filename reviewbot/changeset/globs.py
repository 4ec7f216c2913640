"""Patterns as in ``.gitignore``: ``*.lock``, ``/build``, ``docs/``, ``a/**/b``, ``!keep.py`` (gitignore(5)).

A slash always parts names, also between brackets, where git lets it be a member of the class."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "digit": "0-9",
    "lower": "a-z",
    "space": "\\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


@dataclass(frozen=True, slots=True)
class _Rule:
    """One pattern, a matcher for each part between slashes; ``None`` stands for ``**``."""

    parts: tuple[re.Pattern[str] | None, ...]
    negated: bool
    folders_only: bool

    def matches(self, names: tuple[str, ...], *, folder: bool) -> bool:
        """Whether the path of these ``names`` is meant. Steps back to the last ``**`` only, so it costs names × parts."""
        if self.folders_only and not folder:
            return False
        part = at = 0
        star, resume = -1, 0
        while at < len(names):
            if part < len(self.parts) and (matcher := self.parts[part]) is None:
                star, resume = part, at
                part += 1
            elif part < len(self.parts) and matcher is not None and matcher.fullmatch(names[at]):
                part, at = part + 1, at + 1
            elif star >= 0:
                resume += 1
                part, at = star + 1, resume
            else:
                return False
        return part == len(self.parts)


class Globs:
    """An ordered list of patterns; the last one that matches decides. A folder that is matched takes all below along."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._rules = tuple(rule for pattern in patterns if (rule := _rule(pattern)) is not None)

    def match(self, path: str) -> bool:
        """Whether the file at ``path``, relative to the root, is meant."""
        if not self._rules:
            return False
        names = tuple(path.split("/"))
        return any(self._decides(names[:depth], folder=depth < len(names)) for depth in range(1, len(names) + 1))

    def _decides(self, names: tuple[str, ...], *, folder: bool) -> bool:
        return next((not rule.negated for rule in reversed(self._rules) if rule.matches(names, folder=folder)), False)


def _rule(pattern: str) -> _Rule | None:
    """The rule of one line, ``None`` for an empty line, a comment or a pattern that can match nothing."""
    text = _without_trailing_blanks(pattern)
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text[1:] if negated else text
    folders_only = text.endswith("/")
    text = text[:-1] if folders_only else text
    anchored = "/" in text
    parts: list[re.Pattern[str] | None] = [] if anchored else [None]
    names = text.removeprefix("/").split("/")
    for name in names:
        if name == "**" and anchored:
            parts.append(None)
        elif (matcher := _matcher(name)) is not None:
            parts.append(matcher)
        else:
            return None
    if parts[-1] is None:
        parts.append(re.compile(".+", re.DOTALL))
    return _Rule(tuple(parts), negated, folders_only)


def _without_trailing_blanks(pattern: str) -> str:
    stripped = pattern.rstrip(" ")
    escapes = len(stripped) - len(stripped.rstrip("\\"))
    return stripped + " " if escapes % 2 and len(stripped) < len(pattern) else stripped


def _matcher(name: str) -> re.Pattern[str] | None:
    """One part between slashes as an expression that cannot backtrack into an earlier ``*``."""
    segments = [""]
    at = 0
    while at < len(name):
        character = name[at]
        if character == "*":
            segments.append("")
            at += 1
        elif character == "[":
            read = _bracket(name, at)
            if read is None:
                return None
            expression, at = read
            segments[-1] += expression
        elif character == "\\":
            if at + 1 == len(name):
                return None
            segments[-1] += re.escape(name[at + 1])
            at += 2
        else:
            segments[-1] += "." if character == "?" else re.escape(character)
            at += 1
    first, *others = segments
    if not name:
        return None
    last = ".*" + others.pop() if others else ""
    return re.compile(first + "".join(f"(?>.*?{segment})" for segment in others) + last, re.DOTALL)


def _bracket(name: str, at: int) -> tuple[str, int] | None:
    """The class that begins at ``name[at]`` and the index behind it, ``None`` where it is not closed or empty in range."""
    start = at + 1
    negated = name[start : start + 1] in ("!", "^")
    at = start + negated
    members = ""
    first = True
    while at < len(name) and (first or name[at] != "]"):
        first = False
        if name[at] == "[" and name[at + 1 : at + 2] == ":" and (end := name.find(":]", at + 2)) > 0:
            if name[at + 2 : end] not in _CLASSES:
                return None
            members += _CLASSES[name[at + 2 : end]]
            at = end + 2
            continue
        low, at = _member(name, at)
        if name[at : at + 1] == "-" and name[at + 1 : at + 2] not in ("", "]"):
            high, at = _member(name, at + 1)
            members += f"{re.escape(low)}-{re.escape(high)}" if low <= high else ""
        else:
            members += re.escape(low)
    if at >= len(name):
        return None
    return (f"[{'^' if negated else ''}{members}]" if members else ("." if negated else "(?!)")), at + 1


def _member(name: str, at: int) -> tuple[str, int]:
    if name[at] == "\\" and at + 1 < len(name):
        return name[at + 1], at + 2
    return name[at], at + 1
