from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_urlsafe
from socket import AF_INET, AF_INET6, create_server

import click
from msgspec.structs import replace

from reviewbot.cli.host import make_host, open_repository, read_layers, read_variables
from reviewbot.cli.terminal import Command, env_file_option, say, state_option
from reviewbot.config.load import load_settings
from reviewbot.errors import ReviewbotError, UsageError, install_hint
from reviewbot.events import Emit
from reviewbot.git.repository import Repository
from reviewbot.services import Host
from reviewbot.state import find_state

TOKEN = "REVIEWBOT_TOKEN"
MIN_TOKEN = 16  # characters


@click.command(cls=Command)
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65535), default=8712, metavar="N", show_default=True)
@click.option("--no-exec", is_flag=True, help="Run nothing of any change.")
@env_file_option
@state_option
async def command(
    host: str, port: int, no_exec: bool, env_file: Path | None, state: Path | None
) -> None:
    """Serve the REST API for this repository, until it is interrupted.

    Clients need the token in REVIEWBOT_TOKEN; without one, a new one is printed.
    """
    try:
        from reviewbot.server.app import Api, Jobs, make_server
    except ImportError as error:
        message = f"the server needs a package that is not installed: {error.name}"
        raise UsageError(message, hint=install_hint("server")) from error

    with open_repository() as repository:
        root = await repository.root()
        variables = await read_variables(repository, env_file)
        kept = await find_state(repository, variables, state)
        # A database may be that of a team: then only sessions of this project are shown.
        ledger = load_settings(read_layers(variables)).settings.store.url
        project = await repository.name() if ledger else ""
    token = variables.get(TOKEN) or token_urlsafe(32)
    if len(token) < MIN_TOKEN:
        raise UsageError(f"{TOKEN} has less than {MIN_TOKEN} characters", hint="unset it")

    @contextmanager
    def open_host(emit: Emit) -> Iterator[Host]:
        with Repository(root, variables=variables) as repository:
            made = make_host(repository, kept, variables)
            yield replace(made, may_execute=not no_exec, emit=emit)

    try:
        listener = create_server((host, port), family=AF_INET6 if ":" in host else AF_INET)
    except OSError as error:
        message = f"{host} cannot be listened at, port {port}: {error.strerror}"
        raise ReviewbotError(message, hint="name another one: --port, --host") from error
    name = f"[{host}]" if ":" in host else host
    say(f"reviewbot: serving {root} at http://{name}:{listener.getsockname()[1]}")
    if not variables.get(TOKEN):
        click.echo(f"reviewbot: the token is {token}", err=True)  # say() may take it for a secret
    jobs = Jobs(open_host, kept)
    await make_server(Api(jobs, kept, ledger, project, token), jobs).serve([listener])
