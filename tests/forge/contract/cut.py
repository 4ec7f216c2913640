"""Cut the operations of the fake GitHub out of GitHub's own description.

    npm pack @octokit/openapi@23.0.2 @octokit/graphql-schema@15.26.1      # unpack both
    python -m tests.forge.contract.cut OPENAPI_PACKAGE GRAPHQL_PACKAGE

Both arguments are folders with a ``package.json``. Descriptions and examples are left out; every ``$ref`` is followed.
What is written is ``rest.json.gz`` and ``schema.graphql.gz``, byte by byte the same each time. Both packages are under the MIT licence.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
REST = HERE / "rest.json.gz"
GRAPHQL = HERE / "schema.graphql.gz"
VERSIONS = {"@octokit/openapi": "23.0.2", "@octokit/graphql-schema": "15.26.1"}

OPERATIONS = frozenset(
    [
        "actions/download-artifact",
        "actions/get-artifact",
        "actions/get-workflow-run",
        "actions/list-artifacts-for-repo",
        "actions/list-workflow-run-artifacts",
        "actions/list-workflow-runs-for-repo",
        "apps/create-installation-access-token",
        "apps/get-authenticated",
        "apps/get-repo-installation",
        "checks/create",
        "checks/get",
        "checks/list-annotations",
        "checks/list-for-ref",
        "checks/update",
        "code-scanning/upload-sarif",
        "git/create-blob",
        "git/create-commit",
        "git/create-ref",
        "git/create-tree",
        "git/get-blob",
        "git/get-commit",
        "git/get-ref",
        "git/get-tree",
        "git/update-ref",
        "issues/add-labels",
        "issues/create",
        "issues/create-comment",
        "issues/delete-comment",
        "issues/get",
        "issues/get-comment",
        "issues/list-comments",
        "issues/list-for-repo",
        "issues/list-labels-on-issue",
        "issues/remove-label",
        "issues/set-labels",
        "issues/update",
        "issues/update-comment",
        "pulls/create",
        "pulls/create-reply-for-review-comment",
        "pulls/create-review",
        "pulls/create-review-comment",
        "pulls/delete-pending-review",
        "pulls/delete-review-comment",
        "pulls/dismiss-review",
        "pulls/get",
        "pulls/get-review",
        "pulls/get-review-comment",
        "pulls/list",
        "pulls/list-comments-for-review",
        "pulls/list-commits",
        "pulls/list-files",
        "pulls/list-review-comments",
        "pulls/list-reviews",
        "pulls/submit-review",
        "pulls/update",
        "pulls/update-review",
        "pulls/update-review-comment",
        "rate-limit/get",
        "reactions/create-for-issue",
        "reactions/create-for-issue-comment",
        "reactions/create-for-pull-request-review-comment",
        "reactions/list-for-issue-comment",
        "reactions/list-for-pull-request-review-comment",
        "repos/compare-commits-with-basehead",
        "repos/get-branch",
        "repos/get-branch-rules",
        "repos/create-commit-status",
        "repos/get",
        "repos/get-collaborator-permission-level",
        "repos/get-combined-status-for-ref",
        "repos/get-commit",
        "repos/get-content",
        "repos/list-commit-statuses-for-ref",
        "repos/list-pull-requests-associated-with-commit",
        "users/get-authenticated",
        "users/get-by-username",
    ]
)
#: Prose and pictures: keys that hold text of a schema, never where they are a property's name.
PROSE = ("description", "example", "examples", "title", "externalDocs", "summary")


def lean(node: Any, *, names: bool = False) -> Any:
    """The same without prose. ``names``: the keys are names that somebody chose, not words of OpenAPI."""
    if isinstance(node, list):
        return [lean(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: value for key, value in node.items() if names or key not in PROSE}
    return {
        key: lean(value, names=key in ("properties", "schemas", "responses", "parameters", "headers") and not names)
        for key, value in kept.items()
    }


def references(node: Any) -> set[str]:
    if isinstance(node, list):
        return set().union(*(references(item) for item in node)) if node else set()
    if not isinstance(node, dict):
        return set()
    own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
    return own.union(*(references(value) for value in node.values()))


def cut(whole: dict[str, Any]) -> dict[str, Any]:
    """The slice: our operations and all they refer to."""
    paths: dict[str, Any] = {}
    for path, methods in whole["paths"].items():
        ours = {m: lean(o) for m, o in methods.items() if isinstance(o, dict) and o.get("operationId") in OPERATIONS}
        if ours:
            paths[path] = ours
    found = {operation["operationId"] for methods in paths.values() for operation in methods.values()}
    if found != OPERATIONS:
        raise SystemExit(f"not described: {sorted(OPERATIONS - found)}")
    components: dict[str, dict[str, Any]] = {}
    waiting = references(paths)
    while waiting:
        _, _, kind, name = waiting.pop().split("/")
        if name in components.setdefault(kind, {}):
            continue
        components[kind][name] = lean(whole["components"][kind][name])
        waiting |= references(components[kind][name])
    return {"openapi": whole["openapi"], "paths": paths, "components": components}


def package(folder: str, name: str) -> Path:
    root = Path(folder)
    told = json.loads((root / "package.json").read_text(encoding="utf-8"))
    if (told["name"], told["version"]) != (name, VERSIONS[name]):
        raise SystemExit(f"{folder} is {told['name']} {told['version']}, wanted is {name} {VERSIONS[name]}")
    return root


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    openapi = package(sys.argv[1], "@octokit/openapi") / "generated" / "api.github.com.json"
    whole = json.loads(openapi.read_text(encoding="utf-8"))
    text = json.dumps(cut(whole), sort_keys=True, separators=(",", ":")).encode()
    REST.write_bytes(gzip.compress(text, 9, mtime=0))
    sdl = (package(sys.argv[2], "@octokit/graphql-schema") / "schema.graphql").read_bytes()
    GRAPHQL.write_bytes(gzip.compress(sdl, 9, mtime=0))


if __name__ == "__main__":
    main()
