"""Runs pytest with the plugin beside it, without the import of pytest, which takes long."""

from __future__ import annotations

import os
import subprocess
import sys

REPORT = "/out/pytest.jsonl"
USAGE_ERROR = 4


def main(arguments: list[str]) -> int:
    """Run pytest with the project's options, or without them if they do not work here.

    Options of the project may need plugins that are not installed, or start workers that report
    nothing.
    """
    command = [sys.executable, "-m", "pytest", "-p", "reviewbot_pytest", "-p", "no:cacheprovider"]
    command += ["-q", "--continue-on-collection-errors"]
    code = 0
    for options in (
        ["-p", "no:xdist", "-p", "no:cov", "-p", "no:randomly", "-p", "no:rerunfailures"],
        ["-o", "addopts="],
    ):
        code = subprocess.call(command + options + arguments)
        if code != USAGE_ERROR or os.path.getsize(REPORT):
            break
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
