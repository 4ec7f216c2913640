"""What tests of Bedrock share: an account at a fake server, and nobody's credentials around."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from reviewbot.ports import Account, ModelCall
from tests.fakes import Models
from tests.fakes.faults import Canned
from tests.fakes.http import Reply
from tests.panel.probing import KEY, a_call

GOOD = '{"verdict": "good", "rule": null, "check": null}'
CLAUDE = "global.anthropic.claude-sonnet-5-5"
LLAMA = "meta.llama4-maverick-17b-instruct-v1:0"
SECRET = "secret/0123456789abcdefghijABCDEFGHIJ+xyz"
SIGNED = {"AWS_ACCESS_KEY_ID": "AKIAEXAMPLEEXAMPLE12", "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "eu-central-1"}


def forget_aws(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """No credentials of whoever runs the tests."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(folder / "none"))


def account(models: Models, **environment: str) -> Account:
    """With keys that sign."""
    return Account("bedrock", models.url, environment={**SIGNED, **environment})


def with_token(models: Models) -> Account:
    """With a Bedrock key."""
    return Account("bedrock", models.url, KEY)


def claude(**changes: object) -> ModelCall:
    """A call of a model that takes everything."""
    return a_call(model=CLAUDE, **changes)


def refused(status: int, error: str, message: str) -> Canned:
    """An error response."""
    return Canned("refused", Reply(status, (json.dumps({"message": message}).encode(),), headers=(("x-amzn-ErrorType", error),)))


def complains(message: str) -> Canned:
    """A ValidationException."""
    return refused(400, "ValidationException", message)
