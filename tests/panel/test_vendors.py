"""The table of providers: what a name means, whose weights a model's are, and that nothing heavy is imported to know it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from reviewbot.adapters.panel import vendors
from reviewbot.adapters.panel.vendors import VENDORS, Vendor, family, open_provider, vendor_named
from reviewbot.errors import ConfigError
from reviewbot.ports import Account

HEAVY = ("anthropic", "openai", "google.genai", "boto3", "httpx2", "pydantic", "sqlalchemy", "ssl", "asyncio")


def test_knowing_the_vendors_loads_no_library():
    code = (
        "import sys; from reviewbot.adapters.panel import vendors, origin; vendors.vendor_named('vllm', 'http://127.0.0.1:1'); "
        f"vendors.family('x'); import json; print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout) == []


def test_every_vendor_of_the_house_is_there_and_complete():
    assert {"anthropic", "openai", "gemini", "bedrock", "ollama", "openrouter"} <= {vendor.name for vendor in VENDORS}
    for vendor in VENDORS:
        assert vendor.default_model
        assert vendor.concurrency >= 1
        assert bool(vendor.key_names) == vendor.needs_key
        assert vendor.extra
        if vendor.families:
            assert family(vendor.default_model) in vendor.families
    assert [vendor.name for vendor in VENDORS if vendor.local] == ["ollama"]


def test_the_default_models_are_known_to_the_vendors_libraries():
    from anthropic.types import Model
    from openai.types import ChatModel

    known = [name for union in get_args(Model) for name in get_args(union)]
    assert vendor_named("anthropic").default_model in known
    assert vendor_named("openai").default_model in get_args(ChatModel)


def test_any_name_with_an_address_speaks_openais_language():
    found = vendor_named("my-gpu.1", "http://127.0.0.1:8000/v1")
    assert (found.cls, found.base_url, found.needs_key) == ("OpenAI", "http://127.0.0.1:8000/v1", False)
    assert found.key_names == ("MY_GPU_1_API_KEY",)


def test_a_name_without_an_address_is_an_error_that_lists_the_known_ones():
    with pytest.raises(ConfigError) as caught:
        vendor_named("antropic")
    assert "anthropic" in caught.value.hint
    assert "base_url" in caught.value.hint


@pytest.mark.parametrize("name", ["anthropic", "openai", "openrouter", "openai-responses"])
def test_a_provider_is_opened_at_its_vendors_address(name: str):
    vendor = vendor_named(name)
    made = open_provider(vendor, Account(name, key="k"))
    assert type(made).__name__ == vendor.cls
    assert str(vars(made)["_client"].base_url).rstrip("/") == vendor.base_url
    asyncio.run(made.close())


def test_a_missing_library_says_how_to_get_it():
    vendor = Vendor("gone", "a_package_that_is_not_there.inside", "X", "gone")
    with pytest.raises(ConfigError) as caught:
        open_provider(vendor, Account("gone"))
    assert caught.value.hint == "pip install 'reviewbot[gone]'"


def test_a_missing_module_of_our_own_is_a_bug_and_stays_one():
    with pytest.raises(ModuleNotFoundError):
        open_provider(Vendor("gone", "reviewbot.adapters.panel.gone", "X"), Account("gone"))


PLUGIN = """
from reviewbot.adapters.panel.vendors import Vendor

class Friendly:
    vendor = Vendor("whatever", "", "", default_model="friend-1", needs_key=False)
    def __init__(self, account):
        self.account = account
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An installed package that adds the providers ``friendly`` and, broken, ``broken`` and ``silent``."""
    (tmp_path / "friendly_plugin.py").write_text(PLUGIN + "\nclass Silent:\n    vendor = 1\n")
    info = tmp_path / "friendly-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: friendly\nVersion: 1.0\n")
    lines = ["friendly = friendly_plugin:Friendly", "broken = no_such_plugin:Friendly", "silent = friendly_plugin:Silent"]
    lines += ["anthropic = friendly_plugin:Friendly"]
    (info / "entry_points.txt").write_text(f"[{vendors.ENTRY_POINTS}]\n" + "\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("friendly_plugin", None)


def test_another_package_adds_a_provider(plugin: None):
    vendor = vendor_named("friendly")
    assert (vendor.name, vendor.default_model) == ("friendly", "friend-1")
    made: Any = open_provider(vendor, Account("friendly", "https://friend.example"))
    assert vars(made)["_provider"].account.base_url == "https://friend.example", "inside of what keeps its surprises from us"


def test_another_package_cannot_take_the_name_of_a_vendor_of_the_house(plugin: None):
    assert vendor_named("anthropic").cls == "Anthropic"


@pytest.mark.parametrize("name", ["broken", "silent"])
def test_a_provider_that_cannot_be_loaded_is_an_error_of_its_package(plugin: None, name: str):
    with pytest.raises(ConfigError, match=name):
        vendor_named(name, "https://h.example")


FAMILIES = {
    "claude-sonnet-5-5": "anthropic", "global.anthropic.claude-sonnet-5-5": "anthropic", "anthropic/claude-opus-5": "anthropic",
    "gpt-5.6-terra": "openai", "openai/gpt-oss-120b": "openai", "o3-mini": "openai", "chatgpt-4o-latest": "openai",
    "gemini-3.8-flash": "google", "models/gemini-3-pro": "google", "gemma3:27b": "google",
    "llama3.2:3b": "meta", "meta.llama3-70b-instruct-v1:0": "meta", "codellama:7b": "meta",
    "qwen3-coder:30b": "alibaba", "Qwen/Qwen3-Coder-30B": "alibaba", "qwq:32b": "alibaba",
    "mistral-large": "mistral", "codestral:22b": "mistral", "devstral": "mistral", "mixtral-8x7b": "mistral",
    "deepseek-r1:14b": "deepseek", "deepseek-r1-distill-llama-70b": "deepseek", "us.amazon.nova-pro-v1:0": "amazon",
    "phi4:14b": "microsoft", "grok-4": "xai", "glm-4.6": "glm", "kimi:latest": "kimi", "dolphin": "dolphin", "openrouter/auto": "auto",
    "innovation-1": "innovation", "": "",
}  # fmt: skip


@pytest.mark.parametrize("model", FAMILIES)
def test_a_models_family_is_whoever_made_its_weights(model: str):
    assert family(model) == FAMILIES[model]
