"""How what stands on the fake looks in GraphQL. A bot's login is told without ``[bot]`` here, but for the viewer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.forge.hub.graph_paging import connection, forbidden, nowhere
from tests.forge.hub.shown import GITHUB, association

if TYPE_CHECKING:
    from tests.forge.hub.hub import Hub
    from tests.forge.hub.pull import Pull
    from tests.forge.hub.repository import Repository
    from tests.forge.hub.state import CheckRun, Comment, Issue, Review, ReviewComment, Status, Thread, User
    from tests.forge.hub.tokens import Token

Node = dict[str, Any]
GHOST = "ghost"
BAD = ("failure", "timed_out", "cancelled", "action_required", "startup_failure", "error")


class Reader:
    """Everything as one token sees it."""

    def __init__(self, hub: Hub, token: Token) -> None:
        self.hub = hub
        self.token = token

    def root(self) -> Node:
        return {"viewer": self.viewer, "repository": self.repository_called, "rateLimit": self.rate_limit, "node": self.node}

    def viewer(self) -> Node:
        return {**self.actor(self.token.user), "__typename": "User", "login": self.token.user.login}  # type: ignore[dict-item]

    def rate_limit(self, **_: Any) -> Node:
        return {"cost": 1, "limit": 5000, "remaining": 4999, "resetAt": self.hub.later(3600), "used": 1, "nodeCount": 1}

    def need(self, home: Repository, *permissions: str) -> None:
        """One of the permissions, to read."""
        if not self.token.may(home, tuple((permission, "read") for permission in permissions)):
            raise forbidden()

    def repository_called(self, owner: str, name: str, **_: Any) -> Node:
        found = self.hub.repositories.get(f"{owner}/{name}".lower())
        if found is None or (found.private and not self.token.reaches(found)):
            raise nowhere(f"Could not resolve to a Repository with the name '{owner}/{name}'.")
        return self.repository(found)

    def node(self, id: str) -> Node:  # noqa: A002
        for home in self.hub.repositories.values():
            for pull in home.pulls:
                if pull.node_id == id:
                    return self.pull(pull)
                for thread in pull.threads:
                    if thread.node_id == id:
                        return self.thread(thread)
        raise nowhere(f"Could not resolve to a node with the global id of '{id}'")

    def actor(self, known: User) -> Node | None:
        if known.login == GHOST:
            return None
        login = known.login.removesuffix("[bot]")
        url = f"{self.hub.server_url}/{login}"
        return {
            "__typename": known.kind,
            "id": known.node_id,
            "databaseId": known.id,
            "login": login,
            "url": url,
            "name": login,
            "resourcePath": f"/{login}",
        }

    def repository(self, known: Repository) -> Node:
        return {
            "__typename": "Repository",
            "id": known.node_id,
            "databaseId": known.id % 2**31,
            "name": known.name,
            "nameWithOwner": known.full_name,
            "isPrivate": known.private,
            "isFork": known.parent is not None,
            "owner": lambda: self.actor(self.hub.user(known.owner)),
            "url": f"{self.hub.server_url}/{known.full_name}",
            "viewerPermission": known.role(self.token.user.login).upper(),
            "defaultBranchRef": lambda: self.ref(known, "refs/heads/main"),
            "ref": lambda **named: self.ref(known, named["qualifiedName"]),
            "pullRequest": lambda number: self.pull_numbered(known, number),
            "pullRequests": connection("pullRequests", [p for p in known.pulls if not p.deleted], self.pull),
            "issue": lambda number: self.issue_numbered(known, number),
            "issues": lambda **page: self.issues(known, page),
            "object": lambda oid=None, expression=None: self.object(known, oid or expression),
        }

    def ref(self, home: Repository, name: str) -> Node | None:
        sha = home.code.sha(name)
        short = name.removeprefix("refs/heads/")
        return (
            {"id": f"REF_{name}", "name": short, "prefix": "refs/heads/", "target": lambda: self.commit(home, sha)}
            if sha
            else None
        )

    def object(self, home: Repository, name: str) -> Node | None:
        self.need(home, "contents")
        sha = home.code.sha(name)
        return self.commit(home, sha) if sha else None

    def pull_numbered(self, home: Repository, number: int) -> Node:
        self.need(home, "pull_requests")
        found = home.pulls_by_number.get(number)
        if found is None or found.deleted:
            raise nowhere(f"Could not resolve to a PullRequest with the number of {number}.")
        return self.pull(found)

    def issue_numbered(self, home: Repository, number: int) -> Node:
        self.need(home, "issues")
        if number not in home.issues_by_number:
            raise nowhere(f"Could not resolve to an Issue with the number of {number}.")
        return self.issue(home.issues_by_number[number])

    def pull(self, known: Pull) -> Node:
        home, token = known.repository, self.token
        head = known.head_repository
        reviews = [review for review in known.reviews if review.state != "PENDING" or review.user is token.user]
        threads = [t for t in known.all_threads if any(not c.is_pending or c.user is token.user for c in t.comments)]
        return {
            **self.words(known, "PullRequest"),
            "number": known.number,
            "title": known.title,
            "state": "MERGED" if known.merged else known.state.upper(),
            "isDraft": known.draft,
            "locked": known.locked,
            "closed": known.state == "closed",
            "merged": known.merged,
            "mergeable": "MERGEABLE",
            "reviewDecision": None,
            "url": f"{self.hub.server_url}/{home.full_name}/pull/{known.number}",
            "labels": connection("labels", known.labels, self.label),
            "repository": lambda: self.repository(home),
            "baseRepository": lambda: self.repository(home),
            "baseRefName": known.base_ref,
            "baseRefOid": lambda: known.base_sha,
            "headRefName": known.head_ref,
            "headRefOid": lambda: known.head_sha,
            "headRepository": lambda: self.repository(head) if head else None,
            "headRepositoryOwner": lambda: self.actor(self.hub.user(head.owner)) if head else None,
            "isCrossRepository": head is not home,
            "changedFiles": lambda: len(known.files),
            "additions": lambda: sum(file.additions for file in known.files),
            "deletions": lambda: sum(file.deletions for file in known.files),
            "files": lambda **page: connection("files", known.files, self.file)(**page),
            "comments": connection("comments", known.comments, self.comment),
            "reviews": lambda **page: connection("reviews", self.matching(reviews, page), self.review)(**page),
            "reviewThreads": connection("reviewThreads", threads, self.thread),
            "commits": lambda **page: connection("commits", known.commits, lambda sha: self.pull_commit(known, sha))(**page),
            "statusCheckRollup": lambda: self.rollup(home, known.head_sha),
            "closingIssuesReferences": lambda **page: self.closing(known)(**page),
            "viewerDidAuthor": known.user is token.user,
        }

    def words(self, known: Any, kind: str) -> Node:
        """What everything that somebody wrote has."""
        home = (
            known.thread.pull.repository
            if kind == "PullRequestReviewComment"
            else getattr(known, "repository", None) or known.parent.repository
        )
        return {
            "__typename": kind,
            "id": known.node_id,
            "databaseId": None,
            "fullDatabaseId": str(known.id),
            "author": lambda: self.actor(known.user),
            "authorAssociation": association(home, known.user),
            "body": known.body,
            "bodyText": known.body,
            "createdAt": known.created_at,
            "updatedAt": getattr(known, "updated_at", known.created_at),
            "viewerDidAuthor": known.user is self.token.user,
            "viewerCanMinimize": True,
            "viewerCanUpdate": known.user is self.token.user,
            "viewerCanDelete": known.user is self.token.user,
        }

    @staticmethod
    def matching(reviews: list[Review], page: dict[str, Any]) -> list[Review]:
        states = page.pop("states", None)
        author = page.pop("author", None)
        return [
            r
            for r in reviews
            if (not states or r.state in states) and author in (None, r.user.login, r.user.login.removesuffix("[bot]"))
        ]

    def closing(self, known: Pull) -> Callable[..., Node]:
        self.need(known.repository, "issues")
        return connection("closingIssuesReferences", known.closes, self.issue)

    def issues(self, home: Repository, page: dict[str, Any]) -> Node:
        self.need(home, "issues")
        states = page.pop("states", None) or ["OPEN", "CLOSED"]
        newest = (page.pop("orderBy", None) or {}).get("direction") == "DESC"
        found = sorted((i for i in home.issues if i.state.upper() in states), key=lambda issue: issue.number, reverse=newest)
        return connection("issues", found, self.issue)(**page)  # type: ignore[no-any-return]

    def issue(self, known: Issue) -> Node:
        told = {
            "number": known.number,
            "title": known.title,
            "state": known.state.upper(),
            "comments": connection("comments", known.comments, self.comment),
        }
        told["labels"] = connection("labels", known.labels, self.label)
        return (
            self.words(known, "Issue")
            | told
            | {"url": f"{self.hub.server_url}/{known.repository.full_name}/issues/{known.number}"}
        )

    def label(self, name: str) -> Node:
        return {"__typename": "Label", "id": f"LA_{name}", "name": name, "color": "ededed", "description": None}

    def file(self, known: Any) -> Node:
        kinds = {"removed": "DELETED"}
        kind = kinds.get(known.status, known.status.upper())
        return {
            "path": known.path,
            "additions": known.additions,
            "deletions": known.deletions,
            "changeType": kind,
            "viewerViewedState": "UNVIEWED",
        }

    def comment(self, known: Comment) -> Node:
        home = known.parent.repository
        url = f"{self.hub.server_url}/{home.full_name}/pull/{known.parent.number}#issuecomment-{known.id}"
        return self.words(known, "IssueComment") | {"url": url, **minimized(known)}

    def review(self, known: Review) -> Node:
        of = known.pull
        url = f"{self.hub.server_url}/{of.repository.full_name}/pull/{of.number}#pullrequestreview-{known.id}"
        return {
            "__typename": "PullRequestReview",
            "id": known.node_id,
            "databaseId": None,
            "fullDatabaseId": str(known.id),
            "author": lambda: self.actor(known.user),
            "authorAssociation": association(of.repository, known.user),
            "body": known.body,
            "state": known.state,
            "url": url,
            "submittedAt": known.submitted_at,
            "createdAt": known.submitted_at or self.hub.now(),
            "viewerDidAuthor": known.user is self.token.user,
            "commit": lambda: self.commit(of.repository, known.commit_id),
            "comments": connection("comments", known.comments, self.review_comment),
            **minimized(known),
        }

    def thread(self, known: Thread) -> Node:
        seen = [comment for comment in known.comments if not comment.is_pending or comment.user is self.token.user]
        mine = self.token.has("contents", "write") or known.pull.user is self.token.user
        anchor = known.anchor
        return {
            "__typename": "PullRequestReviewThread",
            "id": known.node_id,
            "isResolved": known.is_resolved,
            "isOutdated": lambda: known.is_outdated,
            "isCollapsed": lambda: known.is_resolved or known.is_outdated,
            "resolvedBy": lambda: self.actor(known.resolved_by) if known.resolved_by else None,
            "path": anchor.path,
            "line": lambda: known.line,
            "startLine": lambda: known.start_line,
            "originalLine": anchor.line,
            "originalStartLine": anchor.start_line,
            "diffSide": anchor.side,
            "startDiffSide": anchor.start_side,
            "subjectType": "LINE" if anchor.line is not None else "FILE",
            "viewerCanResolve": mine and not known.is_resolved,
            "viewerCanUnresolve": mine and known.is_resolved,
            "viewerCanReply": True,
            "comments": connection("comments", seen, self.review_comment),
            "pullRequest": lambda: self.pull(known.pull),
            "repository": lambda: self.repository(known.pull.repository),
        }

    def review_comment(self, known: ReviewComment) -> Node:
        of, anchor = known.thread.pull, known.thread.anchor
        first = known.thread.comments[0]
        return self.words(known, "PullRequestReviewComment") | {
            "url": f"{self.hub.server_url}/{of.repository.full_name}/pull/{of.number}#discussion_r{known.id}",
            "path": anchor.path,
            "diffHunk": anchor.hunk,
            "line": lambda: known.thread.line,
            "startLine": lambda: known.thread.start_line,
            "originalLine": anchor.line,
            "originalStartLine": anchor.start_line,
            "outdated": lambda: known.thread.is_outdated,
            "state": "PENDING" if known.is_pending else "SUBMITTED",
            "replyTo": lambda: self.review_comment(first) if known.in_reply_to else None,
            "pullRequestReview": lambda: self.review(known.review),
            "commit": lambda: self.commit(of.repository, of.head_sha),
            "originalCommit": lambda: self.commit(of.repository, anchor.commit),
            **minimized(known),
        }

    def pull_commit(self, known: Pull, sha: str) -> Node:
        return {"__typename": "PullRequestCommit", "id": f"PRC_{sha}", "commit": lambda: self.commit(known.repository, sha)}

    def commit(self, home: Repository, sha: str) -> Node:
        told = home.code.told(sha)
        message = told["message"].rstrip("\n")
        headline, _, body = message.partition("\n")
        account = self.hub.users.get(told["author"])
        person = {
            "name": told["author"],
            "email": told["email"],
            "date": told["date"],
            "user": self.actor(account) if account and account.kind == "User" else None,
        }
        committer = (
            person if told["committer"] == told["author"] else {"name": told["committer"], "email": told["committer_email"]}
        )
        signed = (told["committer"], told["committer_email"]) == GITHUB
        dates = {"committedDate": told["committed"], "authoredDate": told["date"]}
        return {
            "__typename": "Commit",
            "id": f"C_{sha}",
            "oid": sha,
            "abbreviatedOid": sha[:7],
            "message": message,
            "messageHeadline": headline,
            "messageBody": body.strip("\n"),
            "author": person,
            "committer": committer,
            "signature": {"__typename": "GpgSignature", "isValid": True, "wasSignedByGitHub": True, "state": "VALID"}
            if signed
            else None,
            "file": lambda path: self.tree_entry(home, sha, path),
            **dates,
            "url": f"{self.hub.server_url}/{home.full_name}/commit/{sha}",
            "parents": connection("parents", told["parents"].split(), lambda parent: self.commit(home, parent)),
            "authors": connection("authors", [person]),
            "statusCheckRollup": lambda: self.rollup(home, sha),
            "checkSuites": lambda **page: self.suites(home, sha, page),
            "status": lambda: self.statuses(home, sha),
        }

    def tree_entry(self, home: Repository, sha: str, path: str) -> Node | None:
        self.need(home, "contents")
        found = home.code.entry(sha, path)
        if found is None:
            return None
        mode, kind, oid = found
        return {"path": path, "name": path.rsplit("/", 1)[-1], "mode": int(mode, 8), "type": kind, "oid": oid}

    def suites(self, home: Repository, sha: str, page: dict[str, Any]) -> Node:
        """The checks of a commit by app. Who may not read checks is refused, also where the repository is public."""
        if not self.token.has("checks", "read"):
            raise forbidden()
        latest = {(run.app, run.name): run for run in home.check_runs(sha)}
        apps = dict.fromkeys(app for app, _ in latest)
        return connection("checkSuites", list(apps), lambda app: self.suite(app, [r for r in latest.values() if r.app == app]))(
            **page
        )  # type: ignore[no-any-return]

    def suite(self, app: str, runs: list[CheckRun]) -> Node:
        return {
            "__typename": "CheckSuite",
            "id": f"CS_{app}",
            "app": {"id": f"A_{app}", "slug": app, "name": app, "databaseId": 15368},
            "checkRuns": lambda **page: connection("checkRuns", runs, self.check_run)(**page),
        }

    def statuses(self, home: Repository, sha: str) -> Node | None:
        """The commit statuses. Who may not read statuses is refused, also where the repository is public."""
        if not self.token.has("statuses", "read"):
            raise forbidden()
        latest = list({status.context: status for status in home.statuses if status.sha == sha}.values())
        if not latest:
            return None
        return {"__typename": "Status", "id": f"S_{sha}", "contexts": [self.status(status) for status in latest]}

    def rollup(self, home: Repository, sha: str) -> Node | None:
        """All checks of a commit. Who may not read checks and statuses is refused, also where the repository is public."""
        if not (self.token.has("checks", "read") and self.token.has("statuses", "read")):
            raise forbidden()
        runs = list({(run.app, run.name): run for run in home.check_runs(sha)}.values())
        statuses = list({status.context: status for status in home.statuses if status.sha == sha}.values())
        if not runs and not statuses:
            return None
        words = [run.conclusion or "pending" for run in runs] + [status.state for status in statuses]
        state = "FAILURE" if any(word in BAD for word in words) else "PENDING" if "pending" in words else "SUCCESS"
        every = [*(self.check_run(run) for run in runs), *(self.status(status) for status in statuses)]
        return {"__typename": "StatusCheckRollup", "id": f"SCR_{sha}", "state": state, "contexts": connection("contexts", every)}

    def check_run(self, known: CheckRun) -> Node:
        return {
            "__typename": "CheckRun",
            "id": known.node_id,
            "databaseId": known.id,
            "name": known.name,
            "status": known.status.upper(),
            "conclusion": known.conclusion.upper() if known.conclusion else None,
            "title": known.output.get("title"),
            "summary": known.output.get("summary"),
            "text": known.output.get("text"),
            "externalId": known.external_id,
            "detailsUrl": known.details_url,
            "url": f"{self.hub.server_url}/{known.repository.full_name}/runs/{known.id}",
            "permalink": f"{self.hub.server_url}/{known.repository.full_name}/runs/{known.id}",
            "startedAt": known.started_at,
            "completedAt": known.completed_at,
            "isRequired": False,
            "checkSuite": {
                "id": f"CS_{known.app}",
                "app": {"id": f"A_{known.app}", "slug": known.app, "name": known.app, "databaseId": 15368},
                "workflowRun": None,
            },
        }

    def status(self, known: Status) -> Node:
        return {
            "__typename": "StatusContext",
            "id": f"SC_{known.id}",
            "context": known.context,
            "state": known.state.upper(),
            "description": known.description,
            "targetUrl": known.target_url,
            "createdAt": known.created_at,
            "creator": lambda: self.actor(known.user),
            "isRequired": False,
        }


def minimized(known: Comment | ReviewComment | Review) -> Node:
    return {
        "isMinimized": known.minimized is not None,
        "minimizedReason": known.minimized.lower() if known.minimized else None,
        "viewerCanMinimize": True,
    }
