"""A fake GitHub on loopback that is as strict as GitHub's own descriptions.

    with GitHub() as github:
        repository = github.repository("octo/app")
        repository.commit("main", {"a.py": "x = 1\\n"})
        repository.commit("topic", {"a.py": "x = 2\\n"}, "Change x")
        pull = repository.pull("Change x", "topic")
        token = github.token(permissions={"contents": "read", "pull_requests": "write"})
        github.faults.append(faults.server_error("pulls/create-review", after=True))

`api_url`, `graphql_url` and `server_url` are what a runner has in `GITHUB_API_URL`,
`GITHUB_GRAPHQL_URL` and `GITHUB_SERVER_URL`; `server_url/OWNER/NAME.git` is git over HTTP.

REST is checked against GitHub's OpenAPI description in both directions, GraphQL runs on GitHub's
schema, code is a real git repository. Requests that GitHub does not describe answer 418, those
that the fake lacks 501; both are violations, with which leaving `GitHub` fails.
Commits and pushes start no workflow.
"""

from tests.fake_github import faults
from tests.fake_github.client import query, send
from tests.fake_github.github import GitHub
from tests.fake_github.pull import Pull
from tests.fake_github.repository import Repository

__all__ = ["GitHub", "Pull", "Repository", "faults", "query", "send"]
