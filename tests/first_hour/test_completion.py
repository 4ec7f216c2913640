"""Completion in real shells: commands, options, values, and what only this place knows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reviewbot import cli
from reviewbot.cli import completion, suggest
from tests.cli.test_startup import HEAVY
from tests.first_hour.terminal import Terminal
from tests.repo import Repo

PROGRAMS = Path(sys.prefix) / "bin"
LOADED = "import sys; from reviewbot.cli import main; main(); print('\\n'.join(sys.modules), file=sys.stderr)"

#: How a shell is started with nothing of its user's, and what makes it complete.
INTERACTIVE = {
    "bash": (("bash", "--norc", "--noprofile", "-i"), 'eval "$(reviewbot completion bash)"'),
    "zsh": (("zsh", "-f", "-i"), 'autoload -U compinit && compinit -u -D && eval "$(reviewbot completion zsh)"'),
}


def need(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed: sudo apt-get install {shell}")


def environment(home: Path) -> dict[str, str]:
    path = f"{PROGRAMS}:{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(home), "TERM": "dumb", "LC_ALL": "C.UTF-8", "PS1": "> "}


def asked(words: str, folder: Path, home: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """What the script of fish gets for these words; the last is being typed."""
    typed = words.rpartition(" ")[2]
    variables = {"_REVIEWBOT_COMPLETE": "fish_complete", "COMP_WORDS": f"reviewbot {words}", "COMP_CWORD": typed}
    return subprocess.run(
        [sys.executable, "-c", LOADED],
        cwd=folder,
        env={**environment(home), **variables, **more},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )


def offered(words: str, folder: Path, home: Path) -> list[str]:
    done = asked(words, folder, home)
    assert "reviewbot: " not in done.stderr, "a TAB is no place for words"
    return [line.partition(",")[2].partition("\t")[0] for line in done.stdout.splitlines() if line.startswith("plain,")]


@pytest.mark.ci
@pytest.mark.parametrize("shell", INTERACTIVE)
def test_a_tab_completes_in_a_real_shell(shell: str, tmp_path: Path, newcomer: Path) -> None:
    need(shell)
    words, set_up = INTERACTIVE[shell]
    with Terminal(words, tmp_path, environment(newcomer)) as terminal:
        terminal.type(f"{set_up}\necho rea''dy\n")
        terminal.read("ready")
        terminal.type("reviewbot compl\t")
        terminal.read("completion")
        terminal.type("fi\t")
        terminal.read("fish")
        terminal.type("\n")
        terminal.read("function _reviewbot_completion")
        terminal.type("exit\n")
        terminal.end()


def test_a_tab_completes_in_fish_as_it_tells_itself(tmp_path: Path, newcomer: Path) -> None:
    """fish asks its terminal questions that only a whole terminal answers; ``complete -C`` tells what a TAB would."""
    need("fish")
    script = "reviewbot completion fish | source; complete -C 'reviewbot compl'; complete -C 'reviewbot completion fi'"
    done = subprocess.run(
        ["fish", "--no-config", "-c", script],
        cwd=tmp_path,
        env=environment(newcomer),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.splitlines() == [f"completion\t{cli.COMMANDS['completion'][1]}", "fish"]


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_a_script_is_one_that_its_shell_takes_and_says_where_it_belongs(shell: str, capfd) -> None:
    need(shell)
    assert cli.main(["completion", shell]) == 0
    said = capfd.readouterr().out
    path, startup, line = completion.SHELLS[shell]
    assert all(words in said for words in (path, f"~/{startup}", line))
    assert said.startswith("#compdef reviewbot\n") == (shell == "zsh")
    subprocess.run([shell, "-n"], input=said, text=True, check=True, capture_output=True, timeout=60)


def test_the_shell_is_guessed_and_one_that_is_not_known_is_told(capfd, monkeypatch: pytest.MonkeyPatch) -> None:
    need("bash")
    monkeypatch.setenv("SHELL", "/usr/local/bin/bash")
    assert cli.main(["completion"]) == 0
    assert "complete -o nosort" in capfd.readouterr().out
    for known, words in (("/bin/csh", "$SHELL is 'csh'"), ("", "$SHELL does not say")):
        monkeypatch.setenv("SHELL", known)
        assert cli.main(["completion"]) == 2
        said = capfd.readouterr().err
        assert words in said
        assert "reviewbot completion bash|zsh|fish" in said


def test_names_of_commands_are_completed_without_importing_one(tmp_path: Path, newcomer: Path) -> None:
    done = asked("re", tmp_path, newcomer)
    assert done.stdout == f"plain,review\t{cli.COMMANDS['review'][1]}\n"
    loaded = set(done.stderr.split())
    assert not loaded & HEAVY
    assert {name for name in loaded if name.startswith("reviewbot.cli.")} <= {
        f"reviewbot.cli.{name}" for name in ("group", "completion", "output")
    }


@pytest.mark.parametrize(
    ("words", "offers"),
    [
        ("hook unin", ["uninstall"]),
        ("hook run pre-p", ["pre-push"]),
        ("config v", ["validate"]),
        ("review --format ht", ["html"]),
        ("review --fail-", ["--fail-on"]),
        ("schema conf", ["config"]),
        ("init --workflow for", ["forks"]),
        ("nonsense x", []),
        ("review --sandbox nonsense --fo", ["--format"]),
        ("'unclosed", []),
    ],
)
def test_what_fits_is_offered(words: str, offers: list[str], tmp_path: Path, newcomer: Path) -> None:
    assert offered(words, tmp_path, newcomer) == offers


def test_revisions_are_offered_and_none_that_a_shell_would_run(git_repo: Repo, newcomer: Path) -> None:
    git_repo.commit()
    for name in ("topic/one", "$(touch${IFS}x)", "a;b", "`x`", "-dash"):
        git_repo.git("update-ref", f"refs/heads/{name}", "HEAD")
    assert offered("review ", git_repo.path, newcomer) == ["main", "topic/one"]
    assert offered("review --base to", git_repo.path, newcomer) == ["topic/one"]
    assert offered("review main...to", git_repo.path, newcomer) == ["main...topic/one"]


@pytest.mark.ci
def test_outside_of_a_repository_nothing_is_offered_and_nothing_said(tmp_path: Path, newcomer: Path) -> None:
    for words in ("review ", "explain ", "sessions show "):
        done = asked(words, tmp_path, newcomer)
        assert done.stdout.strip() == ""
        assert "reviewbot: " not in done.stderr


@pytest.mark.ci
def test_findings_of_the_last_review_are_offered_with_their_titles(git_repo: Repo, newcomer: Path) -> None:
    git_repo.write("a.py", "def double(n, seen=[]):\n    return 2 * n\n")
    git_repo.commit()
    review = [sys.executable, "-m", "reviewbot.cli", "review", "-q"]
    subprocess.run(review, cwd=git_repo.path, env=environment(newcomer), check=True, capture_output=True, timeout=120)
    found = asked("explain f", git_repo.path, newcomer).stdout.splitlines()
    assert found
    assert all(line.startswith("plain,F") and "\ta.py: " in line for line in found)
    assert offered("sessions show ", git_repo.path, newcomer) == []


def test_what_is_told_beside_a_word_is_one_legible_line() -> None:
    (item,) = suggest.fitting([("F1", "a\x1b[2Jb\nc" + "d" * 200)], "F")
    assert item.help is not None
    assert item.help.startswith("a⟨U+001B⟩[2Jb c")
    assert len(item.help) == suggest.MOST_HELP


def test_the_repository_is_the_one_that_is_named_whatever_the_environment_says(git_repo: Repo, newcomer: Path) -> None:
    git_repo.write("a.py", "")
    git_repo.commit()
    done = asked("review ma", git_repo.path, newcomer, GIT_DIR="/nonexistent")
    assert "plain,main" in done.stdout


def test_looking_for_debates_makes_no_ledger(git_repo: Repo, newcomer: Path) -> None:
    before = {path for path in newcomer.rglob("*") if path.is_file()}
    assert offered("sessions show ", git_repo.path, newcomer) == []
    assert {path for path in newcomer.rglob("*") if path.is_file()} == before
