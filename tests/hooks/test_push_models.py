"""Models at a push: in the time and for the money that a hook has, asked once, and never a reason why a push does not go on."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import Models, faults
from tests.hooks.lab import unwrapped
from tests.hooks.pushing import Pushes
from tests.models.stage import CALLS, GUARD, disputed, module, one_vendor, panelist

pytestmark = pytest.mark.ci

TEXT = module(4)
RUN = ("hook", "run", "pre-push", "--no-exec", "origin", "x")


class Shop(Pushes):
    """A repository with a commit that is not pushed yet, and models that are configured by the user."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.old = self.id("HEAD")
        self.head = self.change("shop/work.py", TEXT)
        self.attempts = folder / "attempts"
        self.extra = {"PYTHONPATH": str(GUARD), "ATTEMPTS_FILE": str(self.attempts)}

    def configure(self, settings: dict[str, Any]) -> None:
        """The user's own configuration (JSON is YAML)."""
        file = self.repo.home / ".config" / "reviewbot" / "config.yml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings), encoding="utf-8")

    @property
    def line(self) -> bytes:
        """What git would say of a push."""
        return f"refs/heads/main {self.head} refs/heads/main {self.old}\n".encode()

    def left_behind(self) -> list[Path]:
        """Files in the temporary folder."""
        return list((self.folder / "tmp").iterdir())


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


@pytest.fixture
def models() -> Iterator[Models]:
    with Models(script=panelist(disputed(TEXT))) as made:
        yield made
        assert made.refused == []


def test_models_review_a_push_once_and_an_equal_push_asks_nobody(shop: Shop, models: Models):
    shop.configure(one_vendor(models))
    shop.hook("pre-push", "--no-exec")
    first = shop.git("push", "--dry-run", "origin", "main").err
    asked = len(models.calls)
    second = shop.git("push", "--dry-run", "origin", "main").err
    assert "panel as configured: critic gpu:fake-1" in first
    assert asked == len(models.calls) == CALLS
    told = [line for line in first.splitlines() if "  shop/work.py:" in line]
    assert len(told) == 2
    assert [line for line in second.splitlines() if "  shop/work.py:" in line] == told
    assert "was reviewed before" in second
    assert "critic" in shop.reviewbot("explain", "F3").out


def check_not_reviewed(shop: Shop, *words: str) -> str:
    """A push goes on, with a line that names the ref, the reason and the next step."""
    shop.hook("pre-push", "--no-exec")
    ran = shop.git("push", "origin", "main")
    _, line = unwrapped(ran.err).split("NOT REVIEWED")
    assert line.startswith(" main: ")
    for word in words:
        assert word in line
    assert f"`reviewbot review {shop.old[:10]}..{shop.head[:10]}`" in line
    assert shop.run("git", "rev-parse", "main", cwd=shop.remote).out.strip() == shop.head
    assert not shop.left_behind()
    return line


def test_a_model_that_hangs_is_given_up_in_time(shop: Shop, models: Models):
    models.script = lambda _: faults.hang()
    shop.configure(one_vendor(models, hook={"seconds": 1}))
    check_not_reviewed(shop, "time was up")


def test_where_nobody_listens_the_push_goes_on(shop: Shop, models: Models):
    shop.configure(one_vendor(models))
    with models.refuse():
        check_not_reviewed(shop, "cannot be reached")


def test_where_no_name_is_known_the_push_goes_on(shop: Shop, models: Models):
    settings = one_vendor(models)
    settings["providers"]["gpu"] = {"base_url": "https://models.invalid/v1", "local": True}
    shop.configure(settings)
    check_not_reviewed(shop, "gpu")
    assert "models.invalid" in shop.attempts.read_text()


@pytest.mark.smoke
def test_where_the_money_is_spent_the_push_goes_on(shop: Shop, models: Models):
    settings = one_vendor(models, prices=[{"model": "gpu:fake-1", "input": 30.0, "output": 90.0}], limits={"cost_usd": 0.0})
    settings["providers"]["gpu"]["local"] = False
    shop.configure(settings)
    check_not_reviewed(shop, "0.00")
    assert not models.calls


def test_what_was_answered_before_the_time_was_up_is_not_asked_again(shop: Shop, models: Models):
    script = panelist(disputed(TEXT))
    models.script = lambda seen: script(seen) if seen.number <= 5 else faults.hang()
    shop.configure(one_vendor(models, hook={"seconds": 2}))
    late = shop.reviewbot(*RUN, stdin=shop.line)
    models.wait_idle()
    known = {call.raw for call in models.calls if call.outcome == "answered"}
    assert known
    assert "NOT REVIEWED main: " in late.err
    models.script = script
    shop.configure(one_vendor(models))
    before = len(models.calls)
    again = shop.reviewbot(*RUN, stdin=shop.line)
    assert "NOT REVIEWED" not in again.err
    assert not known & {call.raw for call in models.calls[before:]}


def test_strict_fails_where_models_do_not_answer_and_the_time_of_a_flag_counts(shop: Shop, models: Models):
    models.script = lambda _: faults.hang()
    shop.configure(one_vendor(models))
    ran = shop.reviewbot(*RUN, "--strict", "--timeout", "1", stdin=shop.line)
    assert ran.code == 3
    assert "NOT REVIEWED main: " in ran.err


@pytest.mark.smoke
def test_without_a_key_a_panel_that_was_asked_for_is_a_notice(shop: Shop):
    ran = shop.reviewbot(*RUN, "--panel", "models", stdin=shop.line)
    assert ran.code == 0
    assert ran.err.startswith("NOT REVIEWED main (1 commit since origin/main ")
    assert "ANTHROPIC_API_KEY" in ran.err


def test_an_interrupt_leaves_nothing_behind_and_what_was_paid_is_kept(shop: Shop, models: Models):
    script = panelist(disputed(TEXT))
    models.script = lambda seen: script(seen) if seen.number <= 3 else faults.hang()
    shop.configure(one_vendor(models))
    process = subprocess.Popen(
        [*shop.program, *RUN], cwd=shop.path, env=shop.environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    process.stdin.write(shop.line.decode())
    process.stdin.close()
    process.stdin = None
    models.wait_for(4)  # of the second round: those of the first one are written down
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.endswith("reviewbot: interrupted\n")
    assert not shop.left_behind()
    models.wait_idle()
    known = {call.raw for call in models.calls if call.outcome == "answered"}
    models.script, before = script, len(models.calls)
    again = shop.reviewbot(*RUN, stdin=shop.line)
    assert again.code == 0, again.err
    assert known
    assert not known & {call.raw for call in models.calls[before:]}


@pytest.mark.smoke
@pytest.mark.ci
def test_what_does_not_end_by_itself_is_stopped_and_the_push_goes_on(shop: Shop):
    real = shop.run("sh", "-c", "command -v git").out.strip()
    shop.repo.home.joinpath("bin").mkdir()
    git = shop.repo.home / "bin" / "git"
    git.write_text(f'#!/bin/sh\ncase " $* " in *" diff-tree "*) exec sleep 100;; esac\nexec {real} "$@"\n')
    git.chmod(0o755)
    path = f"{git.parent}:{shop.environment['PATH']}"
    ran = shop.run(*shop.program, *RUN, "--timeout", "1", stdin=shop.line, env={"PATH": path})
    assert ran.code == 0
    assert "NOT REVIEWED main (1 commit since origin/main " in ran.err
    assert "did not end by itself" in unwrapped(ran.err)
    assert not shop.left_behind()
