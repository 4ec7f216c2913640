"""Known secret formats are found and redacted; ordinary code is not. The samples are put together here, so none is in the file."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.screen import secrets

A = "a1B2c3D4e5F6g7H8i9J0"
HEX = "0123456789abcdef"
SAMPLES = {
    "aws-access-key": "AKIA" + "IOSFODNN7EXAMPLE",
    "aws-secret-key": 'aws_secret_access_key = "' + "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + 'EXAMPLEKEY"',
    "github-token": "ghp_" + A + A,
    "gitlab-token": "glpat-" + A,
    "anthropic-key": "sk-ant-" + "api03-" + A,
    "openrouter-key": "sk-or-v1-" + HEX * 4,
    "openai-key": "sk-proj-" + A + A,
    "google-api-key": "AIza" + "SyA1234567890abcdefghijklmnopqrstuv",
    "stripe-key": "sk_live_" + A,
    "slack-token": "xoxb-" + "123456789012-" + A,
    "slack-webhook": "https://hooks.slack.com/services/" + "T00000000/B00000000/" + A,
    "npm-token": "npm_" + A + A[:16],
    "pypi-token": "pypi-AgE" + "IcHlwaS5vcmc" + A * 4,
    "huggingface-token": "hf_" + A + A[:14],
    "sendgrid-key": "SG." + A + "ab." + A + A + "abc",
    "digitalocean-token": "dop_v1_" + HEX * 4,
    "azure-storage-key": "AccountKey=" + A * 4 + "abcdef" + "==",
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9." + "eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0." + A,
    "private-key": "-----BEGIN RSA PRIVATE " + "KEY-----\n" + (A * 3 + "\n") * 4 + "-----END RSA PRIVATE " + "KEY-----",
    "url-password": "postgres://app:" + "hunter2hunter2" + "@db.example.org/app",
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_known_format_is_redacted(name: str) -> None:
    text = f"before {SAMPLES[name]} after\n"
    shown, count = secrets.redact(text)
    assert count == 1
    assert f"«secret:{name}»" in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after\n")
    assert shown.count("\n") == text.count("\n")
    assert A not in shown


@pytest.mark.parametrize(
    "text",
    [
        "key = os.environ['AWS_SECRET_ACCESS_KEY']",
        'if "-----BEGIN PRIVATE ' + 'KEY-----" in text:',
        "postgres://user:password@localhost/db",
        "https://{user}:{password}@host/",
        "https://$USER:$TOKEN@host/",
        "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "http://localhost:8080/a@b",
        "sk-learn-contrib and sk_live and AKIA",
    ],
)
def test_ordinary_code_is_no_secret(text: str) -> None:
    assert secrets.redact(text) == (text, 0)


def test_a_private_key_without_its_end_is_redacted_too() -> None:
    shown, count = secrets.redact("-----BEGIN PRIVATE " + "KEY-----\n" + (A * 3 + "\n") * 3 + "def after(): pass\n")
    assert count == 1
    assert A not in shown
    assert shown.endswith("def after(): pass\n")
    assert shown.count("\n") == 5


@given(st.lists(st.sampled_from([*SAMPLES.values(), " ", "\n", "x", '"', "eyJ", "://a:"]), max_size=12))
def test_redaction_is_idempotent_and_keeps_the_lines(pieces: list[str]) -> None:
    text = " ".join(pieces)
    shown, _ = secrets.redact(text)
    assert secrets.redact(shown) == (shown, 0)
    assert shown.count("\n") == text.count("\n")
    spans = [(secret.start, secret.end) for secret in secrets.find(text)]
    assert all(first[1] <= second[0] for first, second in pairwise(spans))


@pytest.mark.parametrize(
    "piece",
    [
        "eyJ",
        "-----BEGIN PRIVATE " + "KEY-----",
        "://a:",
        "aws_secret",
        "AccountKey=",
        "sk-ant-",
        "xoxb-1-",
        "github_pat_",
        "A" * 99,
    ],
)
def test_no_text_takes_more_than_linear_time(piece: str) -> None:
    def seconds(repeats: int) -> float:
        started = time.process_time()
        secrets.redact(piece * repeats)
        return time.process_time() - started

    assert seconds(40_000) < 40 * max(seconds(4_000), 0.002)
