"""A change of 8,000 lines for models with small windows: every line is read, or its file is told as not reviewed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import Models, Seen
from tests.models.stage import ROLES, Stage, disputed, one_vendor, panelist, role_of

pytestmark = pytest.mark.matrix(parts=1)

FILES, FUNCTIONS = 16, 62
MOST_IN_FLIGHT = 12
QUESTION = "What is wrong with this change?"


def numbered(file: int) -> str:
    """A file of some 500 lines, each of which stands nowhere else."""
    functions = (
        f"def work_{file}_{number}(values, limit={file}{number:03}):\n"
        f'    """Sum what is below limit {file}{number:03}."""\n'
        f"    total_{file}_{number} = {file}{number:03}\n"
        f"    for value_{file}_{number} in values:\n"
        f"        if value_{file}_{number} <= limit:\n"
        f"            total_{file}_{number} += value_{file}_{number} * {file}{number:03}\n"
        f"    return total_{file}_{number}, {file}{number:03}\n"
        f"# End of number {file}{number:03}.\n"
        for number in range(FUNCTIONS)
    )
    return "".join(functions)


def path(file: int) -> str:
    """Where it is."""
    return f"shop/part{file:02}.py"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """The repository; each test has a ledger of its own."""
    stage = Stage(tmp_path_factory.mktemp("large"))
    for file in range(FILES):
        stage.repo.write(path(file), numbered(file))
    stage.repo.commit("Add much work")
    return stage


@pytest.fixture
def much(large: Stage, tmp_path: Path) -> Stage:
    """With a home of its own."""
    large.home = tmp_path / "home"
    large.home.mkdir()
    return large


def narrow(models: Models, **limits: float) -> dict[str, Any]:
    """Windows that take a fraction of the change."""
    settings = one_vendor(models, limits={"tokens": 20_000_000, "cost_usd": 1_000, "seconds": 200, **limits})
    settings["providers"]["gpu"]["concurrency"] = 40
    settings["panel"] = {role: {"model": "gpu:fake-1", "context_window": 20_000} for role in ROLES}
    settings["moderator"] = settings["panel"]["critic"]
    return settings


def lines_read(calls: Iterable[Seen]) -> dict[str, Counter[str]]:
    """By seat, how often each added line was shown in the prompts of its first passes that were answered."""
    read: dict[str, Counter[str]] = {role: Counter() for role in ROLES}
    for call in calls:
        if QUESTION in call.suffix and call.outcome == "answered":
            read[role_of(call)].update(re.findall(r"^ *\d+\+\|(.*)$", call.prompt, re.MULTILINE))
    return read


def check_covered(document: dict[str, Any], calls: Iterable[Seen]) -> Counter[str]:
    """Each file that is told as reviewed was read, all of it, by two of three; how many files have which status."""
    read = lines_read(calls)
    status = {entry["path"]: entry["status"] for entry in document["coverage"]}
    assert set(status) == {path(file) for file in range(FILES)}
    for file in range(FILES):
        missed = [
            line
            for line in numbered(file).splitlines()
            if line.strip() and sum(bool(of_seat[line]) for of_seat in read.values()) < 2
        ]
        assert not missed or status[path(file)] != "reviewed", (path(file), missed[:3])
    reasons = [entry for entry in document["coverage"] if entry["status"] != "reviewed" and not entry["reason"]]
    assert not reasons
    return Counter(status.values())


@pytest.mark.ci
def test_every_line_of_a_large_change_is_read_once_by_every_seat(much: Stage, models: Models) -> None:
    claims = [one for file in (1, 9) for one in disputed_in(file)]
    models.script = panelist(claims)
    models.seconds = 0.2  # so long that even a busy machine has several calls under way
    much.configure(narrow(models))
    ran = much.review()
    assert ran.code == 0, ran.said
    made = ran.document
    assert made["conclusion"] == "complete"
    assert check_covered(made, models.calls) == {"reviewed": FILES}
    for of_seat in lines_read(models.calls).values():
        twice = [line for line, times in of_seat.items() if times > 1]
        assert not twice, "no line is read twice by one seat"
    assert 6 <= models.most_in_flight <= MOST_IN_FLIGHT
    first = [call for call in models.calls if QUESTION in call.suffix]
    assert len(first) >= 3 * 10
    assert max(call.usage.input for call in models.calls) < 20_000
    for call in models.calls:
        if call not in first and (about := re.search(r"^where: (\S+), line", call.suffix, re.MULTILINE)):
            assert f"value_{int(about[1][9:11])}_0" in call.prompt, "who argues about a file sees it"
    assert len(made["findings"]) == 4
    models.reset()
    again = much.review()
    assert models.calls == []
    assert again.document["findings"] == made["findings"]


def disputed_in(file: int) -> list[dict[str, Any]]:
    """Two claims about a file."""
    lines = numbered(file).split("\n")
    renamed = "\n".join(re.sub(rf"value_{file}_(\d+) <= limit:", r"value <= limit + \1:", line) for line in lines)
    found = disputed(renamed, path(file), functions=(0, 3))
    return [one | {"quote": lines[one["line"] - 1]} for one in found]


@pytest.mark.parametrize("limits", [{"tokens": 90_000}, {"tokens": 300_000}, {"cost_usd": 0.4}, {"cost_usd": 0.2}])
def test_within_a_small_budget_what_is_not_read_is_told(limits: dict[str, float], much: Stage, models: Models) -> None:
    settings = narrow(models, **limits)
    settings["providers"]["gpu"] |= {"local": False, "max_output_tokens": 1_000}
    settings["prices"] = [{"model": "gpu:fake-1", "input": 5, "cached_input": 0.5, "output": 20}]
    much.configure(settings)
    ran = much.review()
    made = ran.document
    assert ran.code == 3
    assert made["conclusion"] in ("partial", "not_reviewed")
    told = check_covered(made, models.calls)
    assert told["reviewed"] < FILES
    (name,) = limits
    said = " ".join((*made["notes"], *(str(entry["reason"]) for entry in made["coverage"])))
    assert f"limits.{name}" in said or "tokens" in said
    bill = sum((c.usage.input - c.usage.cached) * 5 + c.usage.cached * 0.5 + c.usage.output * 20 for c in models.calls) / 1e6
    taken = sum(call.usage.input + call.usage.output for call in models.calls)
    assert bill <= limits.get("cost_usd", 1_000)
    assert taken <= limits.get("tokens", 20_000_000)
    assert made["usage"]["cost_usd"] == pytest.approx(bill)
    assert models.most_in_flight <= MOST_IN_FLIGHT


def test_a_dry_run_tells_the_portions_and_asks_nobody(much: Stage, models: Models) -> None:
    much.configure(narrow(models))
    ran = much.run("review", "HEAD", "--no-exec", "--dry-run", "--format", "json")
    assert ran.code == 0, ran.said
    assert models.requests == []
    for file in range(FILES):
        assert path(file) in ran.said


def test_a_change_that_only_removes_is_read_too(stage: Stage, models: Models) -> None:
    stage.repo.remove("shop/work.py")
    stage.repo.commit("Give up work")
    stage.configure(one_vendor(models))
    models.script = panelist([])
    ran = stage.review()
    assert ran.document["conclusion"] == "complete"
    assert sorted(role_of(call) for call in models.calls) == sorted(ROLES)
    assert all("def work_0(values" in call.prompt for call in models.calls)
