"""Keys go to their own origin and nowhere else; a secret in the change goes nowhere at all."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import Decoy, Models, Seen, faults
from tests.fakes.scripts import perform
from tests.models.stage import KEYS, Ran, Stage, every_vendor, one_vendor, panelist

pytestmark = pytest.mark.ci

AWS = {"AWS_ACCESS_KEY_ID": "AK-of-a-test-0004", "AWS_SECRET_ACCESS_KEY": "secret-of-a-test-0005", "AWS_REGION": "us-east-1"}
OWN = {
    "anthropic": KEYS["ANTHROPIC_API_KEY"],
    "openai": KEYS["OPENAI_API_KEY"],
    "gemini": KEYS["GEMINI_API_KEY"],
}
SECRETS = (*OWN.values(), AWS["AWS_ACCESS_KEY_ID"], AWS["AWS_SECRET_ACCESS_KEY"])

#: Assembled, so that no scanner takes this file for a leak.
PLANTED = "AKIA" + "M4XW7QZN2TJ5KDVB"
PLANTED_TOKEN = "ghp_" + "w7Kq2LxN9vRt4YbM6sDf8HjP3cZa5GeU1oQi"


def panel(models: Models, **other: Any) -> dict[str, Any]:
    """A seat for each of three vendors, Bedrock for a moderator."""
    return {
        "providers": every_vendor(models),
        "panel": {
            "critic": {"model": "anthropic:claude-fake-1"},
            "reviewer": {"model": "openai:gpt-fake-1"},
            "optimizer": {"model": "gemini:gemini-fake-1"},
        },
        "moderator": {"model": "bedrock:global.anthropic.claude-fake-1"},
        "debate": {"round_seconds": 3},
        **other,
    }


def files_below(*folders: Path) -> Iterator[tuple[Path, bytes]]:
    """Every file with its bytes."""
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file():
                yield path, path.read_bytes()


def texts_of_the_ledger(stage: Stage) -> Iterator[bytes]:
    """Every value of every table, whatever a file's bytes look like."""
    for path in stage.state.rglob("*"):
        if path.is_file() and path.read_bytes()[:15] == b"SQLite format 3":
            with sqlite3.connect(path) as database:
                tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
                for table in tables:
                    for row in database.execute(f'SELECT * FROM "{table}"'):
                        yield from (value if isinstance(value, bytes) else str(value).encode() for value in row)
            database.close()


def check_nowhere(stage: Stage, secrets: tuple[str, ...], *ran: Ran) -> None:
    """In nothing that was said or kept."""
    for one in ran:
        assert not [secret for secret in secrets if secret in one.said]
    (stage.folder / "config").mkdir(exist_ok=True)
    for path, data in files_below(stage.state):
        assert not [secret for secret in secrets if secret.encode() in data], path
    values = list(texts_of_the_ledger(stage))
    assert len(values) > 100, "there is a ledger"
    assert not [secret for secret in secrets for value in values if secret.encode() in value]
    for _, data in files_below(stage.repo.path / ".git"):
        assert not [secret for secret in secrets[:1] if secret.encode() in data and secret in OWN.values()]


@pytest.fixture
def keyed(stage: Stage) -> Stage:
    """With all keys."""
    stage.keys.update(KEYS | AWS)
    return stage


@pytest.mark.ci
def test_every_key_goes_to_its_own_vendor_only(keyed: Stage, models: Models) -> None:
    models.script = panelist(keyed.claims)
    keyed.configure(panel(models))
    ran = keyed.review("--log-format", "json")
    text = keyed.run("review", "HEAD", "--no-exec", "-v")
    html = keyed.run("review", "HEAD", "--no-exec", "--format", "html")
    listed = keyed.run("models", "list", "--format", "json")
    config = keyed.run("config", "show")
    assert (ran.code, text.code, html.code, listed.code) == (0, 0, 0, 0), ran.said + listed.said
    assert {call.protocol for call in models.calls} == {*OWN, "bedrock"}
    for call in models.calls:
        sent = call.raw + repr(sorted(call.headers.items())).encode() + call.path.encode()
        for vendor, key in OWN.items():
            assert (key.encode() in sent) is (vendor == call.protocol), (call.protocol, vendor)
        assert AWS["AWS_SECRET_ACCESS_KEY"].encode() not in sent, "it signs and is never sent"
    assert not any(key in request.path for request in models.requests for key in SECRETS), "in no address"
    check_nowhere(keyed, SECRETS, ran, text, html, listed, config)


@pytest.mark.parametrize("status", [307, 302])
def test_a_redirect_takes_no_key_anywhere(status: int, keyed: Stage, models: Models) -> None:
    with Decoy() as decoy:
        models.script = lambda seen: faults.redirect(status, decoy.url)
        settings = panel(models)
        settings["panel"]["tester"] = {"model": "ollama:fake:1b"}
        settings["debate"] = {"round_seconds": 120}  # in less a machine that nobody measured is asked nothing
        keyed.configure(settings)
        ran = keyed.review()
        assert {call.protocol for call in models.calls} == {*OWN, "ollama"}
        assert decoy.requests == []
        assert decoy.keys == []
    assert ran.code == 3
    assert (ran.document["conclusion"], ran.document["verdict"]) == ("not_reviewed", None)
    check_nowhere(keyed, SECRETS, ran)


@pytest.mark.ci
def test_a_server_that_says_the_key_back_is_not_quoted(keyed: Stage, models: Models) -> None:
    good = panelist(keyed.claims)

    def echo(seen: Seen) -> Any:
        key = OWN.get(seen.protocol)
        if seen.protocol in ("anthropic", "openai"):
            return faults.Canned(
                "echo", faults.Reply(401, (f'{{"error": {{"message": "no such key: {key}", "type": "x"}}}}'.encode(),))
            )
        return perform(good, seen)

    models.script = echo
    keyed.configure(panel(models))
    ran = keyed.review("-v")
    text = keyed.run("review", "HEAD", "--no-exec", "-v")
    assert ran.code == 3
    check_nowhere(keyed, SECRETS, ran, text)


@pytest.mark.smoke
def test_a_secret_in_the_change_reaches_no_server_and_no_report(stage: Stage, models: Models) -> None:
    stage.repo.write("shop/keys.py", f'KEY = "{PLANTED}"\nTOKEN = "{PLANTED_TOKEN}"\n\n\ndef use():\n    return KEY\n')
    stage.repo.write("shop/work.py", stage.text + f"\n# {PLANTED_TOKEN}\n")
    stage.repo.commit(f"Add keys such as {PLANTED}")
    claims = [one for one in stage.claims if one["line"] < 0]
    models.script = panelist(claims)
    stage.configure(one_vendor(models, debate={"effort": "high"}))
    ran = stage.review()
    text = stage.run("review", "HEAD", "--no-exec", "-v")
    assert any("«secret:" in call.prompt for call in models.calls)
    for request in models.calls:
        assert PLANTED.encode() not in request.raw
        assert PLANTED_TOKEN.encode() not in request.raw
    check_nowhere(stage, (PLANTED, PLANTED_TOKEN), ran, text)
