"""Right and wrong fixes of ten defects, which existing tests show: all right ones are accepted, and
no wrong one.

A small program runs the tests: pytest takes ten times as long to start, and `test_fix.py` has fixes
whose evidence is a test that it ran.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from conftest import Project
from test_fix import fix_head

# By function: its right body, what the change makes of it, another right body, and a test.
BUGS = {
    "total": (
        *("return sum(prices)", "return sum(prices[1:])", "return sum(list(prices))"),
        "[1, 2]) == 3",
    ),
    "mean": (
        *("return sum(prices) / len(prices)", "return sum(prices) / 2"),
        *("return sum(prices) / max(1, len(prices))", "[3, 6, 9]) == 6"),
    ),
    "last": (
        *("return prices[-1]", "return prices[0]", "return prices[len(prices) - 1]"),
        "[1, 2]) == 2",
    ),
    "is_sold": ("return stock == 0", "return stock != 0", "return not stock", "0) is True"),
    "clean": (
        *("return name.strip()", "return name.rstrip()", 'return name.strip(" ")'),
        '" a ") == "a"',
    ),
    "label": (
        *('return f"{name}: {price}"', 'return f"{price}: {name}"'),
        *('return name + ": " + str(price)', '"a", 1) == "a: 1"'),
    ),
    "find": (
        *("return stock.get(name, 0)", "return stock[name]", "return stock.get(name) or 0"),
        '{}, "a") == 0',
    ),
    "discount": (
        *("return price - price * percent // 100", "return price - percent // 100"),
        *("return price * (100 - percent) // 100", "200, 50) == 100"),
    ),
    "page": (
        *("return items[start : start + size]", "return items[start:size]"),
        *("return list(items)[start : start + size]", "[1, 2, 3, 4], 2, 2) == [3, 4]"),
    ),
    "merge": (
        *("return first | second", "return second | first", "return {**first, **second}"),
        '{1: "a"}, {1: "b"}) == {1: "b"}',
    ),
}
ARGUMENTS = {
    **dict.fromkeys(("total", "mean", "last"), "prices"),
    **{"is_sold": "stock", "clean": "name", "label": "name, price", "find": "stock, name"},
    **{"discount": "price, percent", "page": "items, start, size", "merge": "first, second"},
}
STABLE = 'def stable():\n    return "stable"\n\n\ndef spare():\n    return 1\n'
CONFIG = "[project]\nname = 'shop'\n\n[tool.pytest.ini_options]\naddopts = '-q'\n"
RUN_TESTS = """
import test_shop

print("<testsuite>")
for name in sorted(vars(test_shop)):
    if name.startswith("test_"):
        test, words = vars(test_shop)[name], ""
        try:
            test()
        except Exception:
            words = f"<failure message='{name} is wrong'/>"
        place = f"file='test_shop.py' line='{test.__code__.co_firstlineno}'"
        print(f"<testcase name='{name}' {place}>{words}</testcase>")
print("</testsuite>")
"""
CHECKS = """
checks:
  - {name: pytest, off: true}
  - {name: suite, run: [python3, run_tests.py], parse: junit, files: ["*.py"]}
"""
NO_NAMES = "  - {name: public-api, off: true}\n"  # no other fix is about public names


def module(number: int) -> str:
    """All functions, with one of the bodies of their rows."""
    functions = [f"def {n}({ARGUMENTS[n]}):\n    {row[number]}\n" for n, row in BUGS.items()]
    return "\n\n".join([*functions, STABLE])


def all_tests() -> str:
    rows = [f"def test_{n}():\n    assert shop.{n}({row[3]}\n" for n, row in BUGS.items()]
    stable = 'def test_stable():\n    assert shop.stable() == "stable"\n'
    return "\n\n".join(["import shop\n", *rows, stable])


def shop(project: Project, checks: str) -> Project:
    files = {"pyproject.toml": CONFIG, "shop.py": module(0), "test_shop.py": all_tests()}
    project.commit("Begin", {**files, "run_tests.py": RUN_TESTS, ".reviewbot.yml": checks})
    added = "\n\ndef {}added():\n    assert True\n"  # so that no fix takes the whole change back
    change = {"shop.py": module(1) + added.format(""), "test_shop.py": all_tests()}
    change["test_shop.py"] += added.format("test_")
    project.commit("Break ten functions", change)
    return project


def edit(path: str, find: str, replace: str) -> dict[str, str]:
    return {"path": path, "find": find, "replace": replace}


def right(name: str, kind: str) -> list[dict[str, str]]:
    body, broken, other, _ = BUGS[name]
    made = {
        "as before": [edit("shop.py", broken, body)],
        "in another way": [edit("shop.py", broken, other)],
        "with a helper": [
            edit("shop.py", broken, f"return _{name}({ARGUMENTS[name]})"),
            edit(
                "shop.py",
                "def spare",
                f"def _{name}({ARGUMENTS[name]}):\n    {other}\n\n\ndef spare",
            ),
        ],
        "with a note": [
            edit("shop.py", broken, f"# {name} was wrong.\n    {body}"),
            edit(f"docs/{name}.md", "", f"# {name}\n"),
        ],
    }
    return made[kind]


# What is wrong, and the reason that has to be among those that are given.
WRONG = {
    "nothing is repaired": "is still reported.",
    "another test breaks": "suite reports test_stable fails",
    "the test is changed": "fixes may only add to tests",
    "the test is skipped": "fixes may only add to tests",
    "a test repairs it": "With the old tests: suite reports ",
    "a linter is silenced": "silences a tool instead of fixing what it reports",
    "the configuration": "is protected: ",
    "a new configuration": "is protected: ",
    "a new workflow": "is protected: ",
    "an undefined name": "ruff reports Undefined name `nowhere`",
    "a public function goes": "public-api reports Public API: spare is removed",
    "a secret comes": "contains a new secret",
    "a module is hidden": "would be imported in place of the module",
    "a hidden character": "contains a new hidden character",
    "a syntax error": "has more syntax errors than before",
}


def wrong(name: str, kind: str) -> list[dict[str, str]]:
    body, broken, _, test = BUGS[name]
    repair, words = edit("shop.py", broken, body), ARGUMENTS[name]
    asserted = f"    assert shop.{name}({test}\n"
    more = {
        "nothing is repaired": [edit("shop.py", broken, f"# {name}\n    {broken}")],
        "another test breaks": [repair, edit("shop.py", 'return "stable"', 'return "other"')],
        "the test is changed": [edit("test_shop.py", asserted, asserted.replace("==", "!="))],
        "the test is skipped": [
            edit("test_shop.py", f"def test_{name}()", f"@pytest.mark.skip\ndef test_{name}()")
        ],
        "a test repairs it": [
            edit(
                "shop.py", broken, f"from test_aid import {name} as aid\n\n    return aid({words})"
            ),
            edit("test_aid.py", "", f"def {name}({words}):\n    {body}\n"),
        ],
        "a linter is silenced": [edit("shop.py", broken, f"{body}  # noqa: F821")],
        "the configuration": [repair, edit("pyproject.toml", "'-q'", "'-x'")],
        "a new configuration": [repair, edit("conftest.py", "", "collect_ignore = ['a']\n")],
        "a new workflow": [repair, edit(".github/workflows/a.yml", "", "on: push\n")],
        "an undefined name": [repair, edit("shop.py", "    return 1\n", "    return nowhere\n")],
        "a public function goes": [repair, edit("shop.py", "def spare():\n    return 1\n", "")],
        "a secret comes": [edit("shop.py", broken, f"{body}  # ghp_{'a1B2' * 9}")],
        "a module is hidden": [repair, edit("json.py", "", "x = 1\n")],
        "a hidden character": [edit("shop.py", broken, f"{body}  # \u202e")],
        "a syntax error": [edit("shop.py", broken, f"{body})")],
    }
    return more[kind]


def name_in(prompt: str) -> str:
    found = re.search(r"test_(\w+) fails", prompt)
    assert found
    return found[1]


@pytest.mark.parametrize("kind", ["as before", "in another way", "with a helper", "with a note"])
def test_right_fixes_are_accepted(project: Project, kind: str) -> None:
    def answer(label: str, prompt: str) -> Any:
        if "/fix_" in label:
            return {"edits": right(name_in(prompt), kind), "explanation": ""}
        return {"objections": []} if "/judge_" in label else {"edits": [], "explanation": ""}

    _, results, _ = fix_head(shop(project, CHECKS + NO_NAMES), answer)

    assert len(results) == len(BUGS)
    assert {result.outcome for result in results} == {"fixed"}, results


@pytest.mark.parametrize("start", range(0, len(WRONG), 3))
def test_wrong_fixes_are_refused_with_their_reasons(project: Project, start: int) -> None:
    """Three attempts for each of three defects."""
    kinds = [*WRONG][start : start + 3]
    tried: dict[str, list[str]] = {}

    def answer(label: str, prompt: str) -> Any:
        if "/fix_" not in label:
            return {"objections": []} if "/judge_" in label else {"edits": [], "explanation": ""}
        name = name_in(prompt)
        kind = kinds[len(tried.setdefault(name, []))]
        tried[name].append(kind)
        return {"edits": wrong(name, kind), "explanation": ""}

    ids = tuple(f"F{number}" for number in (1 + start % 8, 2 + start % 8, 3 + start % 8))
    checks = CHECKS if "a public function goes" in kinds else CHECKS + NO_NAMES
    _, results, _ = fix_head(shop(project, checks), answer, ids)

    assert len(results) == 3
    for result in results:
        assert result.outcome == "failed"
        for kind, attempt in zip(kinds, result.attempts, strict=True):
            assert any(WRONG[kind] in reason for reason in attempt.reasons), (kind, attempt.reasons)
