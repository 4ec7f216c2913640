"""The GraphQL API: GitHub's own schema, executed by graphql-core on the records of the fake.

A query that the schema does not allow is a violation, and so is a field that the fake lacks.
"""

from __future__ import annotations

import base64
import gzip
import json
from functools import cache
from typing import TYPE_CHECKING, Any

from graphql import (
    DocumentNode,
    ExecutionResult,
    FieldNode,
    GraphQLError,
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
    build_schema,
    execute_sync,
    parse,
    validate,
)

from tests.fake_github import rules
from tests.fake_github.contract import DATA
from tests.fake_github.graphql_fields import (
    FIELDS,
    Commit,
    Viewer,
    failure,
    forbidden,
    not_found,
    resolve,
    resolve_type,
)
from tests.fake_github.messages import Request, Response

if TYPE_CHECKING:
    from tests.fake_github.github import GitHub
    from tests.fake_github.permissions import Token
    from tests.fake_github.records import Comment, Review, ReviewComment, Thread
    from tests.fake_github.repository import Repository

BAD_PARTS = ("", ".", "..", ".git")
EXECUTABLE = "100755"

Input = dict[str, Any]
Node = dict[str, Any]


@cache
def schema() -> GraphQLSchema:
    """GitHub's schema. It takes about a second."""
    text = gzip.decompress((DATA / "schema.graphql.gz").read_bytes()).decode()
    return build_schema(text, assume_valid=True, no_location=True)


# The program asks the same queries again and again.
@cache
def parse_once(query: str) -> DocumentNode:
    return parse(query)


@cache
def errors_of(query: str) -> tuple[GraphQLError, ...]:
    return tuple(validate(schema(), parse_once(query)))


def read_body(request: Request) -> dict[str, Any]:
    body = json.loads(request.content)
    assert isinstance(body, dict)
    return body


def classify(request: Request) -> tuple[str, bool]:
    """`graphql` for a query, `graphql:name` for a mutation, and whether it is one."""
    try:
        document = parse_once(str(read_body(request).get("query", "")))
    except GraphQLError:
        return "graphql", False
    for definition in document.definitions:
        is_operation = isinstance(definition, OperationDefinitionNode)
        if is_operation and definition.operation == OperationType.MUTATION:
            first = definition.selection_set.selections[0]
            return f"graphql:{first.name.value if isinstance(first, FieldNode) else ''}", True
    return "graphql", False


def respond(github: GitHub, request: Request, token: Token | None) -> Response:
    body = read_body(request)
    if token is None:
        message = "This endpoint requires you to be authenticated."
        return Response.json(401, {"message": message, "status": "401"})
    assert body.keys() <= {"query", "variables"}, f"{sorted(body)} is not a query"
    result = run(body, Viewer(github, token))
    errors = [format_error(error) for error in result.errors or ()]
    # An error without a path is one of the query, not of its execution.
    executed = result.data is not None or any("path" in error for error in errors)
    if not executed:
        github.violations += [f"POST /api/graphql: {error['message']}" for error in errors]
    response: dict[str, Any] = {"data": result.data} if executed else {}
    return Response.json(200, response | ({"errors": errors} if errors else {}))


def run(body: dict[str, Any], viewer: Viewer) -> ExecutionResult:
    try:
        document = parse_once(body["query"])
    except GraphQLError as error:
        return ExecutionResult(None, [error])
    if errors := errors_of(body["query"]):
        return ExecutionResult(None, [*errors])
    return execute_sync(
        schema(),
        document,
        context_value=viewer,
        variable_values=body.get("variables") or {},
        field_resolver=resolve,
        type_resolver=resolve_type,
    )


def format_error(error: GraphQLError) -> dict[str, Any]:
    """GitHub puts the type of an error beside its message."""
    fields: dict[str, Any] = {**error.formatted}
    kind = fields.pop("extensions", {}).get("type")
    return {**({"type": kind} if kind else {}), **fields}


def need_write(viewer: Viewer, home: Repository, *permissions: str) -> None:
    """One of the permissions, to write."""
    needs = [f"{permission}:write" for permission in permissions]
    if not viewer.token.may(home, *needs):
        raise forbidden()


def find_thread(viewer: Viewer, node_id: str) -> Thread:
    for home in viewer.github.repositories.values():
        for pull in home.pulls:
            for thread in pull.threads:
                if thread.node_id == node_id:
                    need_write(viewer, home, "pull_requests")
                    if viewer.github.resolving_needs_contents:
                        need_write(viewer, home, "contents")
                    return thread
    raise not_found(f"Could not resolve to a node with the global id of '{node_id}'")


def resolve_thread(viewer: Viewer, _: None, input: Input) -> Node:
    thread = find_thread(viewer, input["threadId"])
    thread.resolved_by = thread.resolved_by or viewer.token.user
    return {"thread": thread}


def unresolve_thread(viewer: Viewer, _: None, input: Input) -> Node:
    thread = find_thread(viewer, input["threadId"])
    thread.resolved_by = None
    return {"thread": thread}


def minimize(viewer: Viewer, _: None, input: Input) -> Node:
    for home in viewer.github.repositories.values():
        candidates: list[Comment | ReviewComment | Review] = [*home.comments]
        for pull in home.pulls:
            candidates += [*pull.review_comments, *pull.reviews]
        for each in candidates:
            if each.node_id == input["subjectId"]:
                need_write(viewer, home, "issues", "pull_requests")
                each.minimized = input["classifier"]
                return {"minimizedComment": each}
    raise not_found(f"Could not resolve to a node with the global id of '{input['subjectId']}'")


def create_commit(viewer: Viewer, _: None, input: Input) -> Node:
    """G19, G20: one commit on top of a branch. New files are not executable; others stay so."""
    home, branch, head = find_branch(viewer, input["branch"])
    need_write(viewer, home, "contents")
    expected = input["expectedHeadOid"]
    if head != expected:
        message = f'Expected branch to point to "{expected}" but it did not.  Pull and try again.'
        raise failure("STALE_DATA", message)
    files = read_changes(home, head, input.get("fileChanges") or {})
    if rules.needs_workflows(viewer.token, list(files)):
        raise forbidden()
    if why := home.protected.get(branch):
        raise failure("BRANCH_PROTECTION_RULE_VIOLATION", why)
    message = input["message"]
    text = "\n\n".join(filter(None, (message["headline"], message.get("body"))))
    entries = {path: home.bare.entry(head, path) for path in files}
    modes = {
        path: EXECUTABLE for path, entry in entries.items() if entry and entry[0] == EXECUTABLE
    }
    login = viewer.token.user.login
    sha = home.commit(branch, files, text, author=login, modes=modes)
    return {"commit": Commit(home, sha)}


def find_branch(viewer: Viewer, branch: Input) -> tuple[Repository, str, str]:
    """The repository, the name of the branch, and its head."""
    home = viewer.find_repository(branch.get("repositoryNameWithOwner", ""))
    name = str(branch.get("branchName", "")).removeprefix("refs/heads/")
    head = home.bare.sha(f"refs/heads/{name}")
    if head is None:
        raise not_found(f'A ref named "refs/heads/{name}" does not exist in the repository.')
    return home, name, head


def read_changes(home: Repository, head: str, changes: Input) -> dict[str, bytes | None]:
    """The files by path, None for a deletion."""
    deleted = [deletion["path"] for deletion in changes.get("deletions", ())]
    written = changes.get("additions", ())
    paths = [*deleted, *(addition["path"] for addition in written)]
    for path in paths:
        bad = any(part.lower() in BAD_PARTS for part in path.split("/"))
        if bad or paths.count(path) > 1 or (path in deleted and not home.bare.entry(head, path)):
            raise failure("UNPROCESSABLE", f"Path is malformed, not unique, or not there: {path}")
    contents = {each["path"]: base64.b64decode(each["contents"], validate=True) for each in written}
    return {**dict.fromkeys(deleted), **contents}


FIELDS["Mutation"] = {
    "resolveReviewThread": resolve_thread,
    "unresolveReviewThread": unresolve_thread,
    "minimizeComment": minimize,
    "createCommitOnBranch": create_commit,
}
