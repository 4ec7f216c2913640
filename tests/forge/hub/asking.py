"""Plain requests to the fake, by the standard library: what no client would send can be sent so."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

from tests.forge.hub.hub import Hub


@dataclass(frozen=True)
class Said:
    """An answer as it came."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)


class Straight(urllib.request.HTTPRedirectHandler):
    """Redirections are not followed."""

    def redirect_request(self, *args: Any, **named: Any) -> None:
        return None


def ask(hub: Hub, method: str, path: str, body: Any = None, *, token: str | None = None, **headers: str) -> Said:
    """``path`` is one of the REST API, or a whole address."""
    address = path if path.startswith("http") else hub.api_url + path
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    sent |= {"authorization": f"Bearer {token}"} if token else {}
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, content, {**sent, "content-type": "application/json"}, method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), Straight)
    try:
        with opener.open(request, timeout=30) as answer:
            return Said(answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read())
    except urllib.error.HTTPError as refused:
        with refused:
            return Said(refused.code, {k.lower(): v for k, v in refused.headers.items()}, refused.read())


def query(hub: Hub, text: str, *, token: str, **variables: Any) -> Any:
    """What GraphQL answers."""
    return ask(hub, "POST", hub.graphql_url, {"query": text, "variables": variables}, token=token).json
