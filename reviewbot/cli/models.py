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
from reviewbot.debate.panel import choose_members
from reviewbot.errors import ModelError, ReviewbotError
from reviewbot.journal import Journal
from reviewbot.llm import providers
from reviewbot.llm.client import ModelClient
from reviewbot.llm.ledger import Ledger
from reviewbot.llm.prices import Budget, dollars, load_pace, save_paces
from reviewbot.llm.provider import ModelRequest
from reviewbot.text.plain import plain
from reviewbot.verdict.calibration import SCORES, Scores

WORD = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}


@click.group(cls=Group, invoke_without_command=True)
def command() -> None:
    """Show which models the panel asks, or test them. Without a command, they are listed."""


@command.command("list")
async def list_() -> None:
    """List the panel with prices, and the providers that are there or missing."""
    settings, variables, asked, notes = await _load()
    lines = ["Panel" if asked else "No language model is configured: only executed checks decide."]
    prices = providers.prices_of(settings.providers)
    scores = Journal((await open_state()).folder / "journal").get(SCORES, Scores) or Scores()
    connections = providers.connections_to((n for _, n in asked), settings.providers, variables)
    for role, name in asked:
        provider, _, model = name.partition(":")
        price = prices.find(provider, model, is_local=connections[provider].is_local)
        cost = "no known price, so it is not asked: set providers.NAME.prices"
        if price:
            cost = f"${price.input:g} in, ${price.output:g} out a million tokens"
            cost = cost if price.input or price.output else "free"
        known = f"; {scores[name].words}" if name in scores else ""
        lines.append(f"  {role:10} {name}  {cost}{known}")
    lines += [*(f"  {note}" for note in notes), "", "Providers"]
    wanted = {*providers.wanted_vendors(settings.providers, variables), *connections}
    for name in dict.fromkeys((*providers.all_vendors(), *settings.providers)):
        state = "can be asked" if name in wanted else "is asked where a panelist names it"
        reason = providers.why_not_asked(name, settings.providers, variables)
        lines.append(f"  {name:10} {reason or state}")
    deliver("\n".join(map(plain, lines)))


@command.command
async def test() -> int:
    """Ask each model of the panel, fallbacks too, for one word. Exit with 3 if one gives none.

    How fast local models are is recorded for the next review.
    """
    settings, variables, asked, notes = await _load()
    if not asked:
        raise ReviewbotError("no model can be asked", hint=" ".join(notes) or "reviewbot doctor")
    names = dict.fromkeys(name for _, name in asked)
    journal = (await open_state()).journal()
    prices = providers.prices_of(settings.providers)
    ends_at = time.monotonic() + settings.limits.seconds
    connections = providers.connections_to(names, settings.providers, variables)

    async def open_ledger() -> Ledger:
        return Ledger(Journal())

    client = ModelClient(connections, open_ledger, prices, Budget(0.10), ends_at=ends_at)

    async def ask(name: str) -> str:
        provider, _, model = name.partition(":")
        # No server has it in memory, so that reading it can be measured.
        text = f"{token_hex(8)}\n{Path(__file__).read_text()}"
        unread = text if connections[provider].is_local else ""
        request = ModelRequest(
            provider=provider,
            model=model,
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
        if reply.usage:
            save_paces(journal, [(request, reply.usage)])
        said = f"✓ {name} answered after {time.monotonic() - started:.1f} s, {dollars(cost)}"
        if pace := load_pace(journal, provider, model):
            said += f", reads {pace.read:.0f} and writes {pace.written:.0f} tokens a second"
        return said

    try:
        await client.open()
        answers = await run_all(*map(ask, names))
    finally:
        await client.close()
    deliver("\n".join(map(plain, answers)))
    return ReviewbotError.exit_code if any(line.startswith("✗") for line in answers) else 0


async def _load() -> tuple[Settings, Mapping[str, str], list[tuple[str, str]], list[str]]:
    """Settings, variables, roles with their models and fallbacks, and why others are not asked."""
    with open_repository() as repository:
        loaded, _ = await load_committed(repository)
        variables = await read_variables(repository)
    members, notes = choose_members(loaded.settings, variables, {})
    pairs = (((m.name, f"{m.provider}:{m.model}"), ("fallback", m.fallback)) for m in members)
    asked = [(role, name) for pair in pairs for role, name in pair if name]
    return loaded.settings, variables, asked, notes
