"""The corpus of small bugs as values: see tests/corpus/README.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from reviewbot.domain.debate import Check, CheckKind

FOLDER = Path(__file__).parents[1] / "corpus"
LANGUAGES = ("python", "go", "javascript", "bash", "sql")


@dataclass(frozen=True)
class Bug:
    """One case: both trees, the document, and where the claim stands at head."""

    name: str
    base: Mapping[str, str]
    head: Mapping[str, str]
    document: Mapping[str, Any]

    @property
    def path(self) -> str:
        return str(self.document["claim"]["path"])

    @property
    def lines(self) -> tuple[int, int]:
        """First and last line of the claim's quote at head."""
        quote = str(self.document["claim"]["quote"]).strip("\n")
        text = self.head[self.path]
        place = text.index(quote)
        first = text.count("\n", 0, place) + 1
        return first, first + quote.count("\n")

    def check(self, which: str) -> Check:
        """The ``right`` or the ``wrong`` check."""
        return check(self.document[which])


def check(written: Mapping[str, Any]) -> Check:
    return Check(
        tuple(written.get("command", ())),
        source=str(written.get("source", "")),
        subject=str(written.get("subject", "")),
        kind=CheckKind(written["kind"]),
        author="tester",
    )


def bugs(*folders: str) -> list[Bug]:
    """The cases of these folders in the order of their names."""
    return [_bug(path) for folder in folders for path in sorted((FOLDER / folder).glob("*.yml"))]


def _bug(path: Path) -> Bug:
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    base = document["base"]
    changed = {**base, **document["head"]}
    head = {name: text for name, text in changed.items() if text is not None}
    return Bug(f"{path.parent.name}/{path.stem}", base, head, document)
