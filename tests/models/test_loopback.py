"""The guard of these tests itself: no process reaches beyond this machine, and who tries is known."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes import Models
from tests.models.stage import KEYS, Stage

NOWHERE = "192.0.2.1"
"""An address of documentation (RFC 5737): a packet to it would go nowhere."""


@pytest.mark.parametrize(
    "program",
    [
        f"import socket; socket.create_connection(({NOWHERE!r}, 80), 1)",
        f"import asyncio; asyncio.run(asyncio.open_connection({NOWHERE!r}, 80))",
        "import socket; socket.getaddrinfo('example.org', 443)",
        f"import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'', ({NOWHERE!r}, 53))",
    ],
)
def test_what_goes_beyond_this_machine_is_refused_and_kept(program: str, tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=stage.environment(), capture_output=True, text=True, timeout=30, check=False)
    assert "may not reach" in done.stderr
    assert len(stage.attempts) == 1


def test_this_machine_may_be_reached(models: Models, tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    program = f"import urllib.request; print(urllib.request.urlopen('{models.url}/v1/models').status)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=stage.environment(), capture_output=True, text=True, timeout=30, check=False)
    assert done.stdout == "200\n", done.stderr
    assert stage.attempts == []


def test_the_command_is_watched_too(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.keys.update(KEYS)
    stage.configure(
        {
            "providers": {"openai": {"base_url": f"https://{NOWHERE}/v1", "local": True}},
            "panel": {"critic": {"model": "openai:gpt-fake-1"}},
        }
    )
    ran = stage.review()
    assert ran.code == 3, ran.said
    assert stage.attempts
    assert all(NOWHERE in attempt for attempt in stage.attempts)
