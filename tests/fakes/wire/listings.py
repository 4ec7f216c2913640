"""What servers tell of themselves: which models there are, which are loaded, which version answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.fakes.http import Reply, Request
from tests.fakes.wire.dialect import dumped

STAMP = "2026-11-01T00:00:00Z"
DETAILS = {
    "format": "gguf",
    "family": "llama",
    "families": ["llama"],
    "parameter_size": "1.2B",
    "quantization_level": "Q4_K_M",
    "parent_model": "",
}


def listing(request: Request, names: Sequence[str], loaded: Sequence[str]) -> Reply | None:
    """The reply to a question about the server itself, ``None`` where it is none."""
    document: Any = None
    if request.method == "GET":
        document = _listed(request, names, loaded)
    elif request.path == "/api/show":
        wanted = json.loads(request.body or b"{}").get("model", "")
        if wanted not in names:
            return Reply(404, (dumped({"error": f"model '{wanted}' not found"}),))
        facts = {"general.architecture": "llama", "llama.context_length": 131_072}
        document = {"license": "", "details": DETAILS, "model_info": facts, "capabilities": ["completion", "tools"]}
    return None if document is None else Reply(200, (dumped(document),))


def _listed(request: Request, names: Sequence[str], loaded: Sequence[str]) -> Any:
    google = "x-goog-api-key" in request.headers or "key" in request.query
    if request.path == "/v1/models" and not google:
        return _anthropic(names) if "anthropic-version" in request.headers else _openai(names)
    if request.path in ("/v1beta/models", "/v1/models"):
        return {
            "models": [
                {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": ["generateContent"]}
                for name in names
            ]
        }
    if request.path == "/api/tags":
        return {"models": [_ollama(name) for name in names]}
    if request.path == "/api/ps":
        return {"models": [{**_ollama(name), "expires_at": STAMP, "size_vram": 0} for name in loaded]}
    return {"version": "0.13.5"} if request.path == "/api/version" else None


def _anthropic(names: Sequence[str]) -> dict[str, Any]:
    models = [{"type": "model", "id": name, "display_name": name, "created_at": STAMP} for name in names]
    return {"data": models, "has_more": False, "first_id": names[0] if names else None, "last_id": names[-1] if names else None}


def _openai(names: Sequence[str]) -> dict[str, Any]:
    return {
        "object": "list",
        "data": [{"id": name, "object": "model", "created": 1_790_000_000, "owned_by": "fake"} for name in names],
    }


def _ollama(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "model": name,
        "modified_at": STAMP,
        "size": 1_300_000_000,
        "digest": "sha256:" + "0" * 64,
        "details": DETAILS,
    }
