"""Where documents go."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from reviewbot.cli.output import deliver, wants_color
from reviewbot.errors import OutputError


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_file_is_written_whole_and_keeps_its_mode(tmp_path: Path):
    path = tmp_path / "report.json"
    path.write_text("old")
    path.chmod(0o640)
    deliver("{}", path)
    assert path.read_text() == "{}\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path):
    deliver("x", tmp_path / "new")
    (tmp_path / "like").write_text("x")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "like").stat().st_mode


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    deliver("new", tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new\n"


def test_a_device_is_written_to_as_it_is():
    deliver("x", Path("/dev/null"))
    assert Path("/dev/null").is_char_device()


def test_a_lone_surrogate_is_escaped(tmp_path: Path):
    deliver("\udcff", tmp_path / "x")
    assert (tmp_path / "x").read_text() == "\\udcff\n"


@pytest.mark.parametrize("name", ["missing/report", "file/report"])
def test_a_file_that_cannot_be_written_is_told(tmp_path: Path, name: str):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        deliver("x", tmp_path / name)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_device_is_told():
    with pytest.raises(OutputError, match="No space left"):
        deliver("x", Path("/dev/full"))


@pytest.mark.parametrize(
    ("choice", "stream", "environ", "wanted"),
    [
        ("auto", Terminal(), {}, True),
        ("auto", Terminal(), {"NO_COLOR": "1"}, False),
        ("auto", Terminal(), {"NO_COLOR": ""}, True),
        ("auto", Terminal(), {"TERM": "dumb"}, False),
        ("auto", io.StringIO(), {}, False),
        ("auto", None, {}, False),
        ("always", io.StringIO(), {"NO_COLOR": "1"}, True),
        ("never", Terminal(), {}, False),
    ],
)
def test_colour_is_for_terminals_that_want_it(choice: str, stream, environ: dict[str, str], wanted: bool):
    assert wants_color(choice, stream, environ) is wanted


def test_the_umask_is_left_as_it_was(tmp_path: Path):
    before = os.umask(0o027)
    try:
        deliver("x", tmp_path / "x")
        assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
