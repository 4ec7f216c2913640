import click
import msgspec

from reviewbot.cli.fix import Options, run_fix
from reviewbot.cli.terminal import CONTENT, Command, panel_options
from reviewbot.errors import UsageError


@click.command(cls=Command)
@click.argument("specification", **CONTENT)
@click.option("--yes", is_flag=True, help="Write what is built, without asking.")
@click.option("--commit", is_flag=True, help="Commit each step.")
@panel_options
async def command(specification: bytes, **given: object) -> int:
    """Build what FILE describes, in steps; - reads standard input.

    Each step begins with a test that fails, by another panelist than its code where there are
    several. Nothing is written unless you say so.
    """
    wanted = specification.decode("utf-8", "replace")
    if not wanted.strip():
        raise UsageError("the description is empty", hint="say what is to be built, and for whom")
    return await run_fix(msgspec.convert(given, Options), specification=wanted)
