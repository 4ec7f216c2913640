"""The one issue of ours whose body opens with a marker."""

from __future__ import annotations

from reviewbot.adapters.github import graphql
from reviewbot.adapters.github.exchange import Call
from reviewbot.adapters.github.faults import graphql_refusal
from reviewbot.adapters.github.reading import fields, flag, items, number, text
from reviewbot.adapters.github.session import Session
from reviewbot.domain.forge import (
    Notice,
)

MOST_PAGES = 10
_DOING = "look for an issue of ours"
_QUERY = """query Issues($owner: String!, $name: String!, $after: String) {
  repository(owner: $owner, name: $name) {
    issues(first: 50, after: $after, states: OPEN, orderBy: {field: UPDATED_AT, direction: DESC}) {
      pageInfo { hasNextPage endCursor } nodes { number body url viewerDidAuthor }
    }
  }
}"""


def notice(session: Session, repository: str, marker: str) -> Notice | None:
    """The one of ours among the open issues that changed last, as far as ``MOST_PAGES`` reach: it changes with every audit. Of
    several the oldest: if two runs raced, both go on with the same one. Raises ForgeError."""
    owner, _, name = repository.partition("/")
    found: Notice | None = None
    after: str | None = None
    for _ in range(MOST_PAGES):
        told = graphql.query(session, _QUERY, {"owner": owner, "name": name, "after": after}, doing=_DOING)
        if (home := told.data.get("repository")) is None or fields(home, "the repository").get("issues") is None:
            raise graphql_refusal(told.faults, Call("POST", "", _DOING))
        page = fields(home["issues"], "issues")
        for node in (fields(entry, "an issue") for entry in items(page.get("nodes"), "issues") if entry is not None):
            body = text(node, "body", optional=True)
            if flag(node, "viewerDidAuthor") and body.split("\n", 1)[0].rstrip("\r") == marker:
                mine = Notice(number(node, "number"), body, text(node, "url", optional=True))
                found = mine if found is None or mine.number < found.number else found
        info = fields(page.get("pageInfo"), "issues")
        if not flag(info, "hasNextPage"):
            break
        after = text(info, "endCursor")
    return found
