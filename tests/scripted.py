"""A panel whose answers a test writes."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from conftest import Project
from lean import lean_environment

from reviewbot.config.load import flag_layer
from reviewbot.git.change import Change
from reviewbot.git.repository import Repository
from reviewbot.journal import Journal
from reviewbot.llm.provider import ModelReply, ModelRequest, Usage
from reviewbot.services import Host

# Of tasks; the others are those of a review.
PHASES = ("fix_", "judge_", "optimise_", "benchmark", "reproduce", "plan", "accept_")
Answer = Callable[[str, str], Any]


class Scripted:
    """A provider that answers by the phase of the question; it keeps the prompts."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.prompts: list[tuple[str, str]] = []

    async def complete(
        self,
        request: ModelRequest,
        on_text: Callable[[str], None] | None = None,  # noqa: ARG002
    ) -> ModelReply:
        self.prompts.append((request.label, request.question))
        phase = request.label.partition("/")[2]
        reply: Any = {"claims": [], "judgements": [], "intentions": [], "tests": []}
        if phase.startswith(PHASES):
            reply = self.answer(request.label, request.question)
        elif phase == "first_pass":
            reply |= self.answer(request.label, request.question)
        text = reply if isinstance(reply, str) else json.dumps(reply)
        return ModelReply(text=text, usage=Usage())

    async def close(self) -> None:
        pass


def by_edit(path: str, find: str, replace: str) -> Answer:
    return by_edits((path, find, replace))


def by_edits(*edits: tuple[str, str, str]) -> Answer:
    """A proposer that makes one edit after another, the last one again and again; nobody objects,
    and nobody simplifies.
    """
    left = list(edits)

    def answer(label: str, _: str) -> Any:
        if "/fix_" in label:
            edit = zip(("path", "find", "replace"), left[0], strict=True)
            left[: len(left) > 1] = []
            return {"edits": [dict(edit)], "explanation": "It was off by one."}
        return {"objections": []} if "/judge_" in label else {"edits": [], "explanation": ""}

    return answer


def work(
    project: Project,
    answer: Answer | None,
    what: Callable[[Change, Host], Any],
    more: tuple[str, ...] = (),
    **variables: str,
) -> tuple[Any, Scripted]:
    """What becomes of the head, with a panel that answers if there is an answer, and more roles."""
    scripted = Scripted(answer or (lambda *_: {}))
    roles = ("critic", "reviewer", "optimizer", *more) if answer else ()
    with Repository(project.folder) as repository:
        host = Host(
            repository=repository,
            journal=Journal(),
            providers={"replay": scripted},
            panelists={role: f"replay:{role}" for role in roles},
            layers=(flag_layer({"review.effort": "low"}),),
            variables={"VIRTUAL_ENV": lean_environment(), **variables},
        )
        change = asyncio.run(repository.load_change("HEAD"))
        return asyncio.run(what(change, host)), scripted
