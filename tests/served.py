"""A panel of three models behind one server, as a user configures it, and the command line."""

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conftest import Project
from lean import lean_environment

from reviewbot.cli.commands import reviewbot
from tests.github_job import panel_of
from tests.vendor_server import VendorServer

PANEL = {"critic": "a", "reviewer": "b", "optimizer": "c"}


def configuration(
    url: str, provider: str = "gpu", effort: str = "high", price: int = 1, without: str = ""
) -> str:
    """A panel of three models of one server, each with a price unless it is 0."""
    prices = [{"model": m, "input": price, "output": price} for m in PANEL.values() if price]
    panel = {r: {"model": f"{provider}:{model}"} for r, model in PANEL.items() if r != without}
    server = {"base_url": f"{url}/v1", "prices": prices}
    return json.dumps(
        {"providers": {provider: server}, "panel": panel, "review": {"effort": effort}}
    )


def configure(text: str) -> None:
    folder = Path(os.environ["XDG_CONFIG_HOME"], "reviewbot")
    folder.mkdir(exist_ok=True)
    (folder / "config.yml").write_text(text)


def run(*arguments: str, text: str | bytes | None = None) -> Result:
    return CliRunner().invoke(reviewbot, arguments, prog_name="reviewbot", input=text)


def live_in(project: Project, factory: pytest.TempPathFactory, patch: pytest.MonkeyPatch) -> None:
    """Be a user without a configuration, in the folder of a project."""
    for name in ("HOME", "XDG_CONFIG_HOME"):
        patch.setenv(name, str(factory.mktemp("home")))
    patch.chdir(project.folder)


def at_the_command_line(project: Project, patch: pytest.MonkeyPatch, server: VendorServer) -> Path:
    """Work in a project with a panel of two behind a server; returns the folder of the state.

    Without the toolchains of this machine, jobs equal those of tests from inside.
    """
    patch.chdir(project.folder)
    programs = project.folder / ".git/programs"
    programs.mkdir()
    for name in ("git", "bwrap"):
        (programs / name).symlink_to(shutil.which(name) or name)
    patch.setenv("PATH", str(programs))
    patch.setenv("VIRTUAL_ENV", lean_environment())
    patch.setenv("XDG_CONFIG_HOME", str(project.folder / ".git"))
    state = project.folder / ".git/reviewbot"
    state.mkdir()
    (state / "config.yml").write_text(panel_of(server, "critic", "reviewer"))
    return state


def wait_until(condition: Callable[[], object]) -> None:
    ends_at = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < ends_at
        time.sleep(0.01)
