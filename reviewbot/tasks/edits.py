"""What models answer when they change code: replacements of text that they were shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec
from msgspec import Struct

from reviewbot.context import passages
from reviewbot.context.brief import Brief
from reviewbot.debate.panel import Panel, Question
from reviewbot.debate.reader import read_document

Answer = TypeVar("Answer", bound=Struct)


class Edit(Struct, frozen=True, kw_only=True):
    path: str
    find: str
    replace: str


class Draft(Struct, frozen=True, kw_only=True):
    edits: list[Edit]
    explanation: str = ""


class Objection(Struct, frozen=True, kw_only=True):
    path: str
    line: int
    reason: str


class Objections(Struct, frozen=True, kw_only=True):
    objections: list[Objection]


async def ask(
    panel: Panel, names: Sequence[str], phase: str, text: str, brief: Brief, type_: type[Answer]
) -> list[tuple[str, Answer]]:
    """Ask panelists for a document; usable answers with their names."""
    schema = msgspec.json.schema(type_)
    questions = [Question(name, phase, text, brief, schema) for name in names]
    answers = await panel.ask(questions, lambda answer: read_document(answer, type_))
    return [(question.panelist, answer) for question, answer in answers]


def shown(content: bytes) -> str:
    """A file as models see it."""
    return passages.shown(content.decode("utf-8", "replace"))


def apply_edits(draft: Draft, files: Mapping[str, bytes]) -> dict[str, bytes | None]:
    """New content of the files. Raises ValueError with what is wrong, for the model to read."""
    changed: dict[str, bytes | None] = {}
    for edit in draft.edits:
        if not edit.find:
            if files.get(edit.path) or changed.get(edit.path):
                raise ValueError(f"{edit.path} exists: say what to find in it")
            changed[edit.path] = edit.replace.encode("utf-8", "surrogatepass")
            continue
        content = changed.get(edit.path) or files.get(edit.path)
        if content is None:
            raise ValueError(f"{edit.path} is none of the files that are shown")
        ends = "\r\n" if b"\r\n" in content else "\n"
        find, replacement = (
            text.replace("\r\n", "\n").replace("\n", ends).encode("utf-8", "surrogatepass")
            for text in (edit.find, edit.replace)
        )
        if (count := content.count(find)) != 1:
            times = "does not occur" if count == 0 else f"occurs {count} times"
            raise ValueError(f"what is to be found in {edit.path} {times}: {edit.find[:200]!r}")
        changed[edit.path] = content.replace(find, replacement)
    return changed
