"""Runs pytest with the plugin beside it, and imports little: every run of tests waits for it."""

from __future__ import annotations

import os
import runpy
import sys
from itertools import product

REPORT = "/out/pytest.jsonl"
USAGE_ERROR = 4
NOT_RUN = (3, USAGE_ERROR, 5)  # a hook of a conftest.py raises, or leaves no test over
# A test for a claim, and where fixtures of the project may be, beside which it can use them.
REPRODUCTION, FIXTURES = "test_reviewbot_reproduction.py", ("tests/conftest.py", "test/conftest.py")
# Tests run once, one after the other and in their order, and are measured by us alone. Where these
# plugins are installed, the project may name their options, so they stay.
PLUGINS = {
    "pytest_cov": ["--no-cov"],
    "pytest_randomly": ["--randomly-dont-reorganize", "--randomly-seed=1"],
    "pytest_rerunfailures": ["--reruns=0"],
    "xdist": ["-n0"],
}
# Where a project has no pytest, reviewbot's runs. Tests see no package beside it, such as Pygments.
LENT_CODE = """import os, sys
sys.path[:] = [os.getcwd(), *sys.path[1:], os.environ["REVIEWBOT_PACKAGES"]]
import packaging.version  # of the project, if it has one
sys.path.insert(0, sys.path.pop())
from _pytest.config import get_config, main
get_config()  # imports all of pytest
del sys.path[0]
for name in [n for n in sys.modules if n.startswith(("iniconfig", "pluggy", "pygments"))]:
    del sys.modules[name]
sys.exit(main())
"""
LENT = ("-c", LENT_CODE, "--disable-plugin-autoload")


def main(arguments: list[str]) -> int:
    """Run pytest with the project's options, or without them if a plugin for them is missing.

    A test for a claim runs at the top if it does not run beside the file with fixtures.
    """
    is_lent = sys.version_info >= (3, 11) and not is_installed("pytest")
    words = [*(LENT if is_lent else ("-m", "pytest")), "--maxfail=0", "--tb=auto"]
    words += ["-p", "reviewbot_pytest", "-q", "--color=no", "--continue-on-collection-errors"]
    alone = [option for name in PLUGINS if is_installed(name) for option in PLUGINS[name]]
    no_options = ["-o", "addopts=", "-o", "required_plugins="]
    ways = [arguments]
    if beside := REPRODUCTION in arguments and next(filter(os.path.exists, FIXTURES), ""):
        moved = beside.replace("conftest.py", REPRODUCTION)
        os.link(REPRODUCTION, f"{beside}.new")
        os.replace(f"{beside}.new", moved)  # the change may have one
        ways.insert(0, [moved if name == REPRODUCTION else name for name in arguments])
    for names, options in product(ways, (alone, alone + no_options, no_options)):
        code = run(words + options + names)
        with open(REPORT, "rb") as report:
            text = report.read()
        # With --strict-config, pytest collects tests before it stops.
        is_broken = bool(text) and b"has_finished" not in text
        if (code != USAGE_ERROR or is_broken) if names == arguments else code not in NOT_RUN:
            break
        os.truncate(REPORT, 0)
    return code


def run(words: list[str]) -> int:
    """Run pytest in a copy of this process, which takes less time to start than another Python."""
    pid = os.fork()
    if pid:
        _, status = os.waitpid(pid, 0)
        return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    if words[0] != "-m":
        os.execv(sys.executable, [sys.executable, *words])
    sys.argv, sys.path[0] = words[1:], os.getcwd()
    runpy.run_module("pytest", run_name="__main__", alter_sys=True)
    sys.exit()


def is_installed(name: str) -> bool:
    return any(finder.find_spec(name, None) for finder in sys.meta_path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
