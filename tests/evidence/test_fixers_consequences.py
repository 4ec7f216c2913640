"""What a fix brings about is mended with it, as ruff's own ``--fix`` does, which goes over a file again and again."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from reviewbot.evidence.fixers import Wanted
from reviewbot.evidence.fixers.splices import applied, together
from tests.evidence.asked import scene
from tests.evidence.test_fixers import RUFF, mended, offered

pytestmark = [pytest.mark.usefixtures("bubblewrap"), pytest.mark.matrix(parts=1)]

MODERN = "target-version = 'py312'\nlint.select = ['UP', 'F', 'I', 'RET', 'COM', 'Q']\n"


OPTIONAL = """\
import os
from typing import Any, Optional

def f(
    é: Optional[int],
) -> Any:
    return os
x: Optional[str] = ''
"""
BRANCHES = """\
def f(x):
    if x:
        return 1
    elif x == 2:
        return 2
    elif x == 3:
        return 3
    else:
        return 4
"""


def ruffs_own(folder: Path, source: str, rules: str) -> bytes:
    """What ruff makes of a file with all these rules."""
    (folder / "own").mkdir()
    (folder / "own" / "ruff.toml").write_text(MODERN)
    (folder / "own" / "a.py").write_text(source)
    words = (str(RUFF), "check", "--fix", "--no-cache", "--exit-zero", "--select", rules, "a.py")
    subprocess.run(words, cwd=folder / "own", capture_output=True, check=True)
    return (folder / "own" / "a.py").read_bytes()


@pytest.mark.parametrize(
    ("rule", "also", "lines", "source"),
    [
        ("UP045", "F401", (5, 8), OPTIONAL),
        ("UP035", "I001", (3,), "import os\nfrom re import sub\nfrom typing import Mapping\n\nx: Mapping = os, sub\n"),
        ("RET505", "RET505", (4,), BRANCHES),
    ],
    ids=["an unused import", "the order of imports", "the next branch"],
)
def test_what_a_fix_brings_about_is_mended_with_it(
    rule: str, also: str, lines: tuple[int, ...], source: str, tmp_path: Path
) -> None:
    made = scene(tmp_path, {"ruff.toml": MODERN, "a.py": source}, {"ruff.toml": MODERN})
    found = offered(made, [Wanted("F1", "a.py", line, line, "ruff", rule) for line in lines])
    assert mended(made, "a.py", found, "F1") == ruffs_own(tmp_path, source, f"{rule},{also}")
    assert sum(map(len, made.jobs)) <= 12


def test_what_two_fixes_bring_about_together_is_mended_by_another_proposal_of_the_last(tmp_path: Path) -> None:
    source = "import os\nfrom typing import Any, Optional\n\nx: Optional[int] = 1\ny: Any = 2\nz: Optional[str] = ''\n"
    made = scene(tmp_path, {"ruff.toml": MODERN, "a.py": source}, {"ruff.toml": MODERN})
    places = [("F1", 1, "F401"), ("F2", 4, "UP045"), ("F3", 6, "UP045")]
    found = offered(made, [Wanted(name, "a.py", line, line, "ruff", rule) for name, line, rule in places])
    (zeroth,), (first,), (plain, second) = (found.proposals[name] for name, _, _ in places)
    assert b"Optional" in applied(source.encode(), plain.splices)
    assert second.explanation == f"{plain.explanation}; Remove unused import: `typing.Optional`"
    every = together((*zeroth.splices, *first.splices, *second.splices))
    assert every is not None
    assert applied(source.encode(), every) == ruffs_own(tmp_path, source, "UP045,F401")


def test_what_is_about_a_line_that_several_fixes_change_is_left_for_another_time(tmp_path: Path) -> None:
    source = "from datetime import datetime, timezone\n\nx = datetime.now(timezone.utc)\ny = datetime.now(timezone.utc)\n"
    made = scene(tmp_path, {"ruff.toml": MODERN, "a.py": source}, {"ruff.toml": MODERN})
    found = offered(made, [Wanted(f"F{line}", "a.py", line, line, "ruff", "UP017") for line in (3, 4)])
    assert [len(proposals) for proposals in found.proposals.values()] == [1, 1]
    every = together(splice for proposals in found.proposals.values() for splice in proposals[0].splices)
    assert every is not None
    assert applied(source.encode(), every).decode() == (
        "from datetime import UTC, datetime, timezone\n\nx = datetime.now(UTC)\ny = datetime.now(UTC)\n"
    )


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.py", "from typing import Optional  # noqa: F401\n\nx: Optional[int] = 1\n"),
        ("__init__.py", "from typing import Optional\n\nx: Optional[int] = 1\n"),
        ("a.py", "import json\n\nx = [\n    json,\n    1\n]\ny = ['a']\n"),
        ("a.py", "from typing import Optional  # noqa\nimport json\nx: Optional[int] = 1\n"),
    ],
    ids=["silenced", "handed on", "another rule was broken before", "the same rule was broken before"],
)
def test_what_a_fix_leaves_as_it_was_is_not_mended_with_it(path: str, source: str, tmp_path: Path) -> None:
    made = scene(tmp_path, {"ruff.toml": MODERN, path: source}, {"ruff.toml": MODERN})
    line, rule = (3, "UP045") if "Optional" in source else (5, "COM812")
    found = offered(made, [Wanted("F1", path, line, line, "ruff", rule)])
    expected = source.replace("Optional[int]", "int | None").replace("    1\n", "    1,\n")
    assert mended(made, path, found, "F1").decode() == expected


def test_a_fix_is_looked_at_beside_all_that_the_change_brings(tmp_path: Path) -> None:
    source = "import json\nimport zlib\n\nimport requests\n\nimport mine\n\nprint(zlib, requests, mine)\n"
    made = scene(tmp_path, {"ruff.toml": MODERN, "a.py": source, "mine.py": ""}, {"ruff.toml": MODERN})
    found = offered(made, [Wanted("F1", "a.py", 1, 1, "ruff", "F401")])
    assert mended(made, "a.py", found, "F1").decode() == source.replace("import json\n", "")
