"""A pull request of 60 lines on a fake GitHub, without models."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Figure, own
from tests.fake_github import GitHub

LINES = 30  # in each of two files
PERMISSIONS = {"contents": "read", "pull_requests": "write", "checks": "write", "metadata": "read"}


def measure(folder: Path) -> Iterator[Figure]:
    with GitHub() as github:
        repository = github.repository("octo/app")
        repository.commit("main", {"a.py": "x = 1\n", "b.py": "y = 1\n"})
        body = "".join(
            f"def f{number}(n):\n    return n + {number}\n" for number in range(LINES // 2)
        )
        repository.commit("topic", {"a.py": body, "b.py": f"{body}print(undefined)\n"})
        pull = repository.pull("Change", "topic")
        event = github.event("pull_request", pull=pull, action="opened")
        (folder / "event.json").write_text(json.dumps(event))
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_REPOSITORY": "octo/app",
            "GITHUB_API_URL": github.api_url,
            "GITHUB_SERVER_URL": github.server_url,
            "GITHUB_TOKEN": github.token(permissions=PERMISSIONS),
            "GITHUB_WORKSPACE": str(folder / "workspace"),
            "RUNNER_TEMP": str(folder / "temp"),
        }
        for name, calls in (("a new pull request", 8), ("the same commit again", 3)):
            before = github.calls()
            started = time.perf_counter()
            used, _ = own(folder, variables, "github")
            seconds = time.perf_counter() - started
            yield Figure(f"{name}, calls of the API", github.calls() - before, "", calls)
            yield Figure(f"{name}, own CPU", used, "s", 3)
            yield Figure(f"{name}, wall time", seconds, "s", 10)
