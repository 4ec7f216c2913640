"""Fetch single commits from a server, without trusting it, the repository or its configuration."""

import base64
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from reviewbot.errors import GitError, UsageError
from reviewbot.git.process import ENVIRONMENT, Git
from reviewbot.text.plain import plain

COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# How a server is reached is up to the machine.
OUTWARD = ("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "GIT_SSL_CAINFO")


async def fetch_commits(
    url: str,
    commits: Sequence[str],
    folder: Path,
    *,
    token: str = "",
    depth: int = 1,
    variables: Mapping[str, str] = {},
) -> None:
    """Fetch commits into a repository, which is made if there is none. Work tree and refs stay.

    What is there already is not fetched. A clone that has its whole history keeps it. The token is
    sent to this address only, and stands in no command line.

    Raises GitError if a commit cannot be had, UsageError but for https, or http on this machine.
    """
    parts = urlsplit(url)
    is_here = parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")
    if not parts.hostname or parts.username or not (parts.scheme == "https" or is_here):
        address = plain(f"{parts.scheme}://{parts.hostname or ''}")  # a user may have a password
        raise UsageError(f"commits are not fetched from {address}", hint="use an https address")
    if wrong := next((commit for commit in commits if not COMMIT.fullmatch(commit)), ""):
        raise UsageError(f"{plain(wrong)[:80]} is not the id of a commit")
    folder.mkdir(parents=True, exist_ok=True)
    is_whole = (folder / ".git").exists() and not (folder / ".git/shallow").exists()
    if not (folder / ".git").exists():
        await Git(folder)("init", "--quiet", "--template=", "--initial-branch=none")
        await Git(folder)("config", "remote.origin.url", url)
    wanted = "".join(f"{commit}^{{commit}}\n" for commit in commits).encode("ascii")
    if b"missing" not in await Git(folder)("cat-file", "--batch-check", stdin=wanted):
        return
    environment = {**ENVIRONMENT, "GIT_NO_LAZY_FETCH": "0", "GIT_ASKPASS": ""}
    environment |= {name: variables[name] for name in OUTWARD if name in variables}
    if token:
        secret = base64.b64encode(f"x-access-token:{token}".encode()).decode("ascii")
        name = f"http.{parts.scheme}://{parts.netloc}/.extraHeader"
        environment |= {
            "GIT_CONFIG_COUNT": "2",
            # An empty one first: the checkout of the workflow may have left a header of its own.
            **{"GIT_CONFIG_KEY_0": name, "GIT_CONFIG_VALUE_0": ""},
            **{"GIT_CONFIG_KEY_1": name, "GIT_CONFIG_VALUE_1": f"Authorization: Basic {secret}"},
        }
    options = (
        *("-c", f"protocol.{parts.scheme}.allow=always"),
        *("-c", "credential.helper=", "-c", "core.alternateRefsCommand=true"),
        # Old commits of known projects have these, and GitHub serves them.
        *("-c", "fetch.fsck.badTimezone=ignore", "-c", "fetch.fsck.zeroPaddedFilemode=ignore"),
        *("-c", "http.followRedirects=false", "-c", "transfer.credentialsInUrl=die"),
        *("-c", "fetch.fsckObjects=true", "-c", "gc.auto=0"),
    )
    git = Git(folder, environment=environment, options=options, seconds=600)
    words = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance"]
    words += [] if is_whole else [f"--depth={depth}"]
    try:
        await git("fetch", *words, "--end-of-options", url, *commits)
    except GitError as error:
        hint = "see whether the token may read the repository (contents: read)"
        raise GitError(f"the commits cannot be fetched: {error}", hint=hint) from error
