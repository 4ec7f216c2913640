"""Git over HTTP, artifacts, and the credentials of apps."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from tests.forge.hub import Hub, Pull, Repository
from tests.forge.hub.asking import ask


def git(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_NOSYSTEM": "1",
        "LC_ALL": "C",
    }
    command = ["git", "-c", "user.name=Mona", "-c", "user.email=mona@example.org", *args]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60)


def with_token(hub: Hub, token: str, name: str = "octo/app") -> str:
    return hub.server_url.replace("://", f"://x-access-token:{token}@") + f"/{name}.git"


def test_a_clone_and_the_head_of_a_pull_request_come_over_http(hub: Hub, pull: Pull, tmp_path: Path):
    assert git(tmp_path, "clone", "-q", f"{hub.server_url}/octo/app.git", "app").returncode == 0
    app = tmp_path / "app"
    assert git(app, "fetch", "-q", "origin", "refs/pull/1/head").returncode == 0
    assert git(app, "rev-parse", "FETCH_HEAD").stdout.strip() == pull.head_sha
    assert hub.calls() == 0
    assert {entry.operation for entry in hub.journal} == {"git"}


def test_a_commit_is_fetched_by_its_id(hub: Hub, pull: Pull, tmp_path: Path):
    old = pull.head_sha
    pull.force_push({"a.py": "all new\n"})
    git(tmp_path, "init", "-q", "--bare", "app")
    app = tmp_path / "app"
    done = git(app, "fetch", "-q", "--depth=1", f"{hub.server_url}/octo/app.git", old)
    assert done.returncode == 0, done.stderr
    assert git(app, "cat-file", "-t", old).stdout.strip() == "commit"


def test_a_private_repository_takes_a_token(hub: Hub, tmp_path: Path):
    repository = hub.repository("octo/secret", private=True)
    repository.commit("main", {"a": "1\n"})
    address = f"{hub.server_url}/octo/secret.git"
    assert git(tmp_path, "ls-remote", address).returncode != 0
    assert git(tmp_path, "ls-remote", with_token(hub, "ghs_wrong", "octo/secret")).returncode != 0
    assert "refs/heads/main" in git(tmp_path, "ls-remote", with_token(hub, hub.token(), "octo/secret")).stdout
    header = f"http.extraHeader=Authorization: Bearer {hub.token()}"
    assert "refs/heads/main" in git(tmp_path, "-c", header, "ls-remote", address).stdout


def test_a_push_takes_the_permission_and_moves_the_pull_request(hub: Hub, pull: Pull, tmp_path: Path):
    git(tmp_path, "clone", "-q", "-b", "topic", f"{hub.server_url}/octo/app.git", "app")
    app = tmp_path / "app"
    git(app, "commit", "-q", "--allow-empty", "-m", "More")
    assert git(app, "push", "-q", with_token(hub, hub.token()), "topic").returncode != 0
    done = git(app, "push", "-q", with_token(hub, hub.token(permissions={"contents": "write"})), "topic")
    assert done.returncode == 0, done.stderr
    assert pull.head_sha == git(app, "rev-parse", "HEAD").stdout.strip()


def test_an_artifact_lies_at_another_host_where_no_token_belongs(hub: Hub, repository: Repository, pull: Pull):
    run = repository.run("collect", pull=pull)
    made = repository.artifact(run, "evidence", b"PK zip")
    token = hub.token()
    listed = ask(hub, "GET", f"/repos/octo/app/actions/runs/{run.id}/artifacts", token=token).json
    assert [artifact["name"] for artifact in listed["artifacts"]] == ["evidence"]
    said = ask(hub, "GET", f"/repos/octo/app/actions/artifacts/{made.id}/zip", token=token)
    assert said.status == 302
    assert not said.headers["location"].startswith(hub.server_url)
    assert ask(hub, "GET", said.headers["location"]).content == b"PK zip"
    ask(hub, "GET", said.headers["location"], token=token)
    assert hub.violations.pop() == f"GET /_download/{made.id}.zip: a token was sent to another host"
    made.expired = True
    assert ask(hub, "GET", f"/repos/octo/app/actions/artifacts/{made.id}/zip", token=token).status == 410


@pytest.fixture(scope="module")
def keys() -> tuple[str, str]:
    """A private and a public key, PEM."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return private.decode(), key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def credential(key: str, issuer: int = 77, *, begins: float = -60, lasts: float = 600) -> str:
    now = int(time.time() + begins)
    return jwt.encode({"iat": now, "exp": int(now + lasts), "iss": str(issuer)}, key, algorithm="RS256")


def test_an_app_gets_a_token_for_what_it_may(hub: Hub, repository: Repository, pull: Pull, keys: tuple[str, str]):
    app = hub.app("reviewbot", key=keys[1])
    own = credential(keys[0])
    assert ask(hub, "GET", "/app", token=own).json["slug"] == "reviewbot"
    found = ask(hub, "GET", "/repos/octo/app/installation", token=own).json
    assert found["id"] == app.installation_id
    path = f"/app/installations/{app.installation_id}/access_tokens"
    given = ask(hub, "POST", path, {"permissions": {"pull_requests": "write"}}, token=own).json
    assert given["expires_at"] > hub.later(3000)
    assert ask(hub, "POST", "/repos/octo/app/issues/1/comments", {"body": "hello"}, token=given["token"]).status == 201
    assert pull.comments[0].login == "reviewbot[bot]"
    body = {"name": "x", "head_sha": pull.head_sha}
    assert ask(hub, "POST", "/repos/octo/app/check-runs", body, token=given["token"]).status == 403
    assert ask(hub, "POST", path, {"permissions": {"workflows": "write"}}, token=own).status == 422


def test_a_credential_that_does_not_hold_is_refused(hub: Hub, keys: tuple[str, str]):
    hub.app("reviewbot", key=keys[1])
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    for wrong in (
        credential(other.decode()),
        credential(keys[0], issuer=78),
        credential(keys[0], begins=-700),
        credential(keys[0], lasts=3600),
    ):
        assert ask(hub, "GET", "/app", token=wrong).status == 401
