"""No zone has more than it needs: seen from outside, by what its process starts, opens and is told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repo import Repo
from tests.sandboxes import need_bubblewrap
from tests.zones.commands import Ran, Zones

pytestmark = pytest.mark.ci

CANARY = "sk-canary-" + "8f3a" * 6
KEYS = dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GITHUB_TOKEN", "REVIEWBOT_SECRET"), CANARY)
HUNT = '''"""Looks for the keys of whoever runs it."""

import os
import pathlib


def test_no_key_is_to_be_seen():
    seen = [" ".join(os.environ.values())]
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        for name in ("environ", "cmdline"):
            try:
                seen.append((process / name).read_bytes().decode("utf-8", "replace"))
            except OSError:
                pass
    marker = "sk-" + "canary"
    assert not any(marker in text for text in seen)
'''
STARTS = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec")


def started(ran: Ran) -> list[str]:
    """The processes that a process started."""
    return [event for event in ran.events if event.startswith(STARTS)]


def connected(ran: Ran) -> list[str]:
    """The connections that it made."""
    return [event for event in ran.events if event.startswith("socket.connect")]


@pytest.fixture
def hunted(git_repo: Repo) -> Repo:
    """A repository whose last commit hunts for keys."""
    git_repo.write("a.py", "def double(n):\n    return 2 * n\n")
    git_repo.commit()
    git_repo.write("a.py", "def double(n):\n    return n + n\n")
    git_repo.write("tests/test_hunt.py", f"{HUNT}\n\ndef test_it():\n    from a import double\n\n    assert double(2) == 4\n")
    git_repo.commit()
    return git_repo


@pytest.fixture
def zones(hunted: Repo, tmp_path: Path) -> Zones:
    """The commands, after the runner wrote what it found while keys lay about."""
    need_bubblewrap()
    made = Zones(tmp_path / "zones", hunted.home)
    ran = made.collect(hunted, "HEAD", **KEYS)
    assert ran.code == 0, ran.err
    assert not connected(ran)
    return made


@pytest.mark.smoke
def test_the_hunt_finds_what_is_there(hunted: Repo) -> None:
    words = (sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_hunt.py")
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(hunted.path)}
    assert subprocess.run(words, cwd=hunted.path, env=environment | KEYS, capture_output=True, check=False).returncode == 1


def test_code_of_the_change_sees_no_key_while_it_is_collected(zones: Zones) -> None:
    evidence = zones.read("evidence.json")
    assert evidence["sandbox"] == "bubblewrap"
    assert (evidence["tests"]["passed"], evidence["tests"]["failed"]) == (2, 0)
    assert not any(CANARY in path.read_text() for path in zones.folder.iterdir())


def test_an_experiment_sees_no_key_either(hunted: Repo, zones: Zones) -> None:
    from reviewbot.domain.debate import Check
    from reviewbot.ports import Experiment
    from reviewbot.publish.document_proof import experiments_document
    from reviewbot.publish.load_change import load_change

    about = load_change((zones.folder / "changeset.json").read_bytes()).revisions
    wanted = Experiment("F1", Check(("pytest",), HUNT), "a.py", 1, 1)
    zones.write("experiments.json", experiments_document((wanted,), about))
    ran = zones.collect(hunted, "HEAD", "--experiments", zones.folder / "experiments.json", **KEYS)
    assert ran.code == 0, ran.err
    (shown,) = zones.read("verifications.json")["verifications"]
    assert shown["check"]["outcome"] == "unrelated", shown["excerpt"]  # it ran, and is about no line of the claim


@pytest.mark.smoke
def test_a_debate_starts_no_process_and_needs_no_repository(hunted: Repo, zones: Zones) -> None:
    papers = ("--changeset", zones.folder / "changeset.json", "--evidence", zones.folder / "evidence.json")
    for words in ((), ("--await-runner",), ("--verbose",)):
        ran = zones.run("debate", *papers, "--out", zones.folder, *words, cwd=hunted.path, PATH="/nowhere")
        assert ran.code == 0, ran.err
        assert not started(ran)
        assert not connected(ran), "the static panel asks nobody"


def test_a_debate_reads_no_file_of_the_folder_it_is_started_in(hunted: Repo, zones: Zones) -> None:
    (hunted.path / ".reviewbot.yml").write_text("nonsense: [")
    (hunted.path / ".env").write_text(f"OPENAI_API_KEY={CANARY}\n")
    (hunted.path / ".gitignore").write_text(".env\n")
    papers = ("--changeset", zones.folder / "changeset.json", "--evidence", zones.folder / "evidence.json")
    ran = zones.run("debate", *papers, "--out", zones.folder, "-v", cwd=hunted.path)
    assert ran.code == 0, ran.err
    assert [seat["model"].split(":")[0] for seat in zones.read("review.json")["panel"]] == ["static"] * 3


def test_publish_opens_no_socket_starts_no_process_and_needs_no_key(zones: Zones) -> None:
    assert zones.debate().code == 0
    for form in ("text", "json", "markdown", "sarif", "html", "rdjson"):
        ran = zones.publish("--changeset", "changeset.json", "--format", form, PATH="/nowhere", HOME="/nowhere")
        assert ran.code == 0, ran.err
        assert ran.out
        assert ran.events == ()


def test_publish_says_nothing_of_what_lies_about(zones: Zones) -> None:
    assert zones.debate().code == 0
    ran = zones.publish("--format", "json", **KEYS)
    assert CANARY not in ran.out + ran.err
