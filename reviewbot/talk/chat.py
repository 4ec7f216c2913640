"""A person talks with a model, which reads files, consults others and delegates to them."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from reviewbot.concurrency import run_all
from reviewbot.context.brief import Brief, names_of
from reviewbot.debate import prompts
from reviewbot.debate.panel import Panel, Panelist, Question
from reviewbot.debate.reader import read_document
from reviewbot.errors import ModelError, UsageError
from reviewbot.llm.tools import TOOLS, ToolBox
from reviewbot.llm.tools.files import Context
from reviewbot.reports import render
from reviewbot.services import Host, Services, open_services
from reviewbot.state import State
from reviewbot.text.plain import shortened
from reviewbot.text.secrets import shown

MAX_HISTORY, MAX_REVIEW = 60_000, 20_000  # characters of what was said that a model reads again
STEPS = 12  # uses of tools for one message
Name = Annotated[str, Meta(description="one of the colleagues")]


class Answer(Struct, frozen=True):
    answer: str


class Chat:
    """A conversation. Whoever is asked reads all of it; `lead` answers what names nobody."""

    def __init__(self, services: Services, brief: Brief) -> None:
        members, box = members_of(services.panel.panelists), services.panel.toolbox
        if not members:
            message = "no language model is configured, so there is nobody to talk to"
            raise UsageError(message, hint="reviewbot models list")
        self.members = {member.name: member for member in members}
        self.lead = members[0].name
        self.history: list[tuple[str, str]] = []
        self.client, self._brief = services.client, brief
        table = {
            **TOOLS,
            "consult": (self._consult, "Ask a colleague a question. They see nothing else."),
            "delegate": (self._delegate, "Give a colleague a task. They have your other tools."),
        }
        for_lead = ToolBox(box.context, table, STEPS) if box and len(members) > 1 else box
        boxes = {"chat": for_lead, "consult": None, "delegate": box}
        self._panels = {kind: Panel(members, self.client, boxes[kind]) for kind in boxes}
        self._asked = Counter[str]()

    def check(self, name: str) -> str:
        """The same name. Raises UsageError for one that nobody has."""
        if name not in self.members:
            raise UsageError(f"nobody is called {name}", hint=f"there is {', '.join(self.members)}")
        return name

    async def say(self, message: str, *names: str) -> dict[str, str]:
        """What those who are named answer to a message, at once, or else the lead; by name.

        Raises UsageError for an empty one or a name that nobody has, ModelError without an answer.
        """
        if not message.strip():
            raise UsageError("the message is empty", hint="say what you want to know")
        asked = [*map(self.check, names)] or [self.lead]
        self._asked["chat"] += 1
        message = shown(message)
        try:
            answers = await run_all(*(self._answer(name, message) for name in asked))
        finally:  # what a person asked belongs to it also if they interrupt the answer
            self.history.append(("A person", message))
        given = {name: text for name, text in zip(asked, answers, strict=True) if text}
        self.history += given.items()
        if not given:
            raise ModelError(self._panels["chat"].absences[-1].reason)
        return given

    async def _answer(self, name: str, message: str) -> str:
        said = "\n\n".join(f"{who}: {text}" for who, text in self.history)
        others = [member for member in self.members.values() if member.name != name]
        given = {"history": said[-MAX_HISTORY:], "is_cut": len(said) > MAX_HISTORY}
        text = prompts.render("chat", who=name, others=others, message=message, **given)
        return await self._ask("chat", name, text)

    async def _consult(
        self, _: Context, name: Name, question: Annotated[str, Meta(description="all of it")]
    ) -> str:
        return await self._hand_over("consult", name, question)

    async def _delegate(
        self, _: Context, name: Name, task: Annotated[str, Meta(description="what, and why")]
    ) -> str:
        return await self._hand_over("delegate", name, task)

    async def _hand_over(self, kind: str, name: str, message: str) -> str:
        if name not in self.members:
            return f"nobody is called {name}; there is {', '.join(self.members)}"
        self._asked[kind] += 1
        text = prompts.render("colleague", message=message, is_task=kind == "delegate")
        answer = await self._ask(kind, name, text)
        return answer or f"{name} gave no answer: {self._panels[kind].absences[-1].reason}"

    async def _ask(self, kind: str, name: str, text: str) -> str:
        phase, schema = f"{kind}_{self._asked[kind]}", msgspec.json.schema(Answer)
        question = Question(name, phase, text, self._brief, schema)
        answers = await self._panels[kind].ask([question], read_answer)
        return answers[0][1] if answers else ""


@asynccontextmanager
async def open_chat(host: Host) -> AsyncIterator[Chat]:
    """A conversation about uncommitted work, or else the last commit. Raises ReviewbotError."""
    assert host.repository
    assert host.state_folder
    change = replace(await host.repository.load_change(), target="chat", title="", description="")
    async with open_services(change, host, kind="chat") as services:
        names = names_of(await host.repository.list_files(change.head_tree))
        material = dict[str, str]()
        with suppress(UsageError):  # there is no review yet
            last = State(host.state_folder).newest()
            material[f"The last review, of {last.target}"] = shortened(render(last), MAX_REVIEW)
        brief = Brief(title="", description="", passages=(), material=material, names=names)
        chat = Chat(services, brief)
        try:
            yield chat
        finally:  # also if the person interrupts it
            said = [{"who": who, "text": text} for who, text in chat.history]
            await services.finish(msgspec.json.encode({"chat": said}).decode())


def members_of(panelists: Sequence[Panelist]) -> list[Panelist]:
    """Each model once, called after its provider, or after itself where that has several."""
    models = {(panelist.provider, panelist.model): panelist for panelist in panelists}
    count = Counter(provider for provider, _ in models)
    return [
        replace(panelist, name=provider if count[provider] == 1 else model)
        for (provider, model), panelist in models.items()
    ]


def read_answer(text: str) -> str:
    """An answer in plain text is one as well. Raises ValueError for an empty one."""
    answer = text
    with suppress(ValueError):
        answer = read_document(text, Answer).answer
    if not answer.strip():
        raise ValueError("the answer is empty")
    return answer.strip()
