"""Branches of the repository: where one stands, whether it is guarded, and making or taking one away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from reviewbot.adapters.github import faults, graphql, names, nodes, reading
from reviewbot.adapters.github import standing_query as ask
from reviewbot.adapters.github.exchange import Call
from reviewbot.adapters.github.session import Session
from reviewbot.domain.action import DeleteBranch, Done, MakeBranch
from reviewbot.domain.forge import (
    Commit,
)
from reviewbot.errors import ForgeError, GoneError, NotPermittedError, UnsureError

_HEAD = f"""query Head($owner: String!, $name: String!, $ref: String!) {{
  repository(owner: $owner, name: $name) {{ ref(qualifiedName: $ref) {{ target {{ ... on Commit {{ {ask.COMMIT} }} }} }} }}
}}"""
_REPOSITORY = "query Repository($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { id } }"

#: Rules about how a commit is made or named, and about what our commits never do. GitHub refuses what breaks them; any other
#: rule, known or not, guards the branch.
_HARMLESS_RULES = frozenset(
    {
        "branch_name_pattern", "commit_author_email_pattern", "commit_message_pattern", "committer_email_pattern",
        "copilot_code_review", "creation", "deletion", "file_extension_restriction", "file_path_restriction",
        "max_file_path_length", "max_file_size", "non_fast_forward", "required_linear_history", "required_signatures",
        "tag_name_pattern",
    }
)  # fmt: skip

_NO_RULES = "upgrade to github"
"""Said with a 403 of a private repository whose plan has no rules."""


def head(session: Session, repository: str, branch: str) -> Commit | None:
    """See the port ``Branches``."""
    names.check_branch(branch)
    doing = "tell where a branch stands"
    told = graphql.query(session, _HEAD, {**_called(repository), "ref": f"refs/heads/{branch}"}, doing=doing)
    home = told.data.get("repository")
    if home is None or told.faults:
        raise faults.graphql_refusal(told.faults, Call("POST", "", doing))
    ref = reading.fields(home, "the repository").get("ref")
    return None if ref is None else nodes.commit(reading.fields(reading.fields(ref, "the branch").get("target"), "its commit"))


def is_protected(session: Session, repository: str, branch: str) -> bool | None:
    """See the port ``Branches``. A branch is guarded by its own settings, or by rules of the repository and its owner."""
    names.check_branch(branch)
    path = f"/repos/{repository}/branches/{quote(branch, safe='')}"
    try:
        told = session.json(Call("GET", path, "tell about a branch", is_read=True))
        if reading.flag(reading.fields(told, "a branch"), "protected"):
            return True
        return any(rule not in _HARMLESS_RULES for rule in _rules(session, repository, branch))
    except (GoneError, NotPermittedError):
        return None


def make(session: Session, repository: str, action: MakeBranch) -> Done:
    """Raises ForgeError: InvalidError where the name stands already."""
    names.check_branch(action.name)
    body = {"ref": f"refs/heads/{action.name}", "sha": action.sha}
    call = Call("POST", f"/repos/{repository}/git/refs", "make a branch", body=body, missing=NotPermittedError)
    made = session.json(call)
    try:
        target = reading.fields(reading.fields(made, "a branch").get("object"), "a branch")
        return Done(sha=reading.text(target, "sha"))
    except ForgeError as exc:
        raise UnsureError(exc.message, hint="look at the branch first") from exc


def delete(session: Session, repository: str, action: DeleteBranch) -> Done:
    """By an update that holds only for the expected head, which the REST API cannot say. Raises ForgeError."""
    names.check_branch(action.name)
    told = graphql.query(session, _REPOSITORY, _called(repository), doing="find the repository")
    home = told.data.get("repository")
    if home is None:
        raise faults.graphql_refusal(told.faults, Call("POST", "", "find the repository"))
    update = {"name": f"refs/heads/{action.name}", "beforeOid": action.sha, "afterOid": "0" * len(action.sha)}
    variables = {"repositoryId": reading.text(reading.fields(home, "the repository"), "id"), "refUpdates": [update]}
    graphql.mutation(session, "updateRefs", variables, selection="clientMutationId", doing="take a branch away")
    return Done()


def _rules(session: Session, repository: str, branch: str) -> Iterator[str]:
    """The kinds of the rules that hold for the branch. Raises NotPermittedError, GoneError where nobody may know."""
    path = f"/repos/{repository}/rules/branches/{quote(branch, safe='')}"
    call = Call("GET", path, "tell the rules of a branch", query=(("per_page", "100"),), is_read=True)
    try:
        for page in session.pages(call):
            yield from (reading.text(reading.fields(rule, "a rule"), "type") for rule in page)
    except NotPermittedError as exc:
        if _NO_RULES not in exc.message.casefold():
            raise


def _called(repository: str) -> dict[str, Any]:
    owner, _, name = repository.partition("/")
    return {"owner": owner, "name": name}
