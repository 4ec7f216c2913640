"""The small commands, from outside: init, config, schema, doctor, and the demo's repository."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reviewbot import cli
from reviewbot.cli import diagnosis, specimen
from reviewbot.cli.demo import show
from reviewbot.cli.diagnosis import Diagnosis
from reviewbot.cli.options import ReviewArguments
from tests.cli.planted import KEY
from tests.repo import Repo


@pytest.fixture(autouse=True)
def a_user_of_their_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Nothing of this machine's user is read or written."""
    home = tmp_path / "home-of-the-user"
    home.mkdir()
    for variable in [name for name in os.environ if name.startswith(("REVIEWBOT_", "XDG_"))]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(tmp_path)
    return home


def test_init_writes_a_file_at_the_top_that_validates(git_repo: Repo, capfd):
    below = git_repo.path / "deep" / "down"
    below.mkdir(parents=True)
    assert cli.main(["init", "-C", str(below)]) == 0
    written = git_repo.path / ".reviewbot.yml"
    assert written.read_text().startswith("# Configuration of reviewbot")
    assert "config validate" in capfd.readouterr().err
    assert cli.main(["config", "validate", "-C", str(below)]) == 0
    assert capfd.readouterr().out == f"{written}: valid\n"


def test_init_overwrites_only_when_told_to(git_repo: Repo, capfd):
    path = git_repo.path / ".reviewbot.yml"
    path.write_text("version: 1\n")
    assert cli.main(["init", "-C", str(git_repo.path)]) == 2
    assert "--force" in capfd.readouterr().err
    assert path.read_text() == "version: 1\n"
    assert cli.main(["init", "-q", "--force", "-C", str(git_repo.path)]) == 0
    assert "# debate:" in path.read_text()
    assert capfd.readouterr().err == ""


def test_init_follows_no_link_out_of_the_repository(git_repo: Repo, tmp_path: Path):
    (tmp_path / "elsewhere").write_text("mine")
    (git_repo.path / ".reviewbot.yml").symlink_to(tmp_path / "elsewhere")
    assert cli.main(["init", "--force", "-C", str(git_repo.path)]) == 2
    assert (tmp_path / "elsewhere").read_text() == "mine"


def test_init_can_print_instead(tmp_path: Path, capfd):
    assert cli.main(["init", "--stdout", "-C", str(tmp_path)]) == 0
    assert capfd.readouterr().out.startswith("# Configuration")
    assert not (tmp_path / ".reviewbot.yml").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("debate: {round: 1}", "did you mean 'debate.rounds'?"),
        ("setup: [make]", "is an operator key"),
        (None, "cannot read"),
    ],
)
def test_an_invalid_file_is_exit_2_and_one_line(tmp_path: Path, capfd, text: str | None, words: str):
    path = tmp_path / "some.yml"
    if text is not None:
        path.write_text(text)
    assert cli.main(["config", "validate", str(path)]) == 2
    said = capfd.readouterr()
    assert words in said.err
    assert (said.out, said.err.count("\n")) == ("", 1)


def test_a_user_file_may_hold_operator_keys(a_user_of_their_own: Path):
    path = a_user_of_their_own / ".config" / "reviewbot" / "config.yml"
    path.parent.mkdir(parents=True)
    path.write_text("setup: [make]\n")
    assert cli.main(["config", "validate", str(path)]) == 0


def test_a_directory_without_configuration_says_so(tmp_path: Path, capfd):
    assert cli.main(["config", "validate", "-C", str(tmp_path)]) == 2
    assert "reviewbot init" in capfd.readouterr().err


def test_config_show_tells_every_value_and_its_origin(git_repo: Repo, capfd, monkeypatch, a_user_of_their_own: Path):
    git_repo.write(".reviewbot.yml", f"debate: {{rounds: 1}}\nreview:\n  ignore: [{KEY}]\nlimits: {{seconds: 9999}}\n")
    git_repo.commit()
    git_repo.write(".reviewbot.yml", "debate: {rounds: 5}\n")
    users = a_user_of_their_own / ".config" / "reviewbot" / "config.yml"
    users.parent.mkdir(parents=True)
    users.write_text("limits: {seconds: 77}\n")
    monkeypatch.setenv("REVIEWBOT__DISPLAY__LIVE", "true")
    assert cli.main(["config", "show", "--color", "never", "-C", str(git_repo.path)]) == 0
    said = capfd.readouterr()
    rows = {line.split()[0]: line for line in said.out.splitlines()}
    assert rows["debate.rounds"].split(maxsplit=1)[1].split() == ["1", "#", ".reviewbot.yml", "line", "1"]
    assert rows["limits.seconds"].endswith("config.yml line 1")
    assert "77" in rows["limits.seconds"]
    assert rows["display.live"].endswith("# environment REVIEWBOT__DISPLAY__LIVE")
    assert rows["display.color"].endswith("# --color")
    assert rows["sandbox"].endswith("# default")
    assert KEY not in said.out
    assert "limits.seconds: 9999.0 in .reviewbot.yml line 4 is looser than the operator allows" in said.err


def test_config_show_hides_credentials_of_the_ledger(tmp_path: Path, capfd, monkeypatch):
    monkeypatch.setenv("REVIEWBOT__LEDGER", "postgresql://someone:hunter@2/x@db.example/reviews")
    assert cli.main(["config", "show", "-C", str(tmp_path)]) == 0
    said = capfd.readouterr().out
    assert "postgresql://***@db.example/reviews" in said
    assert "hunter" not in said


def test_config_show_reads_a_named_environment_file(tmp_path: Path, capfd):
    (tmp_path / "some.env").write_text("REVIEWBOT__DEBATE__ROUNDS=4\n")
    assert cli.main(["config", "show", "--env-file", str(tmp_path / "some.env"), "-C", str(tmp_path)]) == 0
    rows = {line.split()[0]: line.split()[1] for line in capfd.readouterr().out.splitlines()}
    assert rows["debate.rounds"] == "4"


@pytest.mark.parametrize("document", ["review", "evidence", "config"])
def test_every_schema_is_printed_alone(document: str, capfd):
    assert cli.main(["schema", document]) == 0
    said = capfd.readouterr()
    assert json.loads(said.out)["$schema"].endswith("2020-12/schema")
    assert not said.err


def test_doctor_tells_what_is_there_and_never_a_key(git_repo: Repo, capfd, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-value")
    assert cli.main(["doctor", "-C", str(git_repo.path), "--color", "never"]) == 0
    said = capfd.readouterr()
    found = {line.split()[1] for line in said.out.splitlines() if not line.startswith(" ")}
    assert found >= {"git", "ruff", "pytest", "coverage", "state", "keys", "repository", "sandbox", "anthropic", "ledger"}
    assert "OPENAI_API_KEY" in said.out
    assert "canary" not in said.out + said.err


def test_doctor_tells_a_key_under_a_name_of_ones_own(tmp_path: Path, capfd, monkeypatch):
    monkeypatch.setenv("REVIEWBOT__PROVIDERS__GPU__API_KEY_ENV", "MY_GPU")
    monkeypatch.setenv("MY_GPU", "canary")
    assert cli.main(["doctor", "-C", str(tmp_path), "--color", "never"]) == 0
    said = capfd.readouterr().out
    assert "found MY_GPU" in said
    assert "canary" not in said


def test_doctor_tells_a_wrong_configuration_beside_everything_else(tmp_path: Path, capfd, monkeypatch):
    monkeypatch.setenv("REVIEWBOT__DEBATE__ROUNDS", "many")
    assert cli.main(["doctor", "-C", str(tmp_path), "--color", "never"]) == 3
    said = capfd.readouterr().out
    assert "bad   config" in said
    assert "debate.rounds is 'many'" in said
    assert "ok    git" in said


def test_a_missing_library_is_missed_where_a_key_asks_for_it():
    def looked_at(environ: dict[str, str]) -> Diagnosis:
        return diagnosis.extra("some", "no-such-distribution", "SOME_API_KEY", environ=environ, loss="nothing works")

    assert looked_at({}).state == "ok"
    assert looked_at({}).text == "no-such-distribution is not installed: nothing works"
    found = looked_at({"SOME_API_KEY": "canary"})
    assert (found.state, found.next_step) == ("warn", "pip install 'reviewbot[some]'")
    assert "canary" not in str(found)
    assert diagnosis.extra("x", "click", "", environ={}, loss="").state == "ok"


def test_doctor_without_git_is_exit_3_with_the_next_step(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-m", "reviewbot.cli", "doctor"],
        env={"PATH": str(tmp_path), "HOME": str(tmp_path), "PYTHONPATH": str(Path(cli.__file__).parents[2])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 3, done.stderr
    assert "apt-get install git" in done.stdout


def test_only_what_is_broken_fails_the_examination():
    assert diagnosis.exit_code([Diagnosis("a", "ok", ""), Diagnosis("b", "warn", "", "do")]) == 0
    assert diagnosis.exit_code([Diagnosis("a", "ok", ""), Diagnosis("b", "bad", "", "do")]) == 3


def test_a_state_directory_that_cannot_be_made_is_told(tmp_path: Path):
    (tmp_path / "file").write_text("")
    assert diagnosis.state_folder(tmp_path / "file" / "below").state == "warn"
    assert diagnosis.state_folder(tmp_path / "new" / "below").state == "ok"
    assert not (tmp_path / "new").exists()


@pytest.mark.ci
def test_the_demo_repository_breaks_its_own_test_and_cleans_up(capfd):
    seen: list[Path] = []

    def review(arguments: ReviewArguments) -> int:
        seen.append(arguments.repo)
        runs = []
        for revision in ("main~1", "main"):
            subprocess.run(["git", "checkout", "-q", revision], cwd=arguments.repo, check=True)
            pytest_run = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
            runs.append(subprocess.run(pytest_run, cwd=arguments.repo, capture_output=True, text=True, check=False))
        assert [run.returncode for run in runs] == [0, 1]
        assert "1 failed, 3 passed" in runs[1].stdout
        return 7

    assert show(ReviewArguments(target="HEAD"), review=review) == 7
    assert not seen[0].exists()
    said = capfd.readouterr().err
    assert all(line in said for line in specimen.planted_lines())


def test_the_specimen_is_planted_where_it_says():
    for path, text, _ in specimen.PLANTED:
        lines = [line for line in specimen.AFTER[path].splitlines() if text in line]
        assert len(lines) == 1, (path, text)
        assert text not in specimen.BEFORE.get(path, "") or text == "def label"
    source = Path(specimen.__file__).read_text(encoding="utf-8")
    assert specimen.KEY not in source
    assert specimen.OVERRIDE not in source


def test_the_demo_says_what_to_do_without_git(monkeypatch, tmp_path: Path, capfd):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cli.main(["demo"]) == 2
    assert "apt-get install git" in capfd.readouterr().err
