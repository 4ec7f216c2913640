"""Untrusted text made fit to stand in a prompt: screened, capped, and enclosed where it cannot get out."""

from __future__ import annotations

import hashlib

from reviewbot.screen import hidden, secrets

CODE_LENGTH = 12
"""Hexadecimal digits of a block's code."""


def block(kind: str, text: str, *, length: int = CODE_LENGTH) -> str:
    """``text`` between two marker lines that bear a code which does not occur in it.

    The code is a hash of the text, so that equal texts give equal blocks. Whoever writes the text cannot write its end: a text
    in which the code occurs is given another one.
    """
    code = _code(kind, text, length)
    return f"<{kind}-{code}>\n{text}\n</{kind}-{code}>"


def screened(text: str) -> str:
    """``text`` without secrets and with hidden characters made visible. Passages come screened; everything else passes here."""
    return hidden.visible(secrets.redact(text)[0])


def one_line(text: str) -> str:
    """A name or path as it stands inside a line: a line feed or tab in it is made visible like other hidden characters."""
    return screened(text).replace("\n", "⟨U+000A⟩").replace("\t", "⟨U+0009⟩")


def indented(text: str) -> str:
    """Text that may have several lines as the value of a field: its further lines cannot be taken for fields."""
    return screened(text.strip()).replace("\n", "\n  ")


def cut(text: str, most: int) -> str:
    """At most ``most`` characters, and how many are missing."""
    return text if len(text) <= most else f"{text[:most]} … [{len(text) - most} more characters left out]"


def _code(kind: str, text: str, length: int) -> str:
    folded = text.lower()
    digest = hashlib.sha256(f"{kind}\n{text}".encode("utf-8", "surrogatepass"))
    while (code := digest.hexdigest()[:length]) in folded:
        digest.update(b"again")
    return code
