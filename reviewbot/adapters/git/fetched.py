"""Commits of a forge without a clone: an empty repository into which single commits are fetched. Nothing is checked out."""

from __future__ import annotations

import base64
import ipaddress
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from reviewbot.adapters.git.command import Git, clean_environment
from reviewbot.errors import GitError, UsageError

FETCH_SECONDS = 600.0
_OUTWARD = ("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO")
"""Variables that decide how a server is reached."""
_WHOLE = 40
"""Hexadecimal digits of a commit's id, at least."""


def fetch(url: str, commits: tuple[str, ...], into: Path, *, token: str, environment: Mapping[str, str]) -> Path:
    """A repository in ``into`` that has these commits, each without its parents, and an empty work tree.

    ``url`` is https, or http on this machine; ``token`` is sent there and nowhere else, and stands in no command line. Raises
    GitError where a commit cannot be had, UsageError where an address or an id is none.
    """
    _expect_reachable(url)
    for commit in commits:
        if len(commit) < _WHOLE or not all(digit in "0123456789abcdef" for digit in commit):
            raise UsageError(f"{commit[:50]!r} is not the id of a commit", hint="name it whole")
    into.mkdir(parents=True, exist_ok=True)
    clean = clean_environment(environment)
    here = Git(into, clean | {"GIT_CONFIG_GLOBAL": "/dev/null"})
    here.run("init", "--quiet", "--template=", "--initial-branch=none")
    here.run("config", "remote.origin.url", url)  # by which the repository is known from run to run
    outward = {name: environment[name] for name in _OUTWARD if name in environment}
    git = Git(into, clean | outward | _secrets(url, token), _transport(url), FETCH_SECONDS)
    answer = git.ask("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--depth=1", "--end-of-options", url, *commits)
    if not answer.ok:
        said = answer.complaint.replace(token, "…") if token else answer.complaint
        raise GitError(f"the commits cannot be fetched from {url}: {said}", hint="see whether the token may read the repository")
    return into


def _expect_reachable(url: str) -> None:
    parts = urlsplit(url)
    if parts.username or parts.password or not parts.hostname:
        raise UsageError("the forge's address must be a plain one", hint="give it without a user")
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_here(parts.hostname)):
        raise UsageError(f"{parts.scheme}://{parts.hostname} is not fetched from", hint="give an https address")


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _transport(url: str) -> dict[str, str]:
    """Only this scheme is spoken, and no server sends us to another one."""
    return {
        f"protocol.{urlsplit(url).scheme}.allow": "always",
        "http.followRedirects": "false",
        "credential.helper": "",
        "fetch.fsckObjects": "true",
        "transfer.credentialsInUrl": "die",
        "fetch.negotiationAlgorithm": "noop",
    }


def _secrets(url: str, token: str) -> dict[str, str]:
    """The token as a header for that address, in the environment, which other users of the machine cannot read."""
    if not token:
        return {"GIT_CONFIG_GLOBAL": "/dev/null"}
    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode("ascii")
    parts = urlsplit(url)
    return {
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"http.{parts.scheme}://{parts.netloc}/.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Basic {basic}",
    }
