"""Plain requests to the fake: also those that no client would send."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

from tests.fake_github.github import GitHub

SECONDS = 30


@dataclass(frozen=True)
class Received:
    status: int
    headers: dict[str, str]  # names in lower case
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.content)


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def send(
    github: GitHub, method: str, path: str, body: Any = None, *, token: str | None = None
) -> Received:
    """`path` is one of the REST API, or a URL."""
    url = path if path.startswith("http") else github.api_url + path
    headers = {"content-type": "application/json", "accept": "application/json"}
    headers |= {"authorization": f"Bearer {token}"} if token else {}
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, content, headers, method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirects)
    try:
        response = opener.open(request, timeout=SECONDS)
    except urllib.error.HTTPError as error:
        response = error
    with response:
        lower = {name.lower(): value for name, value in response.headers.items()}
        return Received(response.status, lower, response.read())


def query(github: GitHub, text: str, *, token: str, **variables: Any) -> Any:
    """The body of GraphQL's response."""
    body = {"query": text, "variables": variables}
    return send(github, "POST", github.graphql_url, body, token=token).json
