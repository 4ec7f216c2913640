"""Known formats of secrets: found, and redacted. Best effort; nothing is guessed by entropy.

Literal anchors are looked for first, so text without secrets costs a few substring searches.
"""

import re

from msgspec import Struct

from reviewbot.text.hidden import visible
from reviewbot.text.plain import plain


class Secret(Struct, frozen=True):
    """A secret in a text: `text[start:end]`, and the name of its format."""

    name: str
    start: int
    end: int


class Format(Struct, frozen=True):
    """One of the `anchors` (split at spaces) is part of every match of `pattern`.

    The secret is the group `secret` of the pattern, or all of it. A pattern must take linear time
    on hostile text: what it repeats is bounded, possessive, or cannot be followed by a failure.
    There is a border only where a character beside it could belong to the token: `x_ghp_…` is one.
    """

    name: str
    anchors: str
    pattern: str


URL_PART = r"""[^\s/:@"'`<>«»]"""

# Most forms are those of https://github.com/gitleaks/gitleaks/blob/master/config/gitleaks.toml
FORMATS = (
    Format("aws-access-key", "AKIA ASIA", r"(?<![A-Z0-9])A[KS]IA[0-9A-Z]{16}(?![A-Z0-9])"),
    Format(
        "aws-secret-key",
        "aws AWS Aws secret_access_key SECRET_ACCESS_KEY SecretAccessKey secretAccessKey",
        r"(?:(?i:aws)(?=[\w.-]{0,40}(?i:secret|key))|(?i:secret_?access_?key))[\w.-]{0,40}+[\"']?"
        r"\s{0,4}(?::=|=>|[=:])\s{0,4}[\"']?(?P<secret>[0-9A-Za-z/+]{40})(?![0-9A-Za-z/+=])",
    ),
    Format("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,}"),
    Format("github-token", "github_pat_", r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59,}"),
    Format("gitlab-token", "glpat-", r"glpat-[\w-]{20,}"),
    Format("anthropic-key", "sk-ant-", r"sk-ant-[\w-]{20,}"),
    Format("openrouter-key", "sk-or-", r"sk-or-v1-[0-9a-f]{64}"),
    Format("openai-key", "sk-proj- sk-svcacct- sk-admin-", r"sk-(?:proj|svcacct|admin)-[\w-]{20,}"),
    Format("openai-key", "T3BlbkFJ", r"sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}"),
    Format("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{52,}"),
    Format("google-api-key", "AIza", r"AIza[\w-]{35}"),
    Format("google-oauth-secret", "GOCSPX-", r"GOCSPX-[\w-]{28}"),
    Format("stripe-key", "k_live_ k_test_", r"[sr]k_(?:live|test)_[0-9A-Za-z]{16,}"),
    Format("stripe-webhook-secret", "whsec_", r"whsec_[0-9A-Za-z+/]{32,}"),
    Format("slack-token", "xox", r"xox[abeprs]-[0-9A-Za-z-]{10,}"),
    Format(
        "slack-webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/services/(?P<secret>T\w{8,12}/B\w{8,12}/\w{20,32})",
    ),
    Format("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    Format("npm-token", "npm_", r"npm_[A-Za-z0-9]{36,}"),
    Format("pypi-token", "pypi-AgE", r"pypi-AgE[\w-]{50,}"),
    Format("huggingface-token", "hf_", r"hf_[A-Za-z0-9]{34,}"),
    Format("sendgrid-key", "SG.", r"SG\.[\w-]{22}\.[\w-]{43}"),
    Format("twilio-key", "SK", r"(?<![A-Z])SK[0-9a-f]{32}(?![0-9a-f])"),
    Format("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[por]_v1_[0-9a-f]{64}"),
    Format("azure-storage-key", "AccountKey=", r"AccountKey=(?P<secret>[A-Za-z0-9+/]{86}==)"),
    # The first `eyJ` of a run has the most characters before the dot, so no other is tried.
    Format(
        "jwt",
        "eyJ",
        r"(?<![\w-])(?>[\w-]*?(?=eyJ))(?P<secret>eyJ[\w-]{10,}+\.eyJ[\w-]{10,}+\.[\w-]{16,}+)",
    ),
    # Without its end, for example in a diff, a key is lines, which may be parts of a string.
    Format(
        "private-key",
        "PRIVATE",
        r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?P<secret>"
        r"(?:[^-]|-(?!----)){0,20000}+(?=-----END [A-Z0-9 ]{0,40}PRIVATE KEY)"
        r"|(?:[\s\"'+\\nr]{1,40}[A-Za-z0-9+/=]{40,2000}){1,500})",
    ),
    Format(
        "url-password",
        "://",
        rf"://(?P<user>{URL_PART}{{0,100}}):(?!(?P=user)@)"
        r"""(?P<secret>(?:[^\s/:@"'`<>«»{}$*%]|%[0-9A-Fa-f]{2}){3,200})@(?:(?u:\w)|[.\[-])""",
    ),
)
ANCHORS = tuple((anchor, row) for row in FORMATS for anchor in row.anchors.split())

# What documentation writes in place of a secret.
PLACEHOLDER = re.compile(
    r"example|your[_-]|placeholder|dummy|changeme|redacted|([x0*.])\1{7}", re.IGNORECASE
)
PLACEHOLDER_PASSWORD = re.compile(
    r"passw(?:or)?d|passw0rd|pass|pwd|secret|token|hunter2|x+|\.+", re.IGNORECASE
)
BASE64_RUN = re.compile(r"[A-Za-z0-9+/=]{24}")


def find_secrets(text: str) -> list[Secret]:
    """The secrets of a text with any number of lines, in order; two that overlap are one."""
    matches = []
    for row in dict.fromkeys([row for anchor, row in ANCHORS if anchor in text]):
        group = "secret" if "(?P<secret>" in row.pattern else 0
        for match in re.finditer(row.pattern, text, re.ASCII):
            if not _is_placeholder(row.name, match[group]):
                matches.append(Secret(row.name, *match.span(group)))
    found: list[Secret] = []
    for secret in sorted(matches, key=lambda secret: (secret.start, -secret.end)):
        if found and secret.start < found[-1].end:
            first = found.pop()
            secret = Secret(first.name, first.start, max(first.end, secret.end))
        found.append(secret)
    return found


def redact(text: str) -> tuple[str, int]:
    """The text with placeholders such as `«secret:jwt»`, and their number. It keeps its lines."""
    count = 0
    while secrets := find_secrets(text):  # a token may hide the border of the one beside it
        parts: list[str] = []
        position = 0
        for secret in secrets:
            line_feeds = "\n" * text.count("\n", secret.start, secret.end)
            parts += (text[position : secret.start], f"«secret:{secret.name}»", line_feeds)
            position = secret.end
        text = "".join((*parts, text[position:]))
        count += len(secrets)
    return text, count


def shown(text: str | bytes) -> str:
    """A text without secrets, with hidden characters made visible. It keeps its lines."""
    return visible(redact(text if isinstance(text, str) else text.decode("utf-8", "replace"))[0])


def safe(line: str) -> str:
    """A line without secrets and without what steers a terminal."""
    return plain(redact(line)[0]).rstrip()


def safe_lines(text: str) -> list[str]:
    """The lines of a text, each as by `safe`. A secret may be longer than one."""
    return [plain(line).rstrip() for line in redact(text.rstrip("\n"))[0].split("\n")]


def _is_placeholder(name: str, value: str) -> bool:
    if name == "private-key":
        return BASE64_RUN.search(value) is None
    if name == "url-password" and PLACEHOLDER_PASSWORD.fullmatch(value):
        return True
    return PLACEHOLDER.search(value) is not None
