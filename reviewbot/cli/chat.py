import asyncio
import signal
import sys
from collections.abc import Coroutine
from contextlib import suppress
from types import FrameType
from typing import Any

import click
from msgspec.structs import replace

from reviewbot.cli.host import open_host
from reviewbot.cli.terminal import Command, is_given, panel_options, say, wait_for
from reviewbot.config.load import flag_layer
from reviewbot.errors import ModelError, UsageError
from reviewbot.events import Event
from reviewbot.reports.words import usage_words
from reviewbot.talk.chat import Chat, open_chat, read_answer
from reviewbot.text.secrets import safe_lines

HELP = """\
Whatever does not begin with / goes to the lead, who may consult the others or delegate to them.
/ask NAME TEXT   ask somebody else, who reads the conversation too
/all TEXT        ask everybody, each without seeing what the others answer
/lead NAME       make somebody else the lead
/models          show who is there
/cost            show what it has cost
/quit            end it (or Ctrl-D); Ctrl-C ends an answer"""


@click.command(cls=Command)
@click.option("--lead", metavar="NAME", help="Who answers; /models shows the names.")
@panel_options
async def command(lead: str | None, **_: object) -> int:
    """Talk with the models of the panel about this repository.

    They read files, search, and consult each other; nothing is changed. Everything that one model
    asks another is shown. Lines are read from standard input, /help explains the rest.
    """
    async with open_host(_show) as (host, _repository, _state):
        day = flag_layer({"limits.seconds": 24 * 3600})  # unless --timeout says less
        async with open_chat(replace(host, layers=(day, *host.layers))) as chat:
            if lead:
                chat.lead = chat.check(lead)
            is_terminal, code = sys.stdin.isatty(), 0
            if is_terminal:
                with suppress(ImportError):
                    import readline  # noqa: F401  # input() then has a history
                _print(f"{_models(chat)} /help shows what you can do.")
            with suppress(EOFError):
                while True:
                    line = wait_for(lambda: input("> " if is_terminal else "")).strip()
                    if line == "/quit":
                        break
                    try:
                        if not is_terminal:
                            await _obey(line, chat)
                        elif await _was_interrupted(_obey(line, chat)):
                            say("reviewbot: interrupted; Ctrl-D ends the conversation")
                    except (UsageError, ModelError) as error:
                        say(f"reviewbot: {error.with_hint}")
                        code = error.exit_code
            say(f"reviewbot: {usage_words(chat.client.totals)}")
            return 0 if is_terminal or dict(chat.history).keys() & chat.members else code


async def _was_interrupted(work: Coroutine[Any, Any, None]) -> bool:
    """Do something that Ctrl-C ends without ending the command. Whether it did."""
    loop, task = asyncio.get_running_loop(), asyncio.ensure_future(work)
    before = signal.getsignal(signal.SIGINT)

    def stop(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT:
            loop.call_soon_threadsafe(task.cancel)
        elif callable(before):  # SIGTERM does what Ctrl-C otherwise does
            before(number, frame)

    signal.signal(signal.SIGINT, stop)
    try:
        await task
    except asyncio.CancelledError:
        current = asyncio.current_task()
        if current and current.cancelling():
            raise
        return True
    finally:
        signal.signal(signal.SIGINT, before)
    return False


async def _obey(line: str, chat: Chat) -> None:
    verb, _, rest = line.partition(" ")
    name, _, text = rest.strip().partition(" ")
    answers: dict[str, str] = {}
    if line and not line.startswith("/"):
        answers = await chat.say(line)
    elif verb == "/ask" and text:
        answers = await chat.say(text, name)
    elif verb == "/all" and rest.strip():
        answers = await chat.say(rest.strip(), *chat.members)
    elif verb == "/cost":
        _print(usage_words(chat.client.totals))
    elif verb in ("/lead", "/models"):
        if verb == "/lead" and name:
            chat.lead = chat.check(name)
        _print(_models(chat))
    elif line:
        _print(HELP)
    for who, answer in answers.items():
        _print(answer if who == chat.lead and len(answers) == 1 else f"{who}: {answer}")


def _print(text: str) -> None:
    click.echo("\n".join(safe_lines(text)))


def _show(event: Event) -> None:
    """What models say to each other and which tools they call, each model in its own colour."""
    if event.what != "call" or event.seconds is None or not event.text:
        return
    who, _, phase = event.name.partition("/")
    calls = [line for line in event.text.split("\n") if line.startswith("calls ")]
    if phase.startswith("chat") and not calls and not is_given("verbose"):
        return  # it is printed as the answer
    for line in calls or safe_lines(read_answer(event.text)):
        say(f"  {who} {line}" if calls else f"  {who}: {line}", by=event.who)


def _models(chat: Chat) -> str:
    rows = (f"{m.name} ({m.provider}:{m.model})" for m in chat.members.values())
    return f"{', '.join(rows)}. {chat.lead} leads."
