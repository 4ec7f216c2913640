"""What a debate costs in time and tokens, beside a bare loop: three models, two rounds, a judge.

    ./dev bench debate

The models stand behind one compatible server that answers after a second. Overhead is the time in
which no call was open.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import httpx2
from msgspec.structs import replace

from benchmarks.timing import Figure, git
from tests import fake_openai
from tests.vendor_server import Received, Sent, VendorServer

SECONDS = 1.0
LINES = (60, 600, 6_000)
ROLES = ("critic", "reviewer", "optimizer")
BYTES_A_TOKEN = 4
CLAIMED = 5  # cases, all of them contested
# A process counts as its own the memory of the one that starts it: here that is small.
MEASURE = """
import resource, subprocess, sys, time
started = time.monotonic()
subprocess.run(sys.argv[1:])
print(time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
FUNCTION = '''

def {name}(items, start={number}):
    """Add up what is left of the items after the first ones."""
    total = start
    for index, item in enumerate(items):
        if index < {number}:
            continue
        total += item * {factor}
    return total
'''
OLD, NEW = range(6), range(4)  # functions of a file: those that change in a line, those that come
ADDED = re.compile(r"^(\d+)\+(.*item \* .*)$", re.MULTILINE)


def measure(folder: Path) -> Iterator[Figure]:
    for lines in LINES:
        project = folder / str(lines)
        make_change(project, lines)
        server = VendorServer(answer)
        with server.running():
            wall, memory = review(project, server.url)
        calls = [received for received in server.received if isinstance(received.body, dict)]
        prompts = [text_of(call) for call in calls]
        idle = wall - union([(c.at, end) for c, end in zip(calls, server.answered, strict=True)])
        tokens = sum(map(len, prompts)) // BYTES_A_TOKEN
        yield Figure(f"{lines} lines: overhead", idle, "s", 0.4)
        yield Figure(f"{lines} lines: calls", len(calls), "", 8 if lines < 6_000 else 99)
        is_usual = lines == 600
        yield Figure(f"{lines} lines: prompt tokens", tokens, "", 60_000 if is_usual else 10**9)
        shared = 100 * sum(shared_with_earlier(prompts)) / sum(map(len, prompts))
        own = 100 - shared
        yield Figure(f"{lines} lines: not in a shared prefix", own, "%", 40 if is_usual else 100)
        yield Figure(f"{lines} lines: memory", memory, "MB", 120)
        yield from bare_loop(project, lines)


def make_change(folder: Path, lines: int) -> None:
    """Files in which a few functions change and a few are new: 48 changed lines each."""
    folder.mkdir()
    git(folder, "init", "--quiet")
    for factor in (2, 3):
        for number in range(max(1, round(lines / 48))):
            names = {f"old_{n}": n for n in OLD} | {f"new_{n}": n for n in NEW if factor == 3}
            text = "".join(
                FUNCTION.format(name=name, number=n, factor=factor) for name, n in names.items()
            )
            (folder / f"part_{number:03}.py").write_text(f'"""Part {number}."""{text}')
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", f"--message=Factor {factor}")


def review(folder: Path, url: str) -> tuple[float, float]:
    """Wall time in seconds, and the most memory in MB."""
    config = folder / "bench.yml"
    panel = "".join(f"  {role}: {{model: 'fake:{role}'}}\n" for role in ROLES)
    config.write_text(
        f"providers:\n  fake:\n    base_url: {url}/v1\n"
        f"panel:\n{panel}limits: {{cost_usd: 100, seconds: 300}}\n"
    )
    command = (sys.executable, "-m", "reviewbot", "review", "HEAD", "--format", "json")
    with tempfile.TemporaryDirectory() as state:
        report = Path(state, "report.json")
        options = ("--config", str(config), "--state", state, "--output", str(report))
        measured = (sys.executable, "-c", MEASURE, *command, *options)
        ended = subprocess.run(measured, cwd=folder, stdout=subprocess.PIPE, check=True)
        document = json.loads(report.read_text())
    wall, kilobytes = map(float, ended.stdout.split())
    contested = [finding for finding in document["findings"] if finding.get("ruling")]
    assert len(contested) in (0, CLAIMED), document["gaps"]
    return wall, kilobytes / 1024


def answer(received: Received) -> Sent:
    """Claims about the first lines of the change, and judgements that contradict each other."""
    text = text_of(received)
    return replace(
        fake_openai.answer(
            reply_to(text, received.body["model"]), input_tokens=len(text) // BYTES_A_TOKEN
        ),
        delay=SECONDS,
    )


def reply_to(text: str, model: str) -> str:
    if "find defects" in text:
        return json.dumps({"claims": [*claims(text)] if model == "critic" else []})
    place = re.search(r'^"(part_\d+\.py:\d+)', text, re.MULTILINE)
    judgements = [
        {
            "case": case,
            "reason": "The factor of this sum changes, and nothing says why. " * 4,
            "citations": [place[1]] if place else [],
            "stance": "not_real" if model == "optimizer" else "real",
            "same_as": None,
        }
        for case in re.findall(r"^## Case (\S+)$", text, re.MULTILINE)
    ]
    return json.dumps({"judgements": judgements})


def claims(text: str) -> Iterator[dict[str, object]]:
    """One about each of the first functions of the first file."""
    _, found, rest = text.partition('## "part_000.py"')
    for line, quote in ADDED.findall(rest if found else "")[:CLAIMED]:
        yield {
            "path": "part_000.py",
            "line": int(line),
            "quote": quote.strip(),
            "title": f"The sum in line {line} is too large",
            "category": "correctness",
            "severity": "medium",
            "trigger": "Any list with at least two items.",
            "consequence": "The total is wrong.",
            "refuted_if": "A caller divides the total.",
            "reproduction": None,
        }


def bare_loop(folder: Path, lines: int) -> Iterator[Figure]:
    """What is needed at least: a loop over three models, who see each other's answers."""
    diff = subprocess.run(
        ("git", "show", "HEAD"), cwd=folder, capture_output=True, text=True, check=True
    ).stdout
    server = VendorServer(lambda _: replace(fake_openai.answer("Looks fine. " * 30), delay=SECONDS))
    with server.running():
        url = f"{server.url}/v1/chat/completions"
        with ThreadPoolExecutor(len(ROLES)) as pool, httpx2.Client(timeout=60) as client:
            said: list[str] = []
            for _ in range(2):
                prompt = f"Review this change:\n{diff}\nThe others say:\n{''.join(said)}"
                said = list(pool.map(partial(say, client, url, prompt), ROLES))
            say(client, url, f"Judge:\n{diff}\n{''.join(said)}", "judge")
    prompts = [text_of(received) for received in server.received]
    tokens = sum(map(len, prompts)) // BYTES_A_TOKEN
    yield Figure(f"{lines} lines, bare loop: calls", len(prompts), "", 99)
    yield Figure(f"{lines} lines, bare loop: prompt tokens", tokens, "", 10**9)


def say(client: httpx2.Client, url: str, prompt: str, model: str) -> str:
    messages = [{"role": "user", "content": prompt}]
    answered = client.post(url, json={"model": model, "messages": messages, "stream": True})
    events = (line.removeprefix("data: ") for line in answered.text.splitlines() if line)
    chunks = (json.loads(event)["choices"] for event in events if event != "[DONE]")
    return "".join(choices[0]["delta"].get("content") or "" for choices in chunks if choices)


def text_of(received: Received) -> str:
    """All that the model reads."""
    parts = [message.get("content") or "" for message in received.body["messages"]]
    return "\n".join(part if isinstance(part, str) else json.dumps(part) for part in parts)


def shared_with_earlier(prompts: Sequence[str]) -> Iterator[int]:
    """Of each prompt, how many characters an earlier one begins with."""
    for number, prompt in enumerate(prompts):
        yield max((common(prompt, other) for other in prompts[:number]), default=0)


def common(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def union(intervals: Sequence[tuple[float, float]]) -> float:
    """Seconds in which at least one interval is open."""
    total, until = 0.0, 0.0
    for start, end in sorted(intervals):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total
