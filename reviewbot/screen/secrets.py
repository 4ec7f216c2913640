"""Known formats of secrets: found, and redacted. Best effort by design; no guessing by entropy.

Every format has literal anchors, looked for first, so that clean text costs a few substring searches. Every expression
either begins at a boundary of its own alphabet or repeats a bounded number of times, which keeps the search linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Secret:
    """One secret: the name of its format and where it stands in the text that was searched."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Format:
    """``pattern``'s group ``secret``, or all of it, is the secret; one of ``anchors`` occurs in every match."""

    name: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]


def _format(name: str, anchors: str, pattern: str) -> _Format:
    return _Format(name, tuple(anchors.split()), re.compile(pattern))


_WORD = r"(?<![A-Za-z0-9_-])"
_KEY_BODY = r"(?:[^-]|-(?!----)){0,20000}"
_FORMATS = (
    _format("aws-access-key", "AKIA ASIA", r"(?<![A-Za-z0-9])A[KS]IA[0-9A-Z]{16}(?![A-Za-z0-9])"),
    _format(
        "aws-secret-key",
        "aws AWS Aws secret_access_key SecretAccessKey",
        r"(?:(?i:aws)[\w.-]{0,20}(?i:secret|key)|(?i:secret_?access_?key))[\w.-]{0,20}[\"']?\s{0,4}(?::=|[=:]|=>)\s{0,4}"
        r"[\"']?(?P<secret>[0-9A-Za-z/+]{40})(?![0-9A-Za-z/+=])",
    ),
    _format("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", _WORD + r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    _format("github-token", "github_pat_", _WORD + r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    _format("gitlab-token", "glpat-", _WORD + r"glpat-[A-Za-z0-9_-]{20,300}"),
    _format("anthropic-key", "sk-ant-", _WORD + r"sk-ant-[A-Za-z0-9_-]{20,300}"),
    _format("openrouter-key", "sk-or-", _WORD + r"sk-or-v1-[0-9a-f]{64}"),
    _format("openai-key", "sk-proj- sk-svcacct- sk-admin-", _WORD + r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,300}"),
    _format("openai-key", "T3BlbkFJ", _WORD + r"sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}"),
    _format("google-api-key", "AIza", _WORD + r"AIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])"),
    _format("google-oauth-secret", "GOCSPX-", _WORD + r"GOCSPX-[A-Za-z0-9_-]{28}"),
    _format("stripe-key", "sk_live_ rk_live_ sk_test_ rk_test_", _WORD + r"[sr]k_(?:live|test)_[0-9A-Za-z]{16,250}"),
    _format("stripe-webhook-secret", "whsec_", _WORD + r"whsec_[0-9A-Za-z+/]{32,100}"),
    _format("slack-token", "xoxa- xoxb- xoxe- xoxp- xoxr- xoxs-", _WORD + r"xox[abeprs]-[0-9A-Za-z-]{10,250}"),
    _format("slack-webhook", "hooks.slack.com", r"hooks\.slack\.com/services/(?P<secret>T\w{8,12}/B\w{8,12}/\w{20,32})"),
    _format("npm-token", "npm_", _WORD + r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _format("pypi-token", "pypi-AgE", _WORD + r"pypi-AgE[A-Za-z0-9_-]{50,1000}"),
    _format("huggingface-token", "hf_", _WORD + r"hf_[A-Za-z0-9]{34}(?![A-Za-z0-9])"),
    _format("sendgrid-key", "SG.", _WORD + r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    _format("twilio-key", "SK", r"(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])"),
    _format("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", _WORD + r"do[por]_v1_[0-9a-f]{64}"),
    _format("azure-storage-key", "AccountKey=", r"AccountKey=(?P<secret>[A-Za-z0-9+/]{86}==)"),
    _format("jwt", "eyJ", _WORD + r"eyJ[A-Za-z0-9_-]{10,4000}\.eyJ[A-Za-z0-9_-]{10,8000}\.[A-Za-z0-9_-]{16,4000}"),
    _format(
        "private-key",
        "PRIVATE",
        rf"-----BEGIN (?:[A-Z0-9]{{1,12}} ){{0,3}}PRIVATE KEY(?: BLOCK)?-----(?P<secret>{_KEY_BODY})"
        r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
    ),
    _format(
        "private-key",
        "PRIVATE",
        r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"(?P<secret>(?:[\s\"'+\\nr]{1,40}[A-Za-z0-9+/=]{40,2000}){1,500})",
    ),
    _format(
        "url-password",
        "://",
        r"://[^\s/:@\"'`<>]{0,100}:(?P<secret>[^\s/:@\"'`<>{}$*%]{3,200})@[\w.\[-]",
    ),
)
_ANCHORS = tuple((anchor, known) for known in _FORMATS for anchor in known.anchors)
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/=]{24}")
_PLACEHOLDERS = frozenset({"password", "passwd", "pass", "secret", "pwd", "changeme", "token", "xxx", "xxxx", "..."})


def find(text: str) -> Iterator[Secret]:
    """The secrets in ``text``, in order and without overlap. ``text`` may have many lines."""
    end = 0
    for secret in sorted(_candidates(text), key=lambda secret: (secret.start, -secret.end)):
        if secret.start >= end:
            yield secret
            end = secret.end


def redact(text: str) -> tuple[str, int]:
    """``text`` with placeholders such as ``«secret:aws-access-key»``, and how many. The number of lines stays."""
    pieces: list[str] = []
    position = count = 0
    for secret in find(text):
        line_feeds = text.count("\n", secret.start, secret.end)
        pieces += (text[position : secret.start], f"«secret:{secret.name}»", "\n" * line_feeds)
        position, count = secret.end, count + 1
    return ("".join((*pieces, text[position:])), count) if count else (text, 0)


def _candidates(text: str) -> Iterator[Secret]:
    for known in dict.fromkeys([known for anchor, known in _ANCHORS if anchor in text]):
        group = "secret" if "secret" in known.pattern.groupindex else 0
        for match in known.pattern.finditer(text):
            if _is_real(known.name, match[group]):
                yield Secret(known.name, *match.span(group))


def _is_real(name: str, value: str) -> bool:
    """A format alone is not enough where documentation writes the same form."""
    if name == "url-password":
        return value.lower() not in _PLACEHOLDERS
    return name != "private-key" or _BASE64_RUN.search(value) is not None
