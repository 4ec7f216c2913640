"""Writes the files anew."""

from __future__ import annotations

from tests.debate.prompts import HERE, written

for name, text in written().items():
    (HERE / name).write_text(text, encoding="utf-8")
