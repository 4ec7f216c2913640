"""A panel of three models behind one server, as a user configures it, and the command line."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conftest import Project

from reviewbot.cli.commands import reviewbot

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


def run(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(reviewbot, arguments, prog_name="reviewbot", input=text)


def live_in(project: Project, factory: pytest.TempPathFactory, patch: pytest.MonkeyPatch) -> None:
    """Be a user without a configuration, in the folder of a project."""
    for name in ("HOME", "XDG_CONFIG_HOME"):
        patch.setenv(name, str(factory.mktemp("home")))
    patch.chdir(project.folder)
