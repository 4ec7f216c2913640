"""The small shop that ``demo`` reviews: a good commit, then one in which every kind of defect is planted once."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from reviewbot.errors import GitError, RepositoryError

SUBJECT = "Add promotions and simplify the basket"

PRICES = '''\
"""Prices in cents."""


def total(prices: list[int], discount: int = 0) -> int:
    """The sum of all prices, less a discount in percent."""
    return sum(prices) * (100 - discount) // 100


def label(cents: int, currency: str = "EUR") -> str:
    """A price as it is printed."""
    return f"{cents // 100}.{cents % 100:02} {currency}"
'''

BASKET = '''\
"""What a customer is about to buy."""


class Basket:
    """Names of articles in the order they were added."""

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        self.names = list(names)

    def add(self, name: str) -> None:
        """Put one more article in."""
        self.names.append(name)

    def repeated(self) -> list[str]:
        """Articles that are in the basket more than once."""
        seen: dict[str, int] = {}
        for name in self.names:
            seen[name] = seen.get(name, 0) + 1
        return [name for name, count in seen.items() if count > 1]
'''

TESTS = """\
from shop.basket import Basket
from shop.prices import label, total


def test_a_total_is_the_sum_of_its_prices():
    assert total([250, 150]) == 400


def test_a_discount_lowers_the_total():
    assert total([1000], discount=10) == 900


def test_a_label_shows_euros_and_cents():
    assert label(1205) == "12.05 EUR"


def test_repeated_articles_are_found():
    basket = Basket()
    for name in ("tea", "milk", "tea"):
        basket.add(name)
    assert basket.repeated() == ["tea"]
"""

BEFORE: Mapping[str, str] = {
    "README.md": "# A small shop\n",
    "shop/__init__.py": "",
    "shop/prices.py": PRICES,
    "shop/basket.py": BASKET,
    "tests/test_shop.py": TESTS,
}

# Neither the key nor the hidden character stands here as such: this file is scanned too.
KEY = "AKIA" + "Z7QW3M5RT2XK6NLP"
OVERRIDE = "\N{RIGHT-TO-LEFT OVERRIDE}"

PROMOTION = f'''\
"""Promotions that marketing may write."""

ACCESS_KEY = "{KEY}"
STAFF = "staff{OVERRIDE} # only"


def price_after(rule: str, price: int) -> int:
    """Apply a promotion's rule to a price."""
    result = eval(rule, {{"price": price}})
    assert (result >= 0, "a price is never negative")
    return result


def runs_in(country: str, markets: list[str] = ["at", "ch", "de"]) -> bool:
    """Whether a promotion runs in a country."""
    return country in markets
'''

AFTER: Mapping[str, str] = {
    "shop/prices.py": PRICES.replace("100 - discount", "100 + discount")
    .replace(', currency: str = "EUR"', "")
    .replace("{currency}", "EUR"),
    "shop/basket.py": BASKET.replace("names: tuple[str, ...] = ()", "names: list[str] = []")
    .replace("self.names = list(names)", "self.names = names")
    .replace(
        BASKET[BASKET.index("        seen:") :],
        """\
        found: list[str] = []
        for name in self.names:
            if self.names.count(name) > 1 and name not in found:
                found.append(name)
        return found
""",
    ),
    "shop/promotion.py": PROMOTION,
}

#: What was planted: the file, a text on its line at head, and what is wrong there.
PLANTED = (
    ("shop/prices.py", "100 + discount", "a discount raises the price, and a test says so"),
    ("shop/prices.py", "def label", "a public parameter is gone"),
    ("shop/basket.py", "= []) -> None", "all baskets share one list"),
    ("shop/basket.py", ".count(name)", "counting inside the loop makes it quadratic"),
    ("shop/promotion.py", "ACCESS_KEY", "a key is written into the code"),
    ("shop/promotion.py", "STAFF", "a hidden character reverses what is shown"),
    ("shop/promotion.py", "eval(", "whoever writes a rule runs code"),
    ("shop/promotion.py", "assert (", "an assertion on a tuple never fails"),
    ("shop/promotion.py", "def runs_in", "a shared default that nothing changes: you judge"),
)


def build(folder: Path, path: str) -> None:
    """Make the repository with its two commits. ``path``: where git is looked for. Raises RepositoryError, GitError."""
    folder.mkdir(parents=True)
    _git(folder, path, "init", "--quiet")
    _commit(folder, path, files=BEFORE, subject="Open the shop")
    _commit(folder, path, files=AFTER, subject=SUBJECT)


def planted_lines() -> tuple[str, ...]:
    """``file:line  what is wrong``, one for each planted defect."""
    places = [(f"{path}:{_line(AFTER[path], text)}", words) for path, text, words in PLANTED]
    return tuple(f"{place:<22} {words}" for place, words in places)


def _line(source: str, text: str) -> int:
    return source[: source.index(text)].count("\n") + 1


def _commit(folder: Path, path: str, *, files: Mapping[str, str], subject: str) -> None:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    _git(folder, path, "add", "--all")
    _git(folder, path, "commit", "--quiet", "-m", subject)


def _git(folder: Path, path: str, *arguments: str) -> None:
    """Run git with nothing of the user's configuration: no hook, no signature, one author, one date."""
    environment = {
        "PATH": path,
        "HOME": str(folder),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
    }
    for who in ("AUTHOR", "COMMITTER"):
        environment |= {
            f"GIT_{who}_NAME": "reviewbot demo",
            f"GIT_{who}_EMAIL": "demo@localhost",
            f"GIT_{who}_DATE": "2026-01-01T12:00:00+0000",
        }
    argv = ("git", "-c", "init.defaultBranch=main", "-c", "core.hooksPath=/dev/null", *arguments)
    try:
        subprocess.run(argv, cwd=folder, env=environment, capture_output=True, timeout=60, check=True)
    except FileNotFoundError as exc:
        raise RepositoryError("git is not installed", hint="install it: sudo apt-get install git") from exc
    except subprocess.SubprocessError as exc:
        raise GitError(f"git {arguments[0]} failed in {folder}", hint="is there space left?") from exc
