"""The GraphQL of a pull request: one query for all that stands under it, and one for a further page of one part.

Numbers are read as ``fullDatabaseId``: those of comments have long left the 32 bits of ``databaseId``. An author's
``databaseId`` is told by the type of the account.
"""

from __future__ import annotations

from dataclasses import dataclass

#: GitHub allows 100 a page.
PAGE = 100
COMMENTS_OF_A_THREAD = 50
"""At most 100 threads of 50 comments in a page: 5,000 nodes, where GitHub allows 500,000."""


@dataclass(frozen=True, slots=True)
class Part:
    """A list under a pull request. ``around`` is what it lies in, with ``%s`` where it stands; ``path`` leads to it;
    ``words`` name it for a reader."""

    name: str
    words: str
    nodes: str
    around: str = "%s"
    path: tuple[str | int, ...] = ()

    def text(self, after: str = "") -> str:
        """The selection of one page; ``after`` is the rest of the arguments."""
        return (
            self.around % f"{self.name}(first: {PAGE}{after}) {{ pageInfo {{ hasNextPage endCursor }} nodes {{ {self.nodes} }} }}"
        )

    @property
    def way(self) -> tuple[str | int, ...]:
        """The keys from the pull request to the list."""
        return (*self.path, self.name)


_AUTHOR = "author { ...Who }"
_COMMENT = f"id fullDatabaseId {_AUTHOR} viewerDidAuthor isMinimized body createdAt url"
_STATUS = "status { contexts { context state description } }"
_HEAD = f"head: commits(last: 1) {{ nodes {{ commit {{ {_STATUS} %s }} }} }}"
"""Check runs and commit statuses are asked for apart: each needs a permission of its own, and a roll-up of both needs both."""

LABELS = Part("labels", "labels", "name")
COMMENTS = Part("comments", "comments", _COMMENT)
THREADS = Part(
    "reviewThreads",
    "review threads",
    "id path line startLine diffSide isResolved isOutdated"
    f" comments(first: {COMMENTS_OF_A_THREAD}) {{ pageInfo {{ hasNextPage }} nodes {{ {_COMMENT} }} }}",
)
REVIEWS = Part("reviews", "reviews", "id fullDatabaseId viewerDidAuthor state body")
CHECKS = Part(
    "checkSuites",
    "checks of the head",
    "app { slug } checkRuns(first: 100, filterBy: {checkType: LATEST})"
    " { pageInfo { hasNextPage } nodes { databaseId url name conclusion title externalId } }",
    _HEAD,
    ("head", "nodes", 0, "commit"),
)
STATUSES: tuple[str | int, ...] = ("head", "nodes", 0, "commit", "status", "contexts")
"""The keys from the pull request to the commit statuses of its head."""
COMMIT = "oid message author { name user { login } } parents(first: 10) { nodes { oid } } signature { isValid wasSignedByGitHub }"
COMMITS = Part("commits", "commits", f"commit {{ {COMMIT} }}")
ISSUES = Part("closingIssuesReferences", "linked issues", "number title body")

PARTS = (LABELS, COMMENTS, THREADS, REVIEWS, CHECKS, COMMITS, ISSUES)

_PULL = f"""
      id number title body state isDraft locked url changedFiles {_AUTHOR}
      baseRefName baseRefOid headRefName headRefOid headRepository {{ nameWithOwner }}"""

_WHO = """
fragment Who on Actor {
  __typename login
  ... on User { databaseId } ... on Bot { databaseId } ... on Organization { databaseId } ... on Mannequin { databaseId }
}"""


def whole() -> str:
    """Everything, one page of each part. ``$me``: who we are is asked for, too."""
    parts = "\n      ".join(part.text() for part in PARTS)
    return f"""query Standing($owner: String!, $name: String!, $number: Int!, $me: Boolean!) {{
  viewer @include(if: $me) {{ login databaseId }}
  repository(owner: $owner, name: $name) {{
    nameWithOwner
    pullRequest(number: $number) {{{_PULL}
      {parts}
    }}
  }}
}}{_WHO}"""


def further(part: Part) -> str:
    """The page of one part that comes after ``$after``."""
    who = _WHO if "...Who" in part.nodes else ""
    return f"""query More($owner: String!, $name: String!, $number: Int!, $after: String!) {{
  repository(owner: $owner, name: $name) {{ pullRequest(number: $number) {{ {part.text(", after: $after")} }} }}
}}{who}"""
