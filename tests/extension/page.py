"""``docs/extending.md`` shows the files of the example as they are. ``python -m tests.extension.page`` writes them into the page."""

from __future__ import annotations

import re

from tests.docs.pages import TOP
from tests.extension.stock import PACKAGE

PAGE = TOP / "docs" / "extending.md"
_BLOCK = re.compile(r"^```(?P<language>python|toml)\n# file: (?P<file>\S+)\n.*?^```$", re.MULTILINE | re.DOTALL)


def shown(text: str) -> tuple[str, ...]:
    """The files that a page shows."""
    return tuple(match["file"] for match in _BLOCK.finditer(text))


def with_files(text: str) -> str:
    """The page with every file as it is."""
    return _BLOCK.sub(_block, text)


def _block(match: re.Match[str]) -> str:
    content = (PACKAGE / match["file"]).read_text(encoding="utf-8")
    return f"```{match['language']}\n# file: {match['file']}\n{content}```"


if __name__ == "__main__":
    PAGE.write_text(with_files(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
