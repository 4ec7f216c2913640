"""A seating becomes a panel: which lines sit where, within which limits, at which price."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from reviewbot.adapters.panel.models import MOST_OUTPUT_TOKENS, Line
from reviewbot.config import Configuration
from reviewbot.debate.schema import ENVELOPE
from reviewbot.errors import ConfigError
from reviewbot.ports import Profile, ToolCall, ToolResult, ToolSpec
from reviewbot.testing import FakeClock, MemorySession, Watching
from reviewbot.wiring import seats
from reviewbot.wiring.offers import seated
from reviewbot.wiring.seats import Hall, Laid, Remembered, lay
from tests.panel.test_local import HOST, Notebook
from tests.till.paying import Ledger
from tests.wiring.configured import an_order, configured

KEYS = {"ANTHROPIC_API_KEY": "a-key", "OPENAI_API_KEY": "o-key"}


class Tools:
    """A box with one tool."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return (ToolSpec("read_file", "reads", {"type": "object"}),)

    def use(self, call: ToolCall) -> ToolResult:
        return ToolResult(call.id, "")


def hall(configuration: Configuration, environ: Mapping[str, str] = KEYS, notebook: Notebook | None = None) -> Hall:
    return Hall(configuration, environ, clock=FakeClock(), profiles=notebook or Notebook())


def laid(
    users: str = "",
    *,
    models: tuple[str, ...] = (),
    environ: Mapping[str, str] = KEYS,
    tools: Any = None,
    steps: int = 0,
    workshop: Any = None,
    notebook: Notebook | None = None,
    repository: str = "",
) -> Laid:
    configuration = configured(repository, users)
    seating = seated(an_order(environ, models=models), configuration)
    return lay(seating, hall(configuration, environ, notebook), tools=tools, steps=steps, seconds=120.0, workshop=workshop)


def first_line(users: str = "", **more: Any) -> Line:
    return laid(users, **more).sittings[0].lines[0]


def test_seats_are_named_by_role_model_and_family() -> None:
    table = laid()
    assert [(seat.name, seat.role, seat.model, seat.family) for seat in table.seats] == [
        ("critic", "critic", "anthropic:claude-sonnet-5-5", "anthropic"),
        ("reviewer", "reviewer", "openai:gpt-5.6-terra", "openai"),
        ("optimizer", "optimizer", "anthropic:claude-sonnet-5-5", "anthropic"),
    ]
    assert table.moderator is not None
    assert table.moderator.seat.model == "openai:gpt-5.6-terra"


def test_a_reseller_is_no_family() -> None:
    table = laid(models=("openrouter:anthropic/claude-x",), environ={"OPENROUTER_API_KEY": "r-key"})
    assert {seat.family for seat in table.seats} == {"anthropic"}


def test_a_line_is_named_like_the_seat_so_that_no_answer_looks_like_a_fallbacks() -> None:
    for sitting in laid().sittings:
        assert sitting.lines[0].name == sitting.seat.model


def test_one_provider_has_one_counter_in_a_run() -> None:
    one, two, three = (sitting.lines[0].counter for sitting in laid().sittings)
    assert one is three
    assert one is not two
    assert (one.breaker, one.gate) != (two.breaker, two.gate)


def test_a_fallback_stands_behind_its_model() -> None:
    users = "panel: {critic: {model: 'anthropic:claude-x', fallback: 'openai:gpt-5'}}"
    (critic,) = laid(users).sittings
    assert [line.name for line in critic.lines] == ["anthropic:claude-x", "openai:gpt-5"]


def test_an_empty_chair_has_a_reason_and_no_line() -> None:
    users = "panel: {critic: {model: 'openai:gpt-5'}, reviewer: {model: 'gemini:flash'}}"
    reviewer = laid(users).sittings[1]
    assert (reviewer.lines, reviewer.vacant) == ((), "GEMINI_API_KEY is not set")
    assert not reviewer.seat.local


def test_no_provider_is_opened_before_it_is_asked() -> None:
    """Importing vendors' libraries takes a second; ``begin`` does it in the background."""
    users = "providers: {openai: {base_url: 'http://10.255.0.1/v1'}}"
    counter = first_line(users, models=("openai:gpt-5",)).counter

    async def ask() -> None:
        await counter.opened.provider()

    with pytest.raises(ConfigError, match="in clear text"):
        asyncio.run(ask())


def test_tools_go_to_those_who_can_use_them() -> None:
    box = Tools()
    line = first_line(tools=box, steps=4)
    assert (line.tools, line.steps) == (box, 4)
    for without in (
        first_line(tools=None, steps=4),
        first_line(tools=box, steps=0),
        first_line(tools=box, steps=4, models=("ollama:coder",)),
    ):
        assert (without.tools, without.steps) == (None, 0)


def test_code_is_written_by_those_who_may_look_things_up() -> None:
    box, shop = Tools(), object()
    assert first_line(tools=box, steps=4, workshop=shop).workshop is shop
    for line in (
        first_line(tools=None, steps=4, workshop=shop),
        first_line(tools=box, steps=0, workshop=shop),
        first_line(tools=box, steps=4, workshop=shop, models=("ollama:coder",)),
        first_line(tools=box, steps=4),
    ):
        assert line.workshop is None


def test_the_envelope_goes_to_those_whose_caches_compare_schemas() -> None:
    assert first_line(models=("anthropic:claude-x",)).envelope is ENVELOPE
    assert first_line(models=("ollama:coder",)).envelope is None


def test_only_vendors_whose_caches_are_worth_it_are_warmed() -> None:
    assert first_line(models=("anthropic:claude-x",)).counter.warmth is not None
    assert first_line(models=("ollama:coder",)).counter.warmth is None


def test_windows_and_answers_are_as_configured() -> None:
    users = """
panel: {critic: {model: 'openai:gpt-5', context_window: 32000}, reviewer: {model: 'openai:gpt-5', context_window: 2000}}
providers: {openai: {max_output_tokens: 3000}}
"""
    critic, reviewer = laid(users).sittings
    assert (critic.lines[0].context_window, critic.lines[0].max_output_tokens) == (32_000, 3_000)
    assert critic.seat.room == int(32_000 * 0.56) - MOST_OUTPUT_TOKENS // 2
    assert reviewer.seat.room == 500
    assert first_line().max_output_tokens == MOST_OUTPUT_TOKENS
    assert laid().seats[0].room is None


LIMITS = "providers: {openai: {concurrency: 3, rpm: 60, tpm: 9000}}"


def test_limits_are_as_configured() -> None:
    configuration = configured(users=LIMITS)
    limits = hall(configuration)._limits("openai", vendor("openai"))
    assert (limits.concurrency, limits.rpm, limits.tpm) == (3, 60, 9_000)
    assert hall(configured())._limits("openai", vendor("openai")).concurrency == vendor("openai").concurrency


def test_a_repository_cannot_open_more_connections_than_its_vendor_takes() -> None:
    text = "providers: {openai: {concurrency: 900}}"
    ours = hall(configured(text))._limits("openai", vendor("openai"))
    assert ours.concurrency == vendor("openai").concurrency
    operators = hall(configured(users=text))._limits("openai", vendor("openai"))
    assert operators.concurrency == 900


def vendor(name: str) -> Any:
    from reviewbot.wiring.offers import vendor_of

    return vendor_of(name, configured())


# Prices


def test_published_prices_are_charged_and_the_users_own_come_first() -> None:
    line = first_line(models=("openai:gpt-5.6-terra",))
    assert line.counter.price(line.model).output > 0
    assert not line.counter.price(line.model).estimated
    users = "prices: [{model: 'openai:gpt-5.6-terra', input: 7, output: 9}]"
    assert first_line(users, models=("openai:gpt-5.6-terra",)).counter.price("gpt-5.6-terra").output == 9.0


def test_what_is_served_here_is_free_unless_it_is_rented_by_the_hour() -> None:
    near = "providers: {lab: {base_url: 'http://127.0.0.1:8000/v1'}}"
    line = first_line(near, models=("lab:coder",))
    assert line.counter.local
    assert (line.counter.price("coder").output, line.counter.meter) == (0.0, None)
    far = "providers: {lab: {base_url: 'https://lab.example/v1', usd_per_hour: 3.6}}"
    rented = first_line(far, models=("lab:coder",))
    assert not rented.counter.local
    assert rented.counter.price("coder").output == 0.0
    assert rented.counter.meter is not None
    assert rented.counter.meter.worst_case(10.0) == pytest.approx(0.01)


def test_an_unknown_model_far_away_is_charged_as_the_dearest() -> None:
    far = "providers: {lab: {base_url: 'https://lab.example/v1'}}"
    price = first_line(far, models=("lab:coder",)).counter.price("coder")
    assert price.estimated
    assert price.output > 0


# Local models


def known(predictions: tuple[tuple[float, float], ...] = ()) -> Profile:
    return Profile(HOST, "coder", 200.0, 20.0, 5.0, 9, predictions)


def test_local_seats_come_with_their_pace_and_how_predictions_fared() -> None:
    notebook = Notebook(known(tuple((10.0 + number, 20.04) for number in range(5))))
    table = laid(models=("critic=openai:gpt-5", "reviewer=ollama:coder", "optimizer=openai:gpt-5"), notebook=notebook)
    assert [seat.local for seat in table.seats] == [False, True, False]
    (pace,) = table.paces
    assert (pace.seat, pace.model, pace.prompt_tokens_per_second, pace.load_seconds) == ("reviewer", "coder", 200.0, 5.0)
    assert table.errors == (("reviewer", 12.0, 20.0), ("reviewer", 13.0, 20.0), ("reviewer", 14.0, 20.0))


def test_a_server_is_one_host_for_all_its_models_and_takes_one_ask_at_a_time() -> None:
    table = laid(models=("ollama:coder", "reviewer=ollama:other"))
    hosts = {id(sitting.lines[0].host) for sitting in table.sittings}
    assert len(hosts) == 1
    host = table.sittings[0].lines[0].host
    assert host is not None
    assert (host.name, host.turn._value) == (HOST, 1)
    wide = first_line("providers: {ollama: {concurrency: 3}}", models=("ollama:coder",)).host
    assert wide is not None
    assert wide.turn._value == 3


def test_a_server_of_ones_own_that_counts_no_time_has_no_pace() -> None:
    near = "providers: {lab: {base_url: 'http://127.0.0.1:8000/v1'}}"
    table = laid(near, models=("lab:coder",))
    assert table.paces == ()
    assert not any(seat.local for seat in table.seats)


# The panel


def test_a_panel_is_a_table_with_caps_as_configured() -> None:
    table = laid()
    configuration = configured(limits__cost_usd=0.25, debate__effort="high")
    remembered = Remembered(Ledger(), MemorySession(), Notebook())
    panel = seats.panel(table, remembered, configuration, offline=True, watcher=Watching())
    assert panel.table.seats == table.seats
    assert panel.table.moderator is not None
    desk = panel._desk
    assert desk.effort == "high"
    assert desk.watcher is None
    assert desk.till.budget.spent_usd == 0.0
    asyncio.run(panel.close())


def test_every_template_of_the_folder_is_found() -> None:
    assert (seats.templates_folder() / "policy.j2").is_file()
    assert seats.scribe(seats.templates_folder()) is not None
