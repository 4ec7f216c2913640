"""How many tokens a text takes, estimated: one rule for everyone who cuts, packs, books or sizes by it."""

from __future__ import annotations

BYTES_PER_TOKEN = 3.2
DENSE_FACTOR = 1.6
DENSE_BLANKS = 1 / 40
"""Code was measured at 4.75 bytes a token and dense text (base64, hex, minified: fewer blanks than this share) at 1.65 to 3.4
(o200k): both estimates lie on the safe side."""

DENSE_FROM = 80
"""Bytes: of less, the share of blanks says nothing."""


def is_dense(size: int, blanks: int) -> bool:
    """So many bytes with so few blanks are no handwriting."""
    return size > DENSE_FROM and blanks < size * DENSE_BLANKS


def estimate(size: int, blanks: int) -> int:
    """Tokens of ``size`` bytes of text with so many ``blanks``. Errs upwards; what a provider reports afterwards is the truth."""
    return int(size / BYTES_PER_TOKEN * (DENSE_FACTOR if is_dense(size, blanks) else 1.0)) + 1
