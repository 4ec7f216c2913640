"""How a job's files come to lie in its copy of the tree, at every level; and what else of the trees it sees."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reviewbot.adapters import sandbox
from reviewbot.adapters.sandbox.laying import Unlayable, in_the_way, lay, remove
from reviewbot.domain.evidence import Side
from reviewbot.ports import Ended
from tests.sandboxes import open_room, python, shell

LIST = """
import os
for place, folders, files in sorted(os.walk(".")):
    for name in sorted(folders + files):
        path = os.path.join(place, name)
        kind = "link" if os.path.islink(path) else "folder" if os.path.isdir(path) else open(path).read()
        print(os.path.relpath(path), kind)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "head"
    (folder / "src" / "deep").mkdir(parents=True)
    (folder / "src" / "a.py").write_text("a")
    (folder / "src" / "deep" / "b.py").write_text("b")
    (folder / "conf").write_text("file")
    (folder / "way").symlink_to("src")
    return folder


@pytest.fixture
def base(tmp_path: Path) -> Path:
    folder = tmp_path / "base"
    folder.mkdir()
    (folder / "older.txt").write_text("as it was")
    return folder


@pytest.fixture(params=["bubblewrap", "unconfined", "container"])
def room(request: pytest.FixtureRequest, tree: Path, base: Path) -> Iterator[sandbox.ClosableSandbox]:
    opened = open_room(request.param, tree, base=base)
    yield opened
    opened.close()


def listing(room: sandbox.ClosableSandbox, **fields: object) -> list[str]:
    outcome = python(room, LIST, **fields)
    assert outcome.exit_code == 0, outcome
    return outcome.stdout.decode().splitlines()


def test_files_are_taken_out_of_the_copy(room: sandbox.ClosableSandbox, tree: Path) -> None:
    assert listing(room, without=("src/a.py", "way", "not/there")) == [
        "conf file",
        "src folder",
        "src/deep folder",
        "src/deep/b.py b",
    ]
    assert (tree / "src" / "a.py").exists()


def test_what_was_taken_out_can_be_laid_in_anew(room: sandbox.ClosableSandbox) -> None:
    assert "src/a.py new" in listing(room, without=("src/a.py",), overlay=(("src/a.py", b"new"),))


def test_a_file_takes_the_place_of_a_folder(room: sandbox.ClosableSandbox) -> None:
    assert listing(room, overlay=(("src", b"now a file"),)) == ["conf file", "src now a file", "way link"]


def test_a_folder_takes_the_place_of_a_file_and_of_a_link(room: sandbox.ClosableSandbox) -> None:
    found = listing(room, overlay=(("conf/inner/x", b"1"), ("way/a.py", b"2")))
    assert {"conf folder", "conf/inner folder", "conf/inner/x 1", "way folder", "way/a.py 2", "src/a.py a"} <= set(found)


def test_nothing_is_taken_out_by_way_of_a_link(room: sandbox.ClosableSandbox) -> None:
    assert "src/a.py a" in listing(room, without=("way/a.py",))


@pytest.mark.parametrize("name", ["../conf", "/conf", "", "a/./b"])
def test_a_name_that_leads_elsewhere_is_refused(room: sandbox.ClosableSandbox, name: str) -> None:
    outcome = shell(room, "true", without=(name,))
    assert outcome.ended is Ended.REFUSED
    assert "no name for a file" in outcome.reason


def test_names_of_any_letters_are_taken_out(tmp_path: Path, tree: Path, base: Path) -> None:
    odd = ("-rf", "a b\n c", "ü", "*")
    for name in odd:
        (tree / name).write_text("odd")
    for level in ("bubblewrap", "unconfined"):
        found = listing(open_room(level, tree, base=base), without=odd)
        assert not any("odd" in line for line in found)
        assert "src/a.py a" in found


def test_another_tree_can_be_read_beside(room: sandbox.ClosableSandbox, base: Path) -> None:
    outcome = shell(room, "cat conf; cat {beside}/older.txt; rm -rf {beside}/older.txt; true", beside=Side.BASE)
    assert outcome.stdout == b"fileas it was"
    assert (base / "older.txt").exists()


def test_another_tree_is_there_without_one_of_its_own(room: sandbox.ClosableSandbox) -> None:
    assert shell(room, "cat {beside}/conf", tree=None, beside=Side.HEAD).stdout == b"file"


def test_a_job_that_asks_for_no_other_tree_has_none(room: sandbox.ClosableSandbox) -> None:
    assert shell(room, "echo '{beside}'").stdout == b"{beside}\n"


NAMES = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map("/".join)


@given(
    files=st.lists(NAMES, max_size=5),
    links=st.lists(NAMES, max_size=2),
    without=st.lists(NAMES, max_size=3),
    overlay=st.lists(NAMES, max_size=3, unique=True),
)
def test_whatever_stands_there_what_is_laid_in_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, files: list[str], links: list[str], without: list[str], overlay: list[str]
) -> None:
    assume(not any(other.startswith(f"{name}/") for name in overlay for other in overlay))
    folder = tmp_path_factory.mktemp("laid")
    outside, tree = folder / "outside", folder / "tree"
    (outside / "a").mkdir(parents=True)
    (outside / "kept").write_text("kept")
    tree.mkdir()
    for name in files:
        try:
            lay(tree, name, b"old")
        except Unlayable:
            continue
    for name in links:
        if not os.path.lexists(tree / name) and (tree / name).parent.is_dir() and not (tree / name.split("/")[0]).is_symlink():
            (tree / name).symlink_to(outside)
    before = {name for name in without if (tree / name).is_file() and not (tree / name).is_symlink()}
    remove(tree, in_the_way(tree, tuple(without), tuple(overlay)))
    for name in overlay:
        (tree / name).unlink(missing_ok=True)
        lay(tree, name, name.encode())
    for name in overlay:
        assert (tree / name).read_bytes() == name.encode()
    assert not [name for name in before if (tree / name).is_file() and (tree / name).read_bytes() == b"old"]
    assert sorted(path.name for path in outside.rglob("*")) == ["a", "kept"]
