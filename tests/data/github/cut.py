"""Cut the operations of the fake GitHub out of GitHub's own descriptions.

    npm pack @octokit/openapi@23.0.2 @octokit/graphql-schema@15.26.1      # unpack both
    python -m tests.data.github.cut OPENAPI_FOLDER [GRAPHQL_FOLDER]

Arguments are folders with a `package.json`. Descriptions and examples are left out, every `$ref`
is followed, and the files are the same byte by byte each time.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

from tests.fake_github.rest import HANDLERS

DATA = Path(__file__).parent
VERSIONS = {"@octokit/openapi": "23.0.2", "@octokit/graphql-schema": "15.26.1"}
# Keys that hold prose, but for where they are names of properties.
PROSE = {"description", "example", "examples", "title", "externalDocs", "summary"}
# Keys below which are names that GitHub chose.
NAMES = ("properties", "schemas", "responses", "parameters", "headers")
# Payloads of events need these, though no operation refers to them.
SCHEMAS = ("full-repository", "label", "pull-request-simple", "workflow-run")


def without_prose(node: Any, *, is_names: bool = False) -> Any:
    if isinstance(node, list):
        return [without_prose(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        key: without_prose(value, is_names=key in NAMES and not is_names)
        for key, value in node.items()
        if is_names or key not in PROSE
    }


def references(node: Any) -> set[str]:
    if isinstance(node, list):
        return set().union(*map(references, node))
    if not isinstance(node, dict):
        return set()
    own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
    return own.union(*map(references, node.values()))


def cut(description: dict[str, Any]) -> dict[str, Any]:
    """The operations that have a handler, and all they refer to."""
    paths: dict[str, Any] = {}
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            if isinstance(operation, dict) and operation.get("operationId") in HANDLERS:
                paths.setdefault(path, {})[method] = without_prose(operation)
    found = {
        operation["operationId"] for methods in paths.values() for operation in methods.values()
    }
    if found != set(HANDLERS):
        raise SystemExit(f"not described: {sorted(set(HANDLERS) - found)}")
    components: dict[str, dict[str, Any]] = {}
    waiting = references(paths) | {f"#/components/schemas/{name}" for name in SCHEMAS}
    while waiting:
        _, _, kind, name = waiting.pop().split("/")
        if name not in components.setdefault(kind, {}):
            components[kind][name] = without_prose(description["components"][kind][name])
            waiting |= references(components[kind][name])
    return {"openapi": description["openapi"], "paths": paths, "components": components}


def package(folder: str, name: str) -> Path:
    described = json.loads(Path(folder, "package.json").read_text(encoding="utf-8"))
    if (described["name"], described["version"]) != (name, VERSIONS[name]):
        raise SystemExit(f"{folder} is not {name} {VERSIONS[name]}")
    return Path(folder)


def main(openapi: str, graphql: str = "") -> None:
    file = package(openapi, "@octokit/openapi") / "generated" / "api.github.com.json"
    description = cut(json.loads(file.read_text(encoding="utf-8")))
    text = json.dumps(description, sort_keys=True, separators=(",", ":"))
    (DATA / "rest.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    if graphql:
        sdl = (package(graphql, "@octokit/graphql-schema") / "schema.graphql").read_bytes()
        (DATA / "schema.graphql.gz").write_bytes(gzip.compress(sdl, 9, mtime=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
