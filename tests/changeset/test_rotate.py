"""The rotation of an audit: everything comes in its turn, what is risky first and more often, and the rest is said."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from reviewbot.changeset.pack import cost
from reviewbot.changeset.rotate import LATER, turn
from reviewbot.changeset.select import Scope
from reviewbot.domain.audit import Rotation, file_mark
from reviewbot.domain.change import FileChange, FileKind, FileStatus, Hunk

NAMES = ("src/login.py", "src/a.py", "src/b.py", "src/c.py", "data.toml", "tests/test_a.py", "README.md")


def a_file(path: str, lines: int = 100, blob: str = "1") -> FileChange:
    rows = tuple(b"+x = %d" % number for number in range(lines))
    hunk = Hunk("H1", 0, 0, 1, lines, b"", rows)
    return FileChange(path, None, FileStatus.ADDED, FileKind.TEXT, 0, 0o100644, None, blob, lines, 0, (hunk,))


def a_tree(*paths: str) -> Scope:
    return Scope(tuple(map(a_file, paths or NAMES)))


def room_for(files: int) -> int:
    return files * cost(a_file("x")) + 1


def read(*paths: str, at: int, before: Rotation | None = None) -> Rotation:
    marks = [file_mark(path, "1") for path in NAMES]
    return (before or Rotation()).after([file_mark(path, "1") for path in paths], at, standing=marks)


def shown(scope: Scope, files: int, rotation: Rotation | None = None) -> list[str]:
    return [file.path for file in turn(scope, room_for(files), rotation or Rotation()).shown]


def test_without_a_budget_everything_is_shown() -> None:
    made = turn(a_tree(), None, Rotation())
    assert [file.path for file in made.shown] == list(NAMES)
    assert made.scope.coverage == ()


def test_what_is_risky_comes_first_and_the_order_of_the_tree_stays() -> None:
    assert shown(a_tree("src/a.py", "README.md", "src/login.py"), 2) == ["src/a.py", "src/login.py"]


def test_what_comes_later_is_said_and_out_of_this_audit_s_scope() -> None:
    made = turn(a_tree(), room_for(3), Rotation())
    waiting = {item.path: (item.reason, item.ignored) for item in made.scope.coverage}
    assert set(waiting) == set(NAMES) - {file.path for file in made.shown}
    assert set(waiting.values()) == {(LATER, True)}
    assert len(made.scope.files) == len(NAMES), "checks look at the whole tree"


def test_what_nobody_read_comes_before_what_somebody_read() -> None:
    assert shown(a_tree(), 2, read("src/login.py", "src/a.py", at=100)) == ["src/b.py", "src/c.py"]


def test_a_file_that_changed_was_not_read_as_it_stands() -> None:
    everything = read(*NAMES, at=100)
    files = tuple(replace(file, new_id="2") if file.path == "README.md" else file for file in a_tree().files)
    assert shown(Scope(files), 1, everything) == ["README.md"]


def test_among_files_that_were_read_the_longest_wait_wins_and_risk_counts() -> None:
    day = 86_400
    long_ago = read("README.md", "src/a.py", at=10 * day)
    lately = read(*(set(NAMES) - {"README.md", "src/a.py"}), at=19 * day, before=long_ago)
    assert shown(a_tree(), 1, lately) == ["src/a.py"]
    assert shown(a_tree("README.md", "src/login.py"), 1, read("src/login.py", at=17 * day, before=long_ago)) == ["README.md"]
    newest = read("data.toml", at=18 * day, before=read("src/login.py", at=15 * day, before=long_ago))
    assert shown(a_tree("README.md", "src/login.py"), 1, newest) == ["src/login.py"], "three days of a risk are twelve of prose"


def test_a_file_that_never_fits_leaves_a_gap() -> None:
    made = turn(Scope((a_file("src/a.py"), a_file("src/huge.py", 10_000))), room_for(2), Rotation())
    (gap,) = made.scope.coverage
    assert gap.path == "src/huge.py"
    assert not gap.ignored
    assert "limits.tokens" in (gap.reason or "")


@given(st.lists(st.sampled_from(NAMES), min_size=2, unique=True), st.integers(1, 4), st.integers(1, 5))
def test_every_file_has_its_turn(paths: list[str], files: int, days: int) -> None:
    rotation, scope, at, seen = Rotation(), a_tree(*paths), 0, set[str]()
    for _ in range(3 * len(paths)):
        now = shown(scope, files, rotation)
        assert len(now) == min(files, len(paths))
        at += days
        rotation = read(*now, at=at, before=rotation)
        seen |= set(now)
    assert seen == set(paths)


@given(st.integers(1, 3))
def test_no_file_waits_for_ever_once_all_were_read(files: int) -> None:
    rotation, seen = read(*NAMES, at=1), set[str]()
    for day in range(2, 60):
        now = shown(a_tree(), files, rotation)
        rotation = read(*now, at=day, before=rotation)
        seen |= set(now)
    assert seen == set(NAMES)
