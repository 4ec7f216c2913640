"""What a step tells the runner: workflow commands in its output, and files like GITHUB_OUTPUT.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands and, where the
page is silent, `ActionCommand.cs` and `FileCommandManager.cs` of github.com/actions/runner.
"""

from __future__ import annotations

import re

from tests.actions_runner.results import Annotation, StepRun

LEVELS = ("error", "warning", "notice")
NAMES = (*LEVELS, "debug", "group", "endgroup", "add-mask", "stop-commands", "set-output", "echo")
# `::name key=value,key=value::data` begins a line; the older `##[name key=value;…]data` need not.
COMMANDS = (
    (re.compile(r"\s*::(?P<name>\S+?)(?: (?P<properties>.*?))?::(?P<data>.*)"), ","),
    (re.compile(r".*?##\[(?P<name>[^\]\s]+)(?: (?P<properties>[^\]]*))?\](?P<data>.*)"), ";"),
)
ESCAPES = {"%3B": ";", "%3A": ":", "%2C": ",", "%5D": "]", "%0D": "\r", "%0A": "\n", "%25": "%"}
MAX_ANNOTATIONS = 10  # of a level, in a step; the runner drops what follows
MAX_SUMMARY_BYTES = 1024 * 1024  # of a step; the runner drops a longer one


class FileError(ValueError):
    """A file that the runner refuses."""


class Masks:
    """Secrets, which the runner replaces with `***`. It does so for encoded ones as well, this
    class does not."""

    def __init__(self, *secrets: str) -> None:
        self._secrets: set[str] = set()
        for secret in secrets:
            self.add(secret)

    def add(self, secret: str) -> None:
        """Mask a text and each of its lines."""
        self._secrets |= {text for text in (secret, *secret.splitlines()) if text.strip()}

    def hide(self, text: str) -> str:
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, "***")
        return text


def read_commands(output: str, masks: Masks) -> StepRun:
    """What the commands in an output tell of a step; `::add-mask::` adds to the masks."""
    step, stopped_until = StepRun(output=output), ""
    for line in output.splitlines(keepends=True):
        name, properties, data = _read_command(line, (*NAMES, stopped_until))
        if stopped_until:
            stopped_until = "" if name == stopped_until else stopped_until
        elif name == "stop-commands":
            stopped_until = data
        elif name == "add-mask":
            masks.add(data)
        elif name == "set-output":
            step.outputs[properties["name"]] = data
        elif name in LEVELS:
            same_level = [each for each in step.annotations if each.level == name]
            if len(same_level) < MAX_ANNOTATIONS:
                step.annotations.append(Annotation(name, masks.hide(data), properties))
        step.log += masks.hide(line)
    return step


def _read_command(line: str, names: tuple[str, ...]) -> tuple[str, dict[str, str], str]:
    """Name, properties and data; the name is "" if the line is text."""
    for pattern, separator in COMMANDS:
        match = pattern.match(line.rstrip("\r\n"))
        if match and match["name"] in names:
            pairs = (pair.partition("=") for pair in (match["properties"] or "").split(separator))
            properties = {name.strip(): _unescape(value) for name, _, value in pairs if value}
            return match["name"], properties, _unescape(match["data"], "%0D", "%0A", "%25")
    return "", {}, ""


def _unescape(text: str, *escapes: str) -> str:
    for escape in escapes or ESCAPES:
        text = text.replace(escape, ESCAPES[escape])
    return text


def read_assignments(text: str) -> dict[str, str]:
    """What GITHUB_OUTPUT, GITHUB_ENV or GITHUB_STATE has: `name=value`, and `name<<delimiter`, the
    lines of the value, `delimiter`. Raises FileError."""
    values: dict[str, str] = {}
    lines = iter(text.split("\n"))
    for line in lines:
        name, sign, rest = re.fullmatch(r"(.*?)(=|<<|$)(.*)", line, re.DOTALL).groups()  # type: ignore[union-attr]
        if not line:
            continue
        if not name or not sign or (sign == "<<" and not rest):
            raise FileError(f"Invalid format '{line}'")
        if sign == "=":
            values[name] = rest
            continue
        value = []
        for within in lines:
            if within == rest:
                break
            value.append(within)
        else:
            raise FileError(f"Invalid value. Matching delimiter not found '{rest}'")
        values[name] = "\n".join(value)
    return values
