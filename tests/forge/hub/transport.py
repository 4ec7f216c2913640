"""Git over HTTP through git's own backend, and the place where artifacts lie."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from tests.forge.hub.answers import Answer
from tests.forge.hub.tokens import sent

if TYPE_CHECKING:
    from tests.forge.hub.answers import Asked
    from tests.forge.hub.hub import Hub
    from tests.forge.hub.repository import Repository

PLAIN = "text/plain; charset=utf-8"
SECONDS = 60


def served(hub: Hub, asked: Asked) -> Answer:
    """A request of git, after the same look at the token as the API takes."""
    owner, _, rest = asked.path.removeprefix("/").partition("/")
    name, dot, below = rest.partition(".git/")
    with hub.lock:
        home = hub.repositories.get(f"{owner}/{name}".lower())
        writes = "git-receive-pack" in asked.path + asked.query
        refused = refusal(hub, asked, home, writes=writes) if dot and home else Answer(404, b"Not Found", PLAIN)
    if refused or home is None:
        return refused or Answer(404, b"Not Found", PLAIN)
    answer = backend(home, asked, f"/{below}")
    if writes:
        with hub.lock:
            hub.follow_heads(home)
    return answer


def refusal(hub: Hub, asked: Asked, home: Repository, *, writes: bool) -> Answer | None:
    """401 asks git for credentials; without the permission there is 403, and nothing at all for who may not see it."""
    header = asked.headers.get("authorization")
    if header is None:
        anonymous = Answer(401, b"Authentication required", PLAIN, {"www-authenticate": 'Basic realm="GitHub"'})
        return anonymous if home.private or writes else None
    token = hub.tokens.get(sent(header) or "")
    if token is None:
        return Answer(401, b"Bad credentials", PLAIN, {"www-authenticate": 'Basic realm="GitHub"'})
    if token.may(home, (("contents", "write" if writes else "read"),)):
        return None
    return Answer(
        403,
        f"remote: Write access to repository not granted.\nfatal: {home.full_name}".encode() if writes else b"Forbidden",
        PLAIN,
    )


def backend(home: Repository, asked: Asked, below: str) -> Answer:
    """What ``git http-backend`` says, by CGI."""
    environment = {
        **home.code.environment,
        "PATH": os.environ["PATH"],
        "GIT_PROJECT_ROOT": str(home.git),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": below,
        "REQUEST_METHOD": asked.method,
        "QUERY_STRING": asked.query,
        "CONTENT_TYPE": asked.headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(asked.content)),
        "REMOTE_ADDR": "127.0.0.1",
        "REMOTE_USER": "git",
        "GIT_PROTOCOL": asked.headers.get("git-protocol", ""),
        "HTTP_CONTENT_ENCODING": asked.headers.get("content-encoding", ""),
    }
    done = subprocess.run(
        ["git", "http-backend"], input=asked.content, env=environment, capture_output=True, timeout=SECONDS, check=False
    )
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
    status = int(headers.pop("Status", "200").split()[0])
    return Answer(status, content, headers.pop("Content-Type", PLAIN), headers)


def download(hub: Hub, asked: Asked) -> Answer:
    """An artifact. Whoever brings a token here has given it to another host: that is a violation."""
    number = asked.path.rsplit("/", 1)[1].removesuffix(".zip")
    if "authorization" in asked.headers:
        hub.violations.append(f"{asked.method} {asked.path}: a token was sent to another host")
    found = hub.artifact(int(number)) if number.isdecimal() else None
    if found is None:
        return Answer(404, b"Not Found", PLAIN)
    return Answer(200, found.content, "application/zip")
