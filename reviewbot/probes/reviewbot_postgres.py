"""Runs SQL in a PostgreSQL cluster of its own that is thrown away: no network, one Unix socket, always stopped.

Usage: ``python -I reviewbot_postgres.py check FILE.sql [seconds=60]``
       ``python -I reviewbot_postgres.py migrations SPEC.json [base_tree=DIR] [head_tree=DIR] [report=FILE]``

``check`` gives FILE to psql in the working directory, in an empty database, with ON_ERROR_STOP; psql's output is its own.
``migrations`` is described in ``reviewbot_migrations``. Words NAME=VALUE take the place of what SPEC says.

Exit code 0: all is well; 1: the trouble shows; 3: it could not be run here, with the reason as the last line of standard error.
Python 3.8 and later, PostgreSQL 12 and later; imports nothing of reviewbot but the two programs beside it.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback

if sys.flags.isolated:  # it leaves out this folder
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from reviewbot_cluster import CannotRun, Cluster, catch_signals
from reviewbot_migrations import Examination, Report

WELL, TROUBLE, NOT_HERE = 0, 1, 3
SECONDS = 60


def main(argv: list[str]) -> int:
    catch_signals()
    try:
        mode, file, *rest = argv
        return MODES[mode](file, dict(word.split("=", 1) for word in rest))
    except CannotRun as exc:
        reason = str(exc)
    except Exception as exc:  # the one catcher of this program: an exit code of 1 would say that the head is wrong
        traceback.print_exc()
        reason = f"{type(exc).__name__}: {exc}"
    print(" ".join(reason.split()), file=sys.stderr)
    return NOT_HERE


def check(file: str, options: dict[str, str]) -> int:
    with Cluster(time.monotonic() + float(options.get("seconds", SECONDS))) as cluster:
        cluster.psql("-c", "CREATE DATABASE reviewbot_check")
        code = cluster.psql("-d", "reviewbot_check", "-f", file, quiet=False).returncode
    if code == 1:
        raise CannotRun("psql could not do its work: does the file exist?")
    return TROUBLE if code else WELL


def migrations(file: str, options: dict[str, str]) -> int:
    with open(file, encoding="utf-8") as handle:
        spec = dict(json.load(handle), **options)
    report = Report()
    try:
        sound = Examination(spec, report, time.monotonic() + float(spec.get("seconds", SECONDS))).run()
    finally:
        report.write(spec["report"])
    return WELL if sound else TROUBLE


MODES = {"check": check, "migrations": migrations}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
