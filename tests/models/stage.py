"""Everything that a review with models needs, from outside: a repository with a change, a home, the command as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fakes import Models, Seen, claim, reviewer
from tests.fakes.reviewer import WHERE
from tests.repo import Repo

COMMAND = Path(sys.executable).with_name("reviewbot")
TOP = Path(__file__).parents[2]
GUARD = Path(__file__).with_name("guard")
HANGS = 90.0
"""Seconds after which a process is taken for one that hangs; none here takes more than a few."""

ROLES = ("critic", "reviewer", "optimizer")
CALLS = 19
"""Of a debate about four claims: 3 first passes, 4 × 2 positions, for two claims 3 in a second round, 2 of the moderator."""

FEW_CALLS = 12
"""The same with two claims, of which one is rejected at once."""


def function(number: int, name: str = "work", extra: int = 0) -> str:
    """A plausible function of six lines (and more)."""
    more = "".join(f"    total += values[{index}] if len(values) > {index} else {number}\n" for index in range(extra))
    return (
        f"def {name}_{number}(values, limit={number}):\n"
        f'    """Sum what is below the limit."""\n'
        f"    total = {number}\n"
        f"    for value in values:\n"
        f"        if value <= limit + {number}:\n"
        f"            total += value * {number + 1}\n{more}"
        f"    return total\n"
    )


def module(functions: int, name: str = "work") -> str:
    """A file of such functions."""
    return "\n\n".join(function(number, name) for number in range(functions))


def disputed(text: str, path: str = "shop/work.py", functions: Iterable[int] = range(4), **other: Any) -> list[dict[str, Any]]:
    """A claim about the condition in each of those functions of a file."""
    lines = text.split("\n")
    places = [
        next(place for place, line in enumerate(lines, 1) if line.strip() == f"if value <= limit + {number}:")
        for number in functions
    ]
    return [
        claim(path, place, lines[place - 1], title=f"the limit of number {n} counts", **other) for n, place in enumerate(places)
    ]


def panelist(claims: list[dict[str, Any]], courses: Sequence[int] = (0, 1, 2, 3), **other: Any) -> Any:
    """The script of a debate with everything in it. What becomes of the critic's claims, by their ``courses``: rejected (0) or
    confirmed (1) in the first round, or argued in a second one, after which among models of one family 2 goes before the
    moderator, and among those of several 3."""
    plan: tuple[dict[str, Any], ...] = (
        dict.fromkeys(ROLES, ("oppose", 0.05)),
        dict.fromkeys(ROLES, ("support", 0.9)),
        {"critic": "support", "reviewer": ("support", 0.9), "optimizer": "neutral"},
        {"critic": "support", "reviewer": ("support", 0.9), "optimizer": ("oppose", 0.3)},
    )
    lines = [one["line"] for one in claims]

    def stance(seen: Seen) -> Any:
        found = WHERE.search(seen.suffix)
        assert found is not None
        return plan[courses[lines.index(int(found["start"])) % len(courses)]][role_of(seen)]

    options = {"claims": {"critic": claims, "reviewer": [], "optimizer": []}, "stance": stance, "judgement": "upheld"} | other
    return reviewer(**options)


def role_of(seen: Seen) -> str:
    """Whose perspective a question takes."""
    lenses = TOP / "prompts" / "lens"
    for role in (*ROLES, "moderator"):
        if (lenses / f"{role}.j2").read_text(encoding="utf-8").split("\n", 1)[0] in seen.suffix:
            return role
    raise AssertionError(f"nobody's perspective: {seen.suffix[:200]}")


@dataclass(frozen=True)
class Ran:
    """A process that ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """Its standard output as JSON."""
        try:
            found: dict[str, Any] = json.loads(self.out)
        except ValueError as exc:
            raise AssertionError(f"exit {self.code}, no JSON: {self.out[-2000:]}\n{self.err[-4000:]}") from exc
        return found

    @property
    def said(self) -> str:
        """All that a person could have read."""
        return self.out + self.err


class Stage:
    """A repository whose last commit adds ``shop/work.py``, and the command with a home of its own."""

    def __init__(self, folder: Path, functions: int = 12) -> None:
        self.folder = folder
        self.repo = Repo(folder)
        self.home = self.repo.home
        self.attempts_file = folder / "attempts"
        self.text = module(functions)
        self.keys: dict[str, str] = {}
        self.children: list[subprocess.Popen[bytes]] = []
        self.repo.write("README.md", "A shop.\n")
        self.repo.write("shop/__init__.py", "")
        self.repo.commit("Begin a shop")
        self.repo.write("shop/work.py", self.text)
        self.repo.commit("Add work")

    @property
    def state(self) -> Path:
        """Where this home remembers things."""
        return self.home / ".local" / "state" / "reviewbot"

    @property
    def claims(self) -> list[dict[str, Any]]:
        """Four claims about the change."""
        return disputed(self.text)

    @property
    def attempts(self) -> list[str]:
        """What a process tried beyond this machine."""
        return self.attempts_file.read_text().splitlines() if self.attempts_file.exists() else []

    def configure(self, settings: Mapping[str, Any]) -> None:
        """The user's own configuration (JSON is YAML)."""
        file = self.home / ".config" / "reviewbot" / "config.yml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings, indent=1), encoding="utf-8")

    def environment(self, **more: str) -> dict[str, str]:
        """What every process is started with: nothing of this machine's but its path."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "PYTHONPATH": f"{GUARD}{os.pathsep}{TOP}",
            "ATTEMPTS_FILE": str(self.attempts_file),
            **self.keys,
            **more,
        }

    def start(self, *words: str, **environment: str) -> subprocess.Popen[bytes]:
        """The command, begun."""
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        made = subprocess.Popen([COMMAND, *words], cwd=self.repo.path, env=self.environment(**environment), **pipes)
        self.children.append(made)
        return made

    def ended(self, process: subprocess.Popen[bytes], seconds: float = HANGS) -> Ran:
        """How it ended."""
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"it hangs: {out[-1000:]!r} {err[-3000:]!r}") from None
        return Ran(process.returncode, out.decode(), err.decode())

    def run(self, *words: str, seconds: float = HANGS, **environment: str) -> Ran:
        """The command, from its begin to its end."""
        return self.ended(self.start(*words, **environment), seconds)

    def reviewing(self, *words: str) -> subprocess.Popen[bytes]:
        """A review of the last commit as JSON, begun; no test of the change is run."""
        return self.start("review", "HEAD", "--no-exec", "--format", "json", *words)

    def review(self, *words: str, seconds: float = HANGS) -> Ran:
        """A review of the last commit as JSON."""
        return self.ended(self.reviewing(*words), seconds)

    def close(self) -> None:
        """No process outlives its test."""
        for child in self.children:
            if child.poll() is None:
                child.kill()
                child.communicate()


def one_vendor(models: Models, **other: Any) -> dict[str, Any]:
    """Three seats and a moderator at one server that speaks OpenAI's language."""
    seats = {role: {"model": "gpu:fake-1"} for role in ROLES}
    return {
        "providers": {"gpu": {"base_url": f"{models.url}/v1"}},
        "panel": seats,
        "moderator": {"model": "gpu:fake-1"},
        **other,
    }


def every_vendor(models: Models) -> dict[str, Any]:
    """The addresses of all vendors."""
    return {
        "anthropic": {"base_url": models.url, "local": True},
        "openai": {"base_url": f"{models.url}/v1", "local": True},
        "gemini": {"base_url": models.url, "local": True},
        "bedrock": {"base_url": models.url, "local": True},
        "ollama": {"base_url": models.url},
    }


KEYS = {
    "ANTHROPIC_API_KEY": "key-of-anthropic-0001",
    "OPENAI_API_KEY": "key-of-openai-0002",
    "GEMINI_API_KEY": "key-of-gemini-0003",
}

PASSING = ("run_id", "timing")
"""What differs between two equal reviews."""


def essence(document: Mapping[str, Any], *, without_usage: bool = False) -> dict[str, Any]:
    """A review without what tells when and by which run it was made. ``without_usage`` also leaves out what depends on what a
    server had in its cache, and how fast it was."""
    found = {name: value for name, value in document.items() if name not in PASSING}
    found["notes"] = [note for note in document["notes"] if note != "an interrupted debate was resumed"]
    leave = {"paid_usd", "replayed_calls", "seconds"}
    if without_usage:
        leave |= {"cached_input_tokens", "cached_share", "cost_usd", "estimated_usd"}
    usage = {name: value for name, value in document["usage"].items() if name not in leave}
    usage["by_panelist"] = {
        name: {part: value for part, value in one.items() if part not in leave} for name, one in usage["by_panelist"].items()
    }
    return found | {"usage": usage}
