"""Planted defects: each is found on its exact line, and the same change reversed yields none of them."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from reviewbot import review
from reviewbot.domain.review import Finding, Review
from tests.repo import Repo

pytestmark = pytest.mark.xdist_group("planted")

KEY = "AKIA" + "Z7QK3J5XW2NDVB4T"
RIGHT_TO_LEFT = "\N{RIGHT-TO-LEFT OVERRIDE}"

CLEAN = {
    "shop/__init__.py": '"""A shop."""\n',
    "shop/price.py": '''"""Prices."""


def total(amounts, discount=0):
    """The sum of amounts less a discount."""
    result = sum(amounts)
    result = result - discount
    return result


def rounded(amount, digits=2, mode="half-even"):
    """An amount with so many digits."""
    if mode == "down":
        return int(amount)
    return round(amount, digits)
''',
    "shop/basket.py": '''"""Baskets."""


def add(item, basket=None):
    """A basket with one more item."""
    basket = [] if basket is None else basket
    basket.append(item)
    return basket


def unique(items):
    """Items without repetition."""
    return list(dict.fromkeys(items))
''',
    "shop/admin.py": '''"""Administration."""

import ast

API_KEY = None


def evaluate(request):
    """The value of an expression that a client sent."""
    return ast.literal_eval(request.args["expression"])


def allowed(user):
    """Whether a user may enter."""
    assert user.active, "inactive"
    return user.role == "admin"
''',
    "tests/test_price.py": """from shop.price import rounded, total


def test_total():
    assert total([1, 2]) == 3


def test_total_with_discount():
    assert total([1, 2], discount=1) == 2


def test_rounded():
    assert rounded(1.005, 1) == 1.0
""",
}


@dataclass(frozen=True)
class Plant:
    """A defect: which text of which file becomes which, and a word of the line it is to be found on."""

    name: str
    path: str
    before: str
    after: str
    marked: str


PLANTS = (
    Plant("failing test", "shop/price.py", "    result = result - discount\n", "    result = result + discount\n", "result + discount"),
    Plant(
        "removed parameter",
        "shop/price.py",
        'def rounded(amount, digits=2, mode="half-even"):\n    """An amount with so many digits."""\n    if mode == "down":\n'
        "        return int(amount)\n",
        'def rounded(amount, digits=2):\n    """An amount with so many digits."""\n',
        "def rounded",
    ),
    Plant(
        "mutable default",
        "shop/basket.py",
        "def add(item, basket=None):\n    \"\"\"A basket with one more item.\"\"\"\n    basket = [] if basket is None else basket\n",
        "def add(item, basket=[]):\n    \"\"\"A basket with one more item.\"\"\"\n",
        "basket=[]",
    ),
    Plant(
        "quadratic loop",
        "shop/basket.py",
        "    return list(dict.fromkeys(items))\n",
        "    seen = []\n    for item in items:\n        if item not in seen:\n            seen.append(item)\n    return seen\n",
        "item not in seen",
    ),
    Plant("key", "shop/admin.py", "API_KEY = None\n", f'API_KEY = "{KEY}"\n', "API_KEY"),
    Plant(
        "eval",
        "shop/admin.py",
        '    return ast.literal_eval(request.args["expression"])\n',
        '    return eval(request.args["expression"])\n',
        "eval(",
    ),
    Plant("assert on a tuple", "shop/admin.py", 'assert user.active, "inactive"', 'assert (user.active, "inactive")', "assert ("),
    Plant(
        "bidirectional override",
        "shop/admin.py",
        '    return user.role == "admin"\n',
        f'    return user.role == "admin{RIGHT_TO_LEFT}"\n',
        "user.role",
    ),
)  # fmt: skip


def line_of(text: str, marked: str) -> int:
    """The 1-based number of the one line that holds ``marked``."""
    return next(number for number, line in enumerate(text.split("\n"), 1) if marked in line)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repo, dict[str, str]]:
    repo = Repo(tmp_path_factory.mktemp("planted"))
    for path, text in CLEAN.items():
        repo.write(path, text)
    repo.commit("a clean shop")
    broken = dict(CLEAN)
    for plant in PLANTS:
        assert plant.before in broken[plant.path], plant.name
        broken[plant.path] = broken[plant.path].replace(plant.before, plant.after)
    for path, text in broken.items():
        repo.write(path, text)
    repo.commit("plant defects")
    return repo, broken


@pytest.fixture(scope="module")
def forward(planted: tuple[Repo, dict[str, str]]) -> Review:
    return review("HEAD", repo=planted[0].path)


@pytest.fixture(scope="module")
def backward(planted: tuple[Repo, dict[str, str]]) -> Review:
    return review("HEAD..HEAD~1", repo=planted[0].path)


needs_sandbox = pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed")


def at(found: Review, path: str, line: int) -> list[Finding]:
    return [finding for finding in found.posted() if finding.path == path and finding.line == line]


@needs_sandbox
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_each_planted_defect_is_told_on_its_exact_line(
    plant: Plant, planted: tuple[Repo, dict[str, str]], forward: Review
) -> None:
    line = line_of(planted[1][plant.path], plant.marked)
    assert at(forward, plant.path, line), [(f.path, f.line, f.title, f.status.value, f.probability) for f in forward.findings]


@needs_sandbox
def test_the_failing_test_is_proven_and_blocks(planted: tuple[Repo, dict[str, str]], forward: Review) -> None:
    line = line_of(planted[1]["shop/price.py"], "result + discount")
    proven = [finding for finding in at(forward, "shop/price.py", line) if finding.proof.value == "proven"]
    assert proven
    assert proven[0].check is not None
    assert proven[0].check.outcome == "fails_at_head"
    assert forward.verdict is not None
    assert forward.verdict.value == "request_changes"


@needs_sandbox
def test_the_reversed_change_yields_none_of_them(backward: Review) -> None:
    assert [(finding.path, finding.line, finding.title) for finding in backward.posted()] == []


@needs_sandbox
def test_the_key_itself_is_in_no_part_of_the_review(forward: Review) -> None:
    assert KEY not in repr(forward)


def test_the_review_needs_no_folder_of_the_project_to_be_written(planted: tuple[Repo, dict[str, str]], forward: Review) -> None:
    del forward
    assert planted[0].git("status", "--porcelain", "--ignored") == ""
    assert not list(Path(planted[0].path).glob(".reviewbot*"))


@needs_sandbox
def test_a_function_that_grew_is_told_also_where_its_head_was_not_shown(git_repo: Repo) -> None:
    tests = "".join(f"    if n == {number}:\n        return {number + 1}\n" for number in range(9))
    padding = "".join(f"    value_{number} = n + {number}\n" for number in range(60))
    git_repo.write("long.py", f"def f(n):\n{tests}{padding}    return n\n")
    git_repo.commit("long")
    grown = "".join(f"    if n == {number}:\n        return {number}\n" for number in range(100, 112))
    git_repo.write("long.py", f"def f(n):\n{tests}{padding}{grown}    return n\n")
    git_repo.commit("longer")
    told = [(finding.rule, finding.line > 70) for finding in review("HEAD", repo=git_repo.path).findings]
    assert ("cyclomatic", True) in told
