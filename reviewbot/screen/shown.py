"""Text as everyone may see it: secrets redacted, then hidden characters made visible."""

from __future__ import annotations

from reviewbot.screen import hidden, secrets


def text(raw: str) -> str:
    """``raw`` screened. The number of its lines stays."""
    return hidden.visible(secrets.redact(raw)[0])


def lines(raw: list[bytes]) -> list[str]:
    """Lines as text. Screened together, so that a key of several lines is known as one; none is won or lost by it."""
    return text(b"\n".join(line.removesuffix(b"\r") for line in raw).decode("utf-8", "replace")).split("\n")


def whole(content: bytes) -> tuple[str, ...]:
    """A whole file: the line with number ``n`` at index ``n - 1``."""
    found = lines(content.split(b"\n"))
    return tuple(found[:-1] if content.endswith(b"\n") or not content else found)
