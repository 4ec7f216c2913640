"""Whole reviews that ask models: killed, resumed, capped, interrupted, and lied to."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result
from conftest import Project
from msgspec.structs import replace

from reviewbot.cli.commands import reviewbot
from reviewbot.concurrency import run_all
from reviewbot.config.load import read_layer
from reviewbot.git.repository import Repository
from reviewbot.git.target import Target
from reviewbot.journal import Journal
from reviewbot.llm.prices import DOLLAR, Price
from reviewbot.llm.provider import ModelRequest
from reviewbot.pipeline import review
from reviewbot.reports import FORMATS, render
from reviewbot.services import Host
from reviewbot.verdict.document import Review
from tests import fake_openai
from tests.vendor_server import Received, Sent, VendorServer

ROOT = Path(__file__).parents[1]
BEFORE = {"cart.lua": "return sum(prices)\n", "tax.lua": "return rate\n"}
AFTER = {"cart.lua": "return sum(prices) + 1\n", "tax.lua": "return rate * 2\n"}
SCHEMA = "\n\nAnswer with JSON that matches"
PRICE = Price(input=1, output=1)
SEEDS = range(50)
KILLED = tuple(range(3, 50, 5))[:9]
# Whether a call that fails so may have been charged.
FAULTS = [
    (fake_openai.FAULTS["L8 overloaded: overloaded"], False),
    (fake_openai.FAULTS["L14 cut: interrupted"], True),
    (fake_openai.FAULTS["L14 HTML: malformed"], True),
    (fake_openai.FAULTS["L8 slow down: rate_limited"], False),
]


def configuration(url: str, provider: str = "gpu", prices: bool = True) -> str:
    panel = {"critic": "a", "reviewer": "b", "optimizer": "c"}
    price = [{"model": model, "input": 1, "output": 1} for model in panel.values()]
    own = {"base_url": f"{url}/v1", "prices": price if prices else []}
    members = {role: {"model": f"{provider}:{model}"} for role, model in panel.items()}
    return json.dumps(
        {"providers": {provider: own}, "panel": members, "review": {"effort": "high"}}
    )


@pytest.fixture
def cart(
    project: Project, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Project:
    """A change without checks, and a user without a configuration."""
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path_factory.mktemp("home")))
    monkeypatch.chdir(project.folder)
    project.commit("A cart", BEFORE)
    project.commit("A fee", AFTER)
    return project


def configure(text: str) -> None:
    folder = Path(os.environ["XDG_CONFIG_HOME"], "reviewbot")
    folder.mkdir(exist_ok=True)
    (folder / "config.yml").write_text(text)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(reviewbot, arguments, prog_name="reviewbot")


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        (sys.executable, *arguments),
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def wait_until(condition: Callable[[], object]) -> None:
    ends_at = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < ends_at
        time.sleep(0.01)


def prompt_of(received: Received) -> str:
    """What was asked, and who, without the schema that some servers get in the text."""
    text = str(received.body["messages"][0]["content"])
    return f"{text.partition(SCHEMA)[0]} {received.body['model']}"


def debate(received: Received) -> Sent:
    """The answer of a panel that disagrees until the moderator rules, with what it truly used."""
    prompt, model = prompt_of(received), received.body["model"]
    claims = [
        {
            **{"path": path, "line": 1, "quote": text.strip(), "title": f"{path} is wrong"},
            **{"category": "correctness", "severity": "high", "trigger": "any cart"},
            **{"consequence": "another sum", "refuted_if": "it is meant so"},
        }
        for path, text in AFTER.items()
    ]
    judgement = {
        **{"reason": f"as {model} sees it", "citations": ["cart.lua:1"]},
        **{"stance": "not_real" if model == "b" else "real"},
    }
    cases = re.findall(r"^## Case (\w+)", prompt, re.MULTILINE)
    answer = {
        "claims": claims if model == "a" else [],
        "judgements": [{"case": case, **judgement} for case in cases],
        "tests": [],
    }
    text = json.dumps(answer)
    size = len(json.dumps(received.body)) // 4
    return fake_openai.answer(text, input_tokens=size, output_tokens=len(text) // 4)


def calls_in(folder: Path) -> dict[str, dict[str, Any]]:
    """Rows of the ledger's table of calls; by their prompt where they have ended."""
    ledger = sqlite3.connect(folder / "ledger.db")
    ledger.row_factory = sqlite3.Row
    rows = [dict(row) for row in ledger.execute("SELECT * FROM calls")]
    ledger.close()
    return {_prompt(row): row for row in rows}


def _prompt(row: dict[str, Any]) -> str:
    if not row["request"]:
        return str(row["key"])
    request = json.loads(row["request"])
    return f"{request['prefix']}\n\n{request['question']} {row['model']}"


# --- killed and resumed


async def review_seeds(folder: Path, url: str, seeds: Iterable[int]) -> list[Review]:
    """A review for each seed, of a change with a title of its own, five to a state folder."""
    with Repository(folder) as repository:
        change = await repository.load_change(Target(kind="revision", revision="HEAD"))

        def host(seed: int) -> Host:
            text = configuration(f"{url}/{seed}").encode()
            return Host(
                repository=repository,
                journal=Journal(),
                state_folder=folder / f"state-{seed % 5}",
                layers=(read_layer("config.yml", "user", text),),
                may_execute=False,
            )

        return list(
            await run_all(
                *(review(replace(change, title=f"Change {n}."), host(n)) for n in seeds)
            )
        )


class Unreliable:
    """Fails every sixth call of a seed, and holds back one answer of those that are killed."""

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()
        self.log: list[tuple[str, str]] = []  # prompt with model, and what became of it
        self.held: set[int] = set()

    def __call__(self, received: Received) -> Sent:
        seed = int(received.path.split("/")[1])
        self.counts[seed] += 1
        number = self.counts[seed]
        sent, outcome = debate(received), "answered"
        if seed in KILLED and seed not in self.held and number > seed * 7 % 9:
            self.held.add(seed)
            sent, outcome = replace(sent, delay=60), "charged"
        elif (number + seed) % 6 == 0:
            sent, is_charged = FAULTS[(number // 6 + seed) % len(FAULTS)]
            outcome = "charged" if is_charged else "refused"
        self.log.append((prompt_of(received), outcome))
        return sent

    def count(self, outcome: str, first: int = 0) -> Counter[str]:
        return Counter(prompt for prompt, how in self.log[first:] if how == outcome)


def test_fifty_reviews_of_which_every_sixth_call_fails_and_nine_are_killed(cart: Project) -> None:
    unreliable = Unreliable()
    with VendorServer(unreliable).running() as server:
        code = "import asyncio, pathlib, sys, test_paid as t\nasyncio.run(t.review_seeds("
        code += "pathlib.Path(sys.argv[1]), sys.argv[2], t.KILLED))"
        with start("-c", code, str(cart.folder), server.url) as process:
            wait_until(lambda: len(unreliable.held) == len(KILLED) or process.poll() is not None)
            time.sleep(0.3)
            process.kill()
        assert process.returncode == -signal.SIGKILL
        state = cart.folder / "state-3"
        stored = calls_in(state)
        died = [row for row in stored.values() if row["state"] == "claimed"]
        assert len(died) >= len(KILLED)
        first = len(unreliable.log)
        resumed = asyncio.run(review_seeds(cart.folder, server.url, KILLED))
        assert not stored.keys() & unreliable.count("answered", first).keys()
        for row in died:
            (again,) = [now for now in calls_in(state).values() if now["key"] == row["key"]]
            assert again["lost"] >= row["lost"] + row["worst"]
            assert unreliable.count("answered", first)[_prompt(again)] == 1
        for result in resumed:
            assert result.usage.lost_calls >= 1
            last_line = render(result).split("\n\n")[-1].split()
            assert " without an answer, " in " ".join(last_line)
        others = [seed for seed in SEEDS if seed not in KILLED]
        results = asyncio.run(review_seeds(cart.folder, server.url, others))
        asked = len(server.received)
        assert asyncio.run(review_seeds(cart.folder, server.url, KILLED))[0].usage.calls == 0
        assert len(server.received) == asked
    with VendorServer(debate).running() as server:
        (calm,) = asyncio.run(review_seeds(cart.folder, server.url, [50]))
    assert [finding.status for finding in calm.findings] == ["agreed", "agreed"]
    for result in (*resumed, *results):
        assert not result.gaps
        assert result.findings == calm.findings
    answered, charged = unreliable.count("answered"), unreliable.count("charged")
    assert set(answered.values()) == {1}
    for number in range(5):
        for prompt, row in calls_in(cart.folder / f"state-{number}").items():
            if "Change 50." in prompt:
                continue
            request = msgspec.convert(json.loads(row["request"]), ModelRequest)
            assert (row["state"], answered[prompt]) == ("done", 1)
            assert row["lost"] == charged[prompt] * PRICE.worst(request)
