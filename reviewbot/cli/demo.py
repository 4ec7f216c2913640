import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import click

import reviewbot.demo
from reviewbot.cli.host import show_progress
from reviewbot.cli.review import format_option
from reviewbot.cli.terminal import FOLDER, Command, deliver, output_option, say, style_for
from reviewbot.debate.panel import LENSES
from reviewbot.demo.project import create_project
from reviewbot.errors import UsageError
from reviewbot.git.repository import Repository
from reviewbot.llm.providers.replay import Replay
from reviewbot.pipeline import review
from reviewbot.reports import find_format, render
from reviewbot.services import Host
from reviewbot.state import find_state

RECORDING = Path(reviewbot.demo.__path__[0]) / "recording.json"


@click.command(cls=Command)
@format_option
@click.option("--keep", type=FOLDER, metavar="DIR", help="Create the project in DIR and keep it.")
@output_option("--record", hidden=True)
async def command(format: str, keep: Path | None, record: Path | None) -> None:
    """Review a small project with planted defects.

    git, linters, tests and reproductions run here. The answers of the language models are a
    recording, so no key is needed.
    """
    find_format(format)
    replay = Replay.from_file(record or RECORDING, record=record is not None)
    who = replay.recording.answered_by or "a language model"
    when = f" on {replay.recording.answered_on}" if replay.recording.answered_on else ""
    with TemporaryDirectory(prefix="reviewbot-demo-") as temporary:
        folder = keep or Path(temporary)
        if folder.exists() and any(folder.iterdir()):
            raise UsageError(f"{folder} is not empty", hint="name a folder that is not there yet")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"{folder} cannot be made: {error.strerror}"
            raise UsageError(message, hint="name another folder with --keep") from error
        say("Reviewing a change of a small shop: git, linters, tests and reproductions run now.")
        say(f"What the panelists answer is a recording: {who} answered{when}.")
        say("")
        await create_project(folder.resolve())
        async with show_progress() as emit:
            with Repository(folder.resolve()) as repository:
                state = await find_state(repository, os.environ)
                host = Host(
                    repository=repository,
                    journal=state.journal(),
                    providers={"replay": replay},
                    panelists=dict.fromkeys(LENSES, f"replay:{replay.model}"),
                    variables=dict(os.environ, VIRTUAL_ENV=sys.prefix, PATH=f"{sys.prefix}/bin"),
                    emit=emit,
                )
                result = await review("HEAD", host)
        state.save(result)
    deliver(render(result, format, style_for()))
    if replay.outdated:
        say("The recording is older than the prompts: other questions were answered.")
    if keep:
        say(f"The project is in {keep}: reviewbot -C {keep} explain F1")
