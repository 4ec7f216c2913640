"""What ``--dry-run`` says."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reviewbot.cli.forecast import told
from reviewbot.config.models import ModelSpec
from reviewbot.config.seats import Seating, SeatPlan
from reviewbot.ports import Portion

CRITIC = SeatPlan("critic", "critic", "", ModelSpec("openai", "x"), fallback=ModelSpec("gemini", "y"))
EMPTY = SeatPlan("reviewer", "reviewer", "", ModelSpec("anthropic", "z"), vacant="ANTHROPIC_API_KEY is not set")
JUDGE = SeatPlan("moderator", "moderator", "", ModelSpec("gemini", "y"))


@dataclass(frozen=True, slots=True)
class Forecast:
    seating: Seating
    portions: tuple[Portion, ...] = ()
    calls: int = 0
    worst_usd: float = 0.0
    cap_usd: float = 0.5
    notes: tuple[str, ...] = ()


FULL = Forecast(
    Seating((CRITIC, EMPTY), JUDGE, "panel as configured: critic openai:x", ("reviewer stays empty",)),
    (Portion("P1", ("a.py", "b.py", "c.py", "d.py", "e.py"), 12_345), Portion("P2", ("f.py",), 6)),
    calls=41,
    worst_usd=1.239,
    notes=("f.py is large",),
)


def test_seats_portions_and_the_worst_price_are_told():
    said = told(FULL)
    for words in (
        "panel as configured",
        "note: reviewer stays empty",
        "note: f.py is large",
        "critic     critic     openai:x     gemini:y",
        "empty: ANTHROPIC_API_KEY is not set",
        "moderator  moderator  gemini:y",
        "P1       12,345  a.py, b.py, c.py and 2 more",
        "P2       6       f.py",
        "at most 41 calls and $1.24, second attempts and look-ups apart (the cap is $0.50)",
    ):
        assert words in said


def test_the_static_panel_asks_nobody():
    said = told(replace(FULL, seating=Seating((), None, "static panel: no key of a model provider is here")))
    assert said.startswith("Nothing would be asked")
    assert "no key" in said
    assert "$1.24" not in said


def test_a_change_without_a_portion_is_told():
    assert "nothing to read" in told(replace(FULL, portions=()))
