"""What ``doctor`` looks at on this machine, and how it tells it."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from reviewbot import __version__
from reviewbot.config import Configuration
from reviewbot.screen import hidden

OLDEST_GIT = (2, 39)

#: Variables with a vendor's key. Their values are never read.
KEYS = (
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENROUTER_API_KEY",
    "AWS_BEARER_TOKEN_BEDROCK",
    "OLLAMA_HOST",
)

#: A tool that checks a change: the distribution that brings it, and what is missing without it.
TOOLS = (("ruff", "no linter runs"), ("pytest", "no tests run"), ("coverage", "changed lines are not measured"))

#: A part that comes with an extra of that name: the distribution that brings it, the variable that asks for it ("" where
#: nothing does), and what is missing without it.
EXTRAS = (
    ("anthropic", "anthropic", "ANTHROPIC_API_KEY", "Claude is not asked"),
    ("openai", "openai", "OPENAI_API_KEY OPENROUTER_API_KEY", "OpenAI and what speaks its language is not asked"),
    ("gemini", "google-genai", "GEMINI_API_KEY GOOGLE_API_KEY", "Gemini is not asked"),
    ("bedrock", "boto3", "AWS_BEARER_TOKEN_BEDROCK", "Bedrock is not asked"),
    ("ollama", "httpx2", "OLLAMA_HOST", "Ollama is not asked"),
    ("ledger", "sqlalchemy", "", "no paid call is remembered, so none is made"),
    ("context", "ast-grep-py", "", "a panel sees callers and definitions by lines instead of syntax"),
)

COLORS = {"ok": "32", "open": "36", "warn": "33", "bad": "31"}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing looked at. ``state``: ``ok``, ``open`` (nothing is wrong; more could be had), ``warn`` (less is reviewed than
    could be) or ``bad`` (no review is possible). ``text`` is what is there or missing and why that matters, ``next_step`` what
    mends it."""

    name: str
    state: str
    text: str
    next_step: str = ""


def examine(environ: Mapping[str, str], state: Path, configuration: Configuration | None = None) -> tuple[Diagnosis, ...]:
    """Everything that can be told without a repository. ``configuration`` may name variables with keys of its own."""
    found = keys_found(environ, configuration or Configuration())
    return (
        Diagnosis("reviewbot", "ok", f"{__version__}, Python {platform.python_version()}"),
        git(environ),
        *(tool(name, loss) for name, loss in TOOLS),
        state_folder(state),
        keys(found),
        *(extra(name, distribution, variables, environ=environ, loss=loss) for name, distribution, variables, loss in EXTRAS),
    )


def git(environ: Mapping[str, str]) -> Diagnosis:
    """Is git there, and new enough?"""
    try:
        said = subprocess.run(
            ("git", "--version"),
            env={"PATH": environ.get("PATH", os.defpath), "LC_ALL": "C"},
            capture_output=True,
            timeout=10,
            check=True,
        ).stdout.decode(errors="replace")
    except (OSError, subprocess.SubprocessError):
        return Diagnosis("git", "bad", "not found: no change can be read", "sudo apt-get install git")
    version = re.search(r"(\d+)\.(\d+)[\w.]*", said)
    if version is None or (int(version[1]), int(version[2])) < OLDEST_GIT:
        text = f"{said.strip()} is older than 2.39: reviewbot is not tried with it"
        return Diagnosis("git", "warn", text, "sudo apt-get install git, from a newer release or git's own packages")
    return Diagnosis("git", "ok", version[0])


def tool(name: str, loss: str) -> Diagnosis:
    """Is a tool installed beside reviewbot?"""
    try:
        return Diagnosis(name, "ok", metadata.version(name))
    except metadata.PackageNotFoundError:
        return Diagnosis(name, "warn", f"not installed: {loss}", f"install it beside reviewbot: pip install {name}")


def state_folder(folder: Path) -> Diagnosis:
    """Could the state directory be written? Nothing is created."""
    existing = next((place for place in (folder, *folder.parents) if place.exists()), Path("/"))
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        return Diagnosis("state", "ok", str(folder))
    return Diagnosis(
        "state",
        "warn",
        f"{folder} cannot be written: nothing is remembered, so no debate goes on and 'explain' knows nothing",
        "make it writable, or name another folder with --state",
    )


def keys_found(environ: Mapping[str, str], configuration: Configuration) -> tuple[str, ...]:
    """The names of variables with a vendor's key that are set, also of those that configuration names."""
    own = (configuration.value(f"providers.{name}.api_key_env") for name in configuration.names("providers"))
    names = (*KEYS, *(name for name in own if isinstance(name, str)))
    return tuple(dict.fromkeys(name for name in names if environ.get(name)))


def keys(found: tuple[str, ...]) -> Diagnosis:
    """Which keys are there, by name only."""
    if found:
        return Diagnosis("keys", "ok", f"found {', '.join(found)}; 'reviewbot models list' asks them")
    step = "export ANTHROPIC_API_KEY=…, or another provider's key, or OLLAMA_HOST"
    return Diagnosis("keys", "open", "none found: the static panel reviews, and no language model", step)


def extra(name: str, distribution: str, variables: str, *, environ: Mapping[str, str], loss: str) -> Diagnosis:
    """Is an optional part installed? It is missed only where a key asks for it."""
    try:
        return Diagnosis(name, "ok", f"{distribution} {metadata.version(distribution)}")
    except metadata.PackageNotFoundError:
        asking = [variable for variable in variables.split() if environ.get(variable)]
        if not asking:
            return Diagnosis(name, "ok", f"{distribution} is not installed: {loss}")
        text = f"{asking[0]} is set and {distribution} is not installed: {loss}"
        return Diagnosis(name, "warn", text, f"pip install 'reviewbot[{name}]'")


def exit_code(diagnoses: Iterable[Diagnosis]) -> int:
    """0, or 3 where something that every review needs is broken."""
    return 3 if any(diagnosis.state == "bad" for diagnosis in diagnoses) else 0


def table(diagnoses: tuple[Diagnosis, ...], *, color: bool) -> str:
    """One line each, and the next step under what is missing."""
    width = max(len(diagnosis.name) for diagnosis in diagnoses)
    lines = []
    for one in diagnoses:
        mark = f"\x1b[{COLORS[one.state]}m{one.state:<4}\x1b[0m" if color else f"{one.state:<4}"
        lines.append(f"{mark}  {one.name:<{width}}  {hidden.visible(one.text)}")
        if one.next_step:
            lines.append(f"      {'':<{width}}  → {hidden.visible(one.next_step)}")
    return "\n".join(lines)
