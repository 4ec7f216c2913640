"""A debate for a picture: three seats of three models about the shop of ``reviewbot demo``. The models are the fake servers of
``tests/fakes``, and what they say is written here. Everything else is real: checks, protocol, votes, verdict."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reviewbot.cli.specimen import AFTER
from tests.fakes import Answer, Models, Seen, claim, reviewer
from tests.fakes.scripts import Script

SEATS = {"critic": "model-a", "reviewer": "model-b", "optimizer": "model-c"}
KEYS = {"STAND_IN_API_KEY": "none"}
PRICES, BASKET, PROMOTION = "shop/prices.py", "shop/basket.py", "shop/promotion.py"


def _raised(path: str, text: str, **said: Any) -> dict[str, Any]:
    """A claim about the line of the shop that holds the text."""
    lines = AFTER[path].splitlines()
    number = next(at for at, line in enumerate(lines, 1) if text in line)
    return claim(path, number, lines[number - 1], **said)


CHECK = {
    "kind": "test", "command": ["pytest"], "subject": "",
    "source": "from shop.prices import total\n\n\ndef test_a_discount_is_no_surcharge():\n    assert total([1000], discount=10) < 1000\n",
}  # fmt: skip
DISCOUNT = _raised(
    PRICES, "100 + discount", severity="high", title="A discount makes the basket dearer",
    trigger="any call with discount > 0, for example total([1000], discount=10)",
    consequence="1100 is charged where 900 was promised",
    falsifier="test_a_discount_lowers_the_total passes at head", confidence=0.97, check=CHECK,
)  # fmt: skip
RULE = _raised(
    PROMOTION, "eval(", severity="critical", category="security", title="A promotion's text is executed",
    trigger="marketing saves a rule such as __import__('os').system('id')",
    consequence="it runs with the rights of the shop", falsifier="rules come from a closed list only", confidence=0.9,
)  # fmt: skip
SHARED = _raised(
    PROMOTION, "def runs_in", severity="medium", title="All calls share the default `markets`",
    trigger="two calls without markets", consequence="the second one may see what the first one left behind",
    falsifier="the function never changes the list", confidence=0.6,
)  # fmt: skip
SLOW = _raised(
    BASKET, ".count(name)", severity="medium", category="performance", title="Counting inside the loop is quadratic",
    trigger="a basket of 10,000 articles", consequence="100,000,000 comparisons where 10,000 would do",
    falsifier="baskets are bounded by a small number", confidence=0.85,
)  # fmt: skip
CLAIMS = {"critic": [DISCOUNT, RULE, SHARED], "reviewer": [DISCOUNT], "optimizer": [SLOW]}

ARGUED: Mapping[str, Mapping[str, tuple[str, float, str, str, str]]] = {
    DISCOUNT["title"]: {
        "*": ("support", 0.97, "100 + 10 is 110 per cent", "the test of the same name fails at head", ""),
    },
    RULE["title"]: {
        "moderator": ("upheld", 0.0, "`eval` runs what a rule says", "a rule is data, whoever writes it", ""),
        "reviewer": ("support", 0.93, "`rule` reaches eval unchecked", "nothing between the parameter and the call looks at it",
                     "the docstring says that only marketing writes rules"),
        "optimizer": ("oppose", 0.3, "only marketing writes rules", "the module's docstring says so: they are no strangers",
                      "an account of marketing can be taken over"),
    },
    SHARED["title"]: {
        "reviewer": ("oppose", 0.12, "`markets` is only read", "`in` does not change a list, and the list is not returned", ""),
        "optimizer": ("oppose", 0.2, "nobody can reach the default", "the only use of it is a membership test",
                      "a later change could append to it"),
    },
    SLOW["title"]: {
        "critic": ("support", 0.8, "`count` walks the whole list for every name", "it did not before: a dictionary was kept", ""),
        "reviewer": ("support", 0.74, "the mapping that made it linear was removed", "the base counts in one pass",
                     "a basket of a person is small"),
    },
}  # fmt: skip
PLACES = {item["title"]: f"{item['path']}:{item['line']}" for item in (DISCOUNT, RULE, SHARED, SLOW)}


def _script() -> Script:
    usual = reviewer(claims=CLAIMS, judgement="upheld")

    def script(seen: Seen) -> Answer:
        answer = usual(seen)
        assert isinstance(answer, Answer)
        wanted = set((seen.schema or {}).get("properties", {}))
        return _argued(seen, wanted) or answer if "arguments" in wanted else answer

    return script


def _argued(seen: Seen, wanted: set[str]) -> Answer | None:
    """What this seat says of the claim that is asked about. The moderator is one of the models: told by what is wanted."""
    seat = next(name for name, model in SEATS.items() if model == seen.model) if "stance" in wanted else "moderator"
    title = next((title for title, place in PLACES.items() if _is_about(seen, place)), None)
    voices = ARGUED.get(title or "", {})
    voice = voices.get(seat) or voices.get("*")
    if voice is None:
        return None
    stance, probability, words, reasoning, against = voice
    argument = {
        "claim": words,
        "evidence": [PLACES[title or ""]],
        "reasoning": reasoning,
        "counter_arguments": [against] if against else [],
    }
    document = {"stance": stance, "decision": stance, "probability": probability, "arguments": [argument], "check": None}
    return Answer(json.dumps({name: value for name, value in document.items() if name in wanted}))


def _is_about(seen: Seen, place: str) -> bool:
    path, line = place.rsplit(":", 1)
    return f"where: {path}, line {line}" in seen.suffix


@contextmanager
def seated(home: Path) -> Iterator[None]:
    """The servers, and in ``home`` a user's configuration that seats them."""
    with Models(script=_script(), names=tuple(SEATS.values())) as models:
        file = home / ".config" / "reviewbot" / "config.yml"
        file.parent.mkdir(parents=True, exist_ok=True)
        seats = "".join(f"  {seat}: {{model: 'stand-in:{model}'}}\n" for seat, model in SEATS.items())
        providers = f"providers:\n  stand-in: {{base_url: '{models.url}/v1'}}\n"
        file.write_text(f"{providers}panel:\n{seats}debate: {{rounds: 1}}\n", encoding="utf-8")
        yield
