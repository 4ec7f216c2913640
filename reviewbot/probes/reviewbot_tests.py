"""Starts pytest on chosen test files, in the project's own configuration or, where that cannot start, in a plain one.

Usage: ``python -I reviewbot_tests.py SPEC REPORT``. SPEC is JSON: ``{"tests": [path or node id…], "measure": [path…]}``,
relative to the working directory. REPORT is appended to, a JSON object a line (see ``reviewbot_pytest``). Python 3.8 and later.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
QUIET = ["-q", "--tb=short", "--color=no", "-p", "no:cacheprovider", "-p", "no:stepwise"]
CONFIGURATIONS = ("pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg", "conftest.py")
TAMED = (
    ("xdist", ["-n0"]),
    ("pytest_cov", ["--no-cov"]),
    ("pytest_randomly", ["-p", "no:randomly"]),
    ("pytest_rerunfailures", ["--reruns=0"]),
)
"""Plug-ins that reorder, repeat, distribute or measure tests, and the words that keep them from it."""


def main(spec_path: str, report_path: str) -> int:
    with open(spec_path, encoding="utf-8") as file:
        spec = json.load(file)
    tests = [test for test in spec["tests"] if os.path.exists(test.partition("::")[0])]
    if not is_here("pytest"):
        append(report_path, {"type": "broken", "message": "pytest is not installed for " + sys.executable})
        return 4
    broken: list[dict[str, Any]] = []
    while tests:
        code = begin(tests, dict(environment(spec, report_path), REVIEWBOT_BROKEN=json.dumps(broken)), report_path)
        spoiled = {} if has_begun(report_path) else conftest(report_path)
        below = [test for test in tests if spoiled and test.startswith(spoiled["id"].rpartition("conftest.py")[0])]
        if not below:
            return code
        broken += [dict(spoiled, id=path) for path in dict.fromkeys(test.partition("::")[0] for test in below)]
        tests = [test for test in tests if test not in below]
    told = [{"type": "start", "measured": False}, *(dict(record, type="collect") for record in broken), {"type": "finish"}]
    for number, record in enumerate(told):
        append(report_path, dict(record, n=number))
    return 1 if broken else 0


def begin(tests: list[str], env: dict[str, str], report_path: str) -> int:
    """Start pytest on tests; where it cannot start, without the project's options."""
    command = [sys.executable, "-m", "pytest", "-p", "reviewbot_pytest", *QUIET, *words(tests)]
    targets = [os.path.join(".", test) for test in tests]
    code = 0
    for attempt, extra in enumerate(([], ["-o", "addopts="], ["-o", "addopts=", "-W", "default"])):
        append(report_path, {"type": "attempt", "number": attempt})
        code = subprocess.call([*command, *extra, "--", *targets], env=env)
        if has_begun(report_path):
            break
    return code


def conftest(report_path: str) -> dict[str, Any]:
    """The ``conftest.py`` that could not be loaded, as a record; empty where there is none."""
    with open(report_path, encoding="utf-8") as file:
        last = json.loads(file.readlines()[-1])
    return {key: value for key, value in last.items() if key != "type"} if last["type"] == "conftest" else {}


def words(tests: list[str]) -> list[str]:
    """What keeps plug-ins that are installed from changing the run, and slow ones out of it."""
    found = [word for module, tamed in TAMED if is_here(module) for word in tamed]
    if is_here("hypothesis") and not any(b"hypothesis" in content(path) for path in readable(tests)):
        found += ["-p", "no:hypothesispytest"]
    return found


def is_here(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def readable(tests: list[str]) -> Iterator[str]:
    """The files in which a project would name a plug-in that it uses."""
    yield from CONFIGURATIONS
    for path in sorted({test.partition("::")[0] for test in tests}):
        yield path
        folder = os.path.dirname(path)
        while folder:
            yield os.path.join(folder, "conftest.py")
            folder = os.path.dirname(folder)


def content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def environment(spec: dict[str, Any], report_path: str) -> dict[str, str]:
    tree = os.getcwd()
    folders = [folder for folder in (os.path.join(tree, "src"), tree) if os.path.isdir(folder)]
    return dict(
        os.environ,
        PYTHONPATH=os.pathsep.join([*folders, HERE]),
        PYTHONDONTWRITEBYTECODE="1",
        PYTHONHASHSEED="0",
        COVERAGE_CORE="ctrace",
        REVIEWBOT_REPORT=report_path,
        REVIEWBOT_MEASURE=json.dumps(spec["measure"]),
    )


def has_begun(report_path: str) -> bool:
    with open(report_path, "rb") as file:
        return b'{"type": "start"' in file.read()


def append(report_path: str, record: dict[str, Any]) -> None:
    with open(report_path, "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
