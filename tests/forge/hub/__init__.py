"""A stateful fake of GitHub on loopback: REST, GraphQL and git over HTTP, as strict as GitHub's own description.

    with Hub() as hub:                                  # leaving it fails where anything was not as GitHub describes it
        repository = hub.repository("octo/app")         # private=True: nowhere for who may not see it
        repository.commit("main", {"a.py": "x = 1\\n"})  # {path: text, bytes or None}; a new branch begins at main; -> sha
        repository.commit("topic", {"a.py": "x = 2\\n"}, "Change x", author="octocat", parent=None)
        pull = repository.pull("Change x", "topic", base="main", author="octocat", head_repository=None, draft=False, body="")
        token = hub.token(login="github-actions[bot]", permissions={"contents": "read", "pull_requests": "write"})

Where: ``hub.api_url`` (REST), ``hub.graphql_url``, ``hub.server_url`` (pages, ``OWNER/NAME.git``): what a runner has in
``GITHUB_API_URL``, ``GITHUB_GRAPHQL_URL``, ``GITHUB_SERVER_URL``.

Faults: ``hub.faults.append(faults.server_error("issues/create-comment", after=True))``, with ``from tests.forge.hub import faults``:
``secondary_limit``, ``primary_limit``, ``server_error``, ``dropped``, ``slow``, ``moved``, ``graphql_limit``, ``graphql_nothing``,
``not_a_user``, ``refusal`` (any status) and ``meanwhile`` (call something while a request is under way: push, or kill a process).
All take ``times``, ``skip``, ``after``, ``then``; the name is an operation's id, ``graphql``, ``graphql:<mutation>``, ``write``, ``read``,
``any`` or ``git``. Plain requests of any kind: ``asking.ask`` and ``asking.query``.

The hub: ``user(login, id=None, type="User")``, ``token(login, permissions, repositories=None, expires_in=None)`` (default
permissions: ``tokens.REVIEWER``), ``app(slug, id=77, key=None, permissions=None)``, ``event(name, …)`` (a webhook's payload, see
``payloads``), ``faults`` (a queue, see ``faults``), ``journal`` (entries with method, path, operation, status, is_write, login),
``calls()`` (API requests so far), ``writes()`` (operations that wrote), ``violations`` and ``check()``.
``resolving_needs_contents`` (default False): ``resolveReviewThread`` is refused to a token without ``contents: write``.

A commit may have ``modes={"run.sh": "100755"}`` (``120000``, ``160000``) and be ``by_github=True`` (signed by GitHub). What guards
branches: ``repository.protect("main", why="Changes must be …")`` (its own settings), ``repository.rule("pull_request", "main")``
(a rule of a ruleset, any type of GitHub's). Commits and pushes start no workflow here: GitHub starts none for those of
``GITHUB_TOKEN``, and does for an app's.

A repository: ``git`` (its bare repository), ``commit``, ``pull``, ``issue(title, body, labels=())``, ``fork("other/name")``,
``allow(login, "write")``, ``check(sha, name, conclusion, app="ci")``, ``status(sha, context, state)``, ``run(name, pull=…)``,
``artifact(run, name, zip_bytes)``; to look at: ``pulls``, ``issues``, ``check_runs(sha)``, ``statuses``, ``sarifs``, ``runs``;
``actions_may_approve`` (False; GitHub Actions may open pull requests, too).

A pull request: ``push({…})`` and ``force_push({…}, parent=None)`` -> sha, ``comment(login, body)``, ``thread(login, path, line,
body=…)``, ``reply(thread, login, body)``, ``review(login, body, event="COMMENT")``, ``close(merged=False)``, ``reopen()``,
``lose_head()``, and the fields ``locked``, ``draft``, ``deleted``, ``labels``, ``title``, ``body``, ``base_ref`` to set; to look at:
``number``, ``head_sha``, ``base_sha``, ``comments`` (body, login, minimized, reactions), ``reviews`` (state, body, comments, commit_id,
login), ``threads`` (path, line, is_resolved, is_outdated, comments), ``review_comments``.

Ids of comments are above 32 bits, as on GitHub today; GraphQL's ``databaseId`` of one is null. Check runs are numbered below.
"""

from tests.forge.hub.faults import Fault
from tests.forge.hub.hub import Hub
from tests.forge.hub.journal import Entry
from tests.forge.hub.pull import Pull
from tests.forge.hub.repository import Repository

__all__ = ["Entry", "Fault", "Hub", "Pull", "Repository"]
