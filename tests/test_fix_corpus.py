"""Right and wrong fixes of defects that existing tests show: all right ones are accepted, and no
wrong one.

A small program runs the tests: pytest takes ten times as long to start, and `test_fix.py` has fixes
whose evidence is a test that it ran. What the gate refuses is in `test_gate.py`.
"""

import re
from typing import Any

from conftest import Project
from test_fix import fix_head

# By function: its arguments, its right body, what the change makes of it, another right body, and a
# test.
BUGS = {
    "total": (
        *("prices", "return sum(prices)", "return sum(prices[1:])", "return sum(list(prices))"),
        "[1, 2]) == 3",
    ),
    "mean": (
        *("prices", "return sum(prices) / len(prices)", "return sum(prices) / 2"),
        *("return sum(prices) / max(1, len(prices))", "[3, 6, 9]) == 6"),
    ),
    "last": (
        *("prices", "return prices[-1]", "return prices[0]", "return prices[len(prices) - 1]"),
        "[1, 2]) == 2",
    ),
    "is_sold": (
        "stock",
        "return stock == 0",
        "return stock != 0",
        "return not stock",
        "0) is True",
    ),
    "find": (
        *("stock, name", "return stock.get(name, 0)", "return stock[name]"),
        *("return stock.get(name) or 0", '{}, "a") == 0'),
    ),
    "merge": (
        *("first, second", "return first | second", "return second | first"),
        *("return {**first, **second}", '{1: "a"}, {1: "b"}) == {1: "b"}'),
    ),
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


def module(number: int) -> str:
    """All functions, with one of the bodies of their rows."""
    functions = [f"def {n}({row[0]}):\n    {row[number]}\n" for n, row in BUGS.items()]
    return "\n\n".join([*functions, STABLE])


def all_tests() -> str:
    rows = [f"def test_{n}():\n    assert shop.{n}({row[4]}\n" for n, row in BUGS.items()]
    stable = 'def test_stable():\n    assert shop.stable() == "stable"\n'
    return "\n\n".join(["import shop\n", *rows, stable])


def shop(project: Project) -> Project:
    files = {"pyproject.toml": CONFIG, "shop.py": module(1), "test_shop.py": all_tests()}
    project.commit("Begin", {**files, "run_tests.py": RUN_TESTS, ".reviewbot.yml": CHECKS})
    added = "\n\ndef {}added():\n    assert True\n"  # so that no fix takes the whole change back
    change = {"shop.py": module(2) + added.format(""), "test_shop.py": all_tests()}
    change["test_shop.py"] += added.format("test_")
    project.commit("Break all functions", change)
    return project


def edit(path: str, find: str, replace: str) -> dict[str, str]:
    return {"path": path, "find": find, "replace": replace}


def right(name: str) -> list[dict[str, str]]:
    """As before, in another way, with a helper, or with a note, in turn."""
    words, body, broken, other, _ = BUGS[name]
    helper = f"def _{name}({words}):\n    {other}\n\n\ndef spare"
    note = edit("shop.py", broken, f"# {name} was wrong.\n    {body}")
    call = edit("shop.py", broken, f"return _{name}({words})")
    made = [
        [edit("shop.py", broken, body)],
        [edit("shop.py", broken, other)],
        [call, edit("shop.py", "def spare", helper)],
        [note, edit(f"docs/{name}.md", "", f"# {name}\n")],
    ]
    return made[[*BUGS].index(name) % len(made)]


def wrong(name: str) -> dict[str, list[dict[str, str]]]:
    """By the reason that has to be among those that are given."""
    words, body, broken, _, _ = BUGS[name]
    repair = edit("shop.py", broken, body)
    borrowed = f"from test_aid import {name} as aid\n\n    return aid({words})"
    aid = f"def {name}({words}):\n    {body}\n"
    return {
        "is still reported.": [edit("shop.py", broken, f"# {name}\n    {broken}")],
        "suite reports test_stable fails": [
            *(repair, edit("shop.py", 'return "stable"', 'return "other"'))
        ],
        "With the old tests: suite reports ": [
            *(edit("shop.py", broken, borrowed), edit("test_aid.py", "", aid))
        ],
        "is protected: ": [repair, edit("pyproject.toml", "'-q'", "'-x'")],
        "ruff reports Undefined name `nowhere`": [
            *(repair, edit("shop.py", "    return 1\n", "    return nowhere\n"))
        ],
        "public-api reports Public API: spare is removed": [
            *(repair, edit("shop.py", "def spare():\n    return 1\n", ""))
        ],
    }


def name_in(prompt: str) -> str:
    found = re.search(r"test_(\w+) fails", prompt)
    assert found
    return found[1]


def test_right_fixes_are_accepted(project: Project) -> None:
    def answer(label: str, prompt: str) -> Any:
        edits = right(name_in(prompt)) if "/fix_" in label else []
        return {"edits": edits, "objections": [], "explanation": ""}

    _, results, _ = fix_head(shop(project), answer)
    assert len(results) == len(BUGS)
    assert {result.outcome for result in results} == {"fixed"}, results


def test_wrong_fixes_are_refused_with_their_reasons(project: Project) -> None:
    """Three attempts at each of two defects."""
    tried: list[str] = []

    def answer(label: str, prompt: str) -> Any:
        if "/fix_" not in label:
            return {"edits": [], "objections": [], "explanation": ""}
        reason, edits = [*wrong(name_in(prompt)).items()][len(tried)]
        tried.append(reason)
        return {"edits": edits, "explanation": ""}

    _, results, _ = fix_head(shop(project), answer, ("F1", "F2"))
    assert {result.outcome for result in results} == {"failed"}
    attempts = [attempt.reasons for result in results for attempt in result.attempts]
    for wanted, reasons in zip(tried, attempts, strict=True):
        assert any(wanted in reason for reason in reasons), (wanted, reasons)
    assert len(tried) == 6
