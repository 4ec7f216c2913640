"""A process that reviews: makes calls against one ledger, and notes in a file each time it really makes one.

Arguments: the ledger, the file of notes, the name of the run, how many calls, and what to do:
``race`` all calls from several threads, each outcome settled, and then noted as kept; ``die`` by SIGKILL between the first claim and its settlement;
``hold`` a claim and say so on stdout, until stdin ends, then settle.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from reviewbot.adapters.store.opening import OpenSession, open_store
from tests.store.samples import answered, plan, wanted


def note(where: Path, words: str) -> None:
    handle = os.open(where, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, f"{words}\n".encode())
    os.close(handle)


def make(opened: OpenSession, number: int, notes: Path) -> str:
    found = opened.calls.claim(wanted(number))
    if found is None:
        note(notes, str(number))
        time.sleep(0.005)
        found = answered(f"answer {number}")
        opened.calls.settle(wanted(number), found)
        note(notes, f"kept {number}")
    return found.document


def race(opened: OpenSession, numbers: list[int], notes: Path) -> None:
    random.Random(os.getpid()).shuffle(numbers)
    with ThreadPoolExecutor(4) as threads:
        documents = list(threads.map(lambda number: make(opened, number, notes), numbers))
    assert documents == [answered(f"answer {number}").document for number in numbers]


def main() -> None:
    where, notes, run, count, what = sys.argv[1:]
    with open_store(where) as store, store.begin(plan(run)) as opened:
        if what == "race":
            opened.session.keep("evidence", {"run": run})
            race(opened, list(range(int(count))), Path(notes))
        else:
            assert opened.calls.claim(wanted(0)) is None
            note(Path(notes), "0")
            print(opened.id, flush=True)
            if what == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            sys.stdin.read()
            opened.calls.settle(wanted(0), answered("from the other process"))


if __name__ == "__main__":
    main()
