"""What the runner does about secrets in logs, and reads in files like GITHUB_OUTPUT.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands and, where the
page is silent, `FileCommandManager.cs` of github.com/actions/runner.
"""

from __future__ import annotations

import re


class FileError(ValueError):
    """A file that the runner refuses."""


class Masks:
    """Secrets, which the runner replaces with `***`. It does so for encoded ones as well, this
    class does not."""

    def __init__(self, *secrets: str) -> None:
        self._secrets = {line for secret in secrets for line in (secret, *secret.splitlines())}

    def hide(self, text: str) -> str:
        for secret in sorted(self._secrets - {""}, key=len, reverse=True):
            text = text.replace(secret, "***")
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
