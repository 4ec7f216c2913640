"""One at a time, however many come."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from reviewbot.adapters.git.writing.room import Room
from tests.writing.stage import Child

TURNS, PROCESSES = 60, 5


def test_nobody_ever_holds_the_lock_with_another(tmp_path: Path) -> None:
    """The file is removed at each end, and must not be locked by one who opened it before."""
    counter = tmp_path / "counter"
    counter.write_text("0")

    def count() -> None:
        for _ in range(TURNS):
            with Room(tmp_path, 60).alone():
                seen = int(counter.read_text())
                counter.write_text(str(seen + 1))

    with ExitStack() as stack:
        children = [stack.enter_context(Child(count)) for _ in range(PROCESSES)]
        assert [child.status() for child in children] == [0] * PROCESSES
    assert counter.read_text() == str(TURNS * PROCESSES)
