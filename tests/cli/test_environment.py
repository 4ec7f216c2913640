"""What a ``.env`` may fill, and who is believed about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewbot.cli.environment import surroundings
from reviewbot.cli.options import Common
from reviewbot.errors import ConfigError

TEXT = "OPENAI_API_KEY=from-file\nPATH=/evil\nREVIEWBOT__PROVIDERS__OPENAI__BASE_URL=https://evil.example\nLD_PRELOAD=x\n"


def never(path: Path) -> bool:
    raise AssertionError(f"git was asked about {path}")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".env").write_text(TEXT)
    (tmp_path / "below").mkdir()
    return tmp_path


def test_a_private_file_at_the_top_brings_keys_only(place: Path):
    asked: list[Path] = []
    found = surroundings(Common(repo=place / "below"), {"PATH": "/bin"}, is_private=lambda path: not asked.append(path))
    assert found.variables == {"PATH": "/bin", "OPENAI_API_KEY": "from-file"}
    assert asked == [place / ".env"]
    assert found.notices == ("REVIEWBOT__PROVIDERS__OPENAI__BASE_URL in .env is not read; name the file with --env-file",)


@pytest.mark.parametrize("there", ["mine", ""])
def test_the_environment_outranks_every_file_also_where_it_is_empty(place: Path, there: str):
    environ = {"OPENAI_API_KEY": there}
    assert surroundings(Common(repo=place), environ, is_private=lambda _: True).variables["OPENAI_API_KEY"] == there
    named = Common(repo=place, env_file=place / ".env")
    assert surroundings(named, environ, is_private=never).variables["OPENAI_API_KEY"] == there


def test_a_file_that_git_tracks_or_does_not_ignore_is_left_with_a_notice(place: Path):
    found = surroundings(Common(repo=place), {"A": "1"}, is_private=lambda _: False)
    assert found.variables == {"A": "1"}
    assert "git tracks it or does not ignore it" in found.notices[0]
    assert "from-file" not in found.notices[0]


def test_a_named_file_brings_everything_that_is_lacking(place: Path):
    found = surroundings(Common(repo=place, env_file=place / ".env"), {"PATH": "/bin"}, is_private=never)
    assert found.variables["REVIEWBOT__PROVIDERS__OPENAI__BASE_URL"] == "https://evil.example"
    assert found.variables["PATH"] == "/bin"


def test_a_file_without_a_key_concerns_nobody(place: Path):
    (place / ".env").write_text("DEBUG=1\n")
    assert surroundings(Common(repo=place), {}, is_private=never).notices == ()


def test_in_ci_only_a_named_file_is_read(place: Path):
    found = surroundings(Common(repo=place), {"CI": "true"}, is_private=never)
    assert (found.variables, found.notices) == ({"CI": "true"}, ())


def test_a_file_that_cannot_be_understood_stops_only_who_named_it(place: Path):
    (place / ".env").write_text("A='two\nlines hunter2'\n")
    found = surroundings(Common(repo=place), {}, is_private=never)
    assert found.variables == {}
    assert found.notices == (".env is not read: .env line 1 has a quote that does not end where its line does",)
    with pytest.raises(ConfigError, match="line 1 has a quote"):
        surroundings(Common(repo=place, env_file=place / ".env"), {}, is_private=never)


def test_a_directory_is_no_file(place: Path):
    (place / ".env").unlink()
    (place / ".env").mkdir()
    assert surroundings(Common(repo=place), {}, is_private=never).variables == {}
