"""What a vendor's cache compares is the same for every seat and every round, up to the breakpoint and as much as can be."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import Models, Seen
from tests.models.stage import CALLS, KEYS, ROLES, Stage, every_vendor, panelist

pytestmark = pytest.mark.ci

AWS = {"AWS_ACCESS_KEY_ID": "AK-of-a-test", "AWS_SECRET_ACCESS_KEY": "secret-of-a-test", "AWS_REGION": "us-east-1"}


def of_anthropic(body: dict[str, Any]) -> list[Any]:
    """Tools, system, and the user's blocks up to the last one with a breakpoint; with them the form of the answer."""
    blocks = body["messages"][0]["content"]
    last = max(place for place, block in enumerate(blocks) if "cache_control" in block)
    assert last < len(blocks) - 1, "something of its own follows"
    return [body.get("tools"), body["system"], blocks[: last + 1], body.get("output_config")]


def of_openai(body: dict[str, Any]) -> list[Any]:
    """The messages up to the question's own block."""
    system, user = body["messages"][:2]
    blocks = user["content"]
    shared = blocks[:-1] if isinstance(blocks, list) else blocks.split("# Your perspective")[0]
    return [body.get("tools"), system, shared, body.get("response_format"), body.get("prompt_cache_key")]


def of_gemini(body: dict[str, Any]) -> list[Any]:
    """All parts but the last."""
    return [body.get("tools"), body["systemInstruction"], body["contents"][0]["parts"][:-1]]


def of_bedrock(body: dict[str, Any]) -> list[Any]:
    """Everything before the last cache point."""
    blocks = body["messages"][0]["content"]
    last = max(place for place, block in enumerate(blocks) if "cachePoint" in block)
    assert last < len(blocks) - 1
    return [body.get("toolConfig"), body["system"], blocks[: last + 1], body.get("outputConfig")]


PREFIXES: dict[str, tuple[str, Callable[[dict[str, Any]], list[Any]]]] = {
    "anthropic": ("claude-fake-1", of_anthropic),
    "openai": ("gpt-fake-1", of_openai),
    "gemini": ("gemini-fake-1", of_gemini),
    "bedrock": ("global.anthropic.claude-fake-1", of_bedrock),
}


def prefix(vendor: str, seen: Seen) -> str:
    """What stands before a call's own part."""
    return json.dumps(PREFIXES[vendor][1](dict(seen.body)))


@pytest.mark.parametrize("vendor", PREFIXES)
def test_all_seats_and_rounds_share_the_prefix_and_most_bytes(vendor: str, tmp_path: Path, models: Models) -> None:
    stage = Stage(tmp_path, functions=40)
    stage.keys.update(KEYS | AWS)
    models.script = panelist(stage.claims)
    model = f"{vendor}:{PREFIXES[vendor][0]}"
    seats = {role: {"model": model} for role in ROLES}
    stage.configure({"providers": every_vendor(models), "panel": seats, "moderator": {"model": model}})
    ran = stage.review()
    assert ran.code == 0, ran.said
    assert len(models.calls) == CALLS
    (shared,) = {prefix(vendor, call) for call in models.calls}
    assert stage.text.split("\n")[200] in shared
    assert models.bytes_shared() >= 0.75
    usage = ran.document["usage"]
    assert usage["cached_share"] >= 0.7, "the vendor's cache sees it"
    assert stage.attempts == []


@pytest.mark.smoke
def test_every_portion_has_one_prefix_of_its_own(tmp_path: Path, models: Models) -> None:
    stage = Stage(tmp_path, functions=300)
    stage.keys.update(KEYS)
    models.script = panelist(stage.claims)
    seat = {"model": "anthropic:claude-fake-1", "context_window": 24_000}
    stage.configure(
        {
            "providers": {"anthropic": {"base_url": models.url, "local": True}},
            "panel": dict.fromkeys(ROLES, seat),
            "moderator": seat,
            "limits": {"tokens": 10_000_000, "cost_usd": 1_000},
        }
    )
    ran = stage.review()
    assert ran.code == 0, ran.said
    portions = {prefix("anthropic", call) for call in models.calls}
    first_passes = [call for call in models.calls if "What is wrong with this change?" in call.suffix]
    assert len(portions) == len(first_passes) / len(ROLES) >= 2
    assert len(models.calls) > len(first_passes)
    assert stage.attempts == []
