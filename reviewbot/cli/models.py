import time
from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex

import click

from reviewbot.cli.config import load_committed
from reviewbot.cli.host import open_repository, open_state, read_variables
from reviewbot.cli.terminal import Group, deliver
from reviewbot.concurrency import run_all
from reviewbot.config.settings import Settings
from reviewbot.debate.panel import Panelist, choose_members
from reviewbot.errors import ModelError, ReviewbotError
from reviewbot.journal import Journal
from reviewbot.llm.client import ModelClient
from reviewbot.llm.ledger import Ledger
from reviewbot.llm.prices import Budget, Price, dollars, load_pace, save_paces
from reviewbot.llm.provider import ModelRequest
from reviewbot.llm.providers import (
    all_vendors,
    connections_to,
    prices_of,
    wanted_vendors,
    why_not_asked,
)
from reviewbot.text.plain import plain
from reviewbot.verdict.calibration import SCORES, Score, Scores

WORD = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}


@click.group(cls=Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Show which models the panel asks, or test them. Without a command, they are listed."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_)


@command.command("list")
async def list_() -> None:
    """List the panel with prices, and the providers that are there or missing."""
    settings, variables, asked, notes = await _load()
    lines = ["Panel" if asked else "No language model is configured: only executed checks decide."]
    prices = prices_of(settings.providers)
    scores = Journal((await open_state()).folder / "journal").get(SCORES, Scores) or Scores()
    connections = connections_to([m.provider for m in asked], settings.providers, variables, 0)
    for member in asked:
        is_local = connections[member.provider].is_local
        price = prices.find(member.provider, member.model, is_local=is_local)
        model = f"{member.provider}:{member.model}"
        known = scores.get(model, Score())
        right = f"; right in {known.right} of {known.settled} settled judgements"
        lines.append(f"  {member.name:10} {model}  {_price(price)}{right if known.settled else ''}")
    lines += [*(f"  {note}" for note in notes), "", "Providers"]
    wanted = {*wanted_vendors(settings.providers, variables)} | {m.provider for m in asked}
    for name in dict.fromkeys((*all_vendors(), *settings.providers)):
        state = "can be asked" if name in wanted else "is asked where a panelist names it"
        lines.append(f"  {name:10} {why_not_asked(name, settings.providers, variables) or state}")
    deliver("\n".join(map(plain, lines)))


@command.command
async def test() -> int:
    """Ask each model of the panel for one word. Exit with 3 if one does not answer.

    How fast local models are is recorded for the next review.
    """
    settings, variables, asked, notes = await _load()
    if not asked:
        raise ReviewbotError("no model can be asked", hint=" ".join(notes) or "reviewbot doctor")
    members = {(member.provider, member.model): member for member in asked}.values()
    journal = (await open_state()).journal()
    prices, limit = prices_of(settings.providers), settings.limits.seconds
    connections = connections_to([m.provider for m in asked], settings.providers, variables, limit)

    async def open_ledger() -> Ledger:
        return Ledger(Journal())

    client = ModelClient(
        connections, open_ledger, prices, Budget(0.10), ends_at=time.monotonic() + limit
    )

    async def ask(member: Panelist) -> str:
        name = f"{member.provider}:{member.model}"
        # No server has it in memory, so that reading it can be measured.
        text = f"{token_hex(8)}\n{Path(__file__).read_text()}"
        unread = text if connections[member.provider].is_local else ""
        request = ModelRequest(
            provider=member.provider,
            model=member.model,
            prefix=f"{unread}This is a test of the connection.",
            question='Answer with {"word": "ready"}.',
            schema=WORD,
            label="test",
            max_output_tokens=1_000,
        )
        started = time.monotonic()
        try:
            reply = await client.call(request)
        except ModelError as error:
            return f"✗ {name}: {error.with_hint}"
        cost = client.price(request).charge(request, reply.usage, reply.text)
        seconds = time.monotonic() - started
        if reply.usage:
            save_paces(journal, [(request, reply.usage)])
        said = f"✓ {name} answered after {seconds:.1f} s, {dollars(cost)}"
        if pace := load_pace(journal, member.provider, member.model):
            said += f", reads {pace.read:.0f} and writes {pace.written:.0f} tokens a second"
        return said

    try:
        await client.open()
        answers = await run_all(*map(ask, members))
    finally:
        await client.close()
    deliver("\n".join(map(plain, answers)))
    return ReviewbotError.exit_code if any(line.startswith("✗") for line in answers) else 0


async def _load() -> tuple[Settings, Mapping[str, str], list[Panelist], list[str]]:
    """Settings, variables, who would be asked, and why others are not."""
    with open_repository() as repository:
        loaded, _ = await load_committed(repository)
        variables = await read_variables(repository)
    members, notes = choose_members(loaded.settings, variables, {})
    return loaded.settings, variables, members, notes


def _price(price: Price | None) -> str:
    if price is None:
        return "no known price, so it is not asked: set providers.NAME.prices"
    is_free = not price.input and not price.output
    return "free" if is_free else f"${price.input:g} in, ${price.output:g} out a million tokens"
