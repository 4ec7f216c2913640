"""/debate fix on an issue: reproduce what it says, fix it, and open a pull request."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from msgspec.structs import replace

from reviewbot.errors import UsageError
from reviewbot.fixing import fix_report
from reviewbot.git.repository import Repository
from reviewbot.git.target import Target
from reviewbot.github.client import Client, GitHubError
from reviewbot.github.command import Command, parse
from reviewbot.github.commands import react
from reviewbot.github.fixes import open_pull
from reviewbot.github.job import Job, Runner
from reviewbot.github.run import fetch, make_host
from reviewbot.github.snapshot import may_write
from reviewbot.github.state import answer_marker
from reviewbot.reports import answers
from reviewbot.text.markdown import code, inline


def fix_issue(job: Job, runner: Runner, client: Client) -> int:
    """Do what a comment on an issue asks for.

    It was written by somebody who may write now, and nobody edited it since. What the issue itself
    says is untrusted.
    """
    number, id = job.event.issue, job.event.asked_by
    issue = client.read(f"/issues/{number}", "read an issue")
    comment = client.read(f"/issues/comments/{id}", "read a comment")
    command = parse(comment.get("body") or "")
    author = comment.get("user") or {}
    reason = ""
    if not str(comment.get("issue_url")).endswith(f"/issues/{number}"):
        reason = "the comment is on another issue"
    elif comment.get("created_at") != comment.get("updated_at"):
        reason = "the comment was edited"
    elif not isinstance(command, Command) or command.verb != "fix":
        reason = "the comment is no /debate fix"
    elif issue.get("state") != "open" or issue.get("locked") or "pull_request" in issue:
        reason = "the issue is closed or locked, or a pull request"
    elif author.get("type") != "User" or not may_write(client, str(author.get("login"))):
        reason = "who wrote the comment may not write to the repository"
    if reason:
        runner.say(f"Nothing to do: {reason}.")
        return 0
    try:
        words, reaction = _fix(job, client, issue), "rocket"
    except (UsageError, GitHubError) as error:
        if isinstance(error, GitHubError) and error.kind in ("not_authorized", "deferred"):
            raise
        hint = f" ({error.hint})" if error.hint else ""
        words, reaction = inline(f"{error}{hint}"), "confused"
    body = {"body": f"{answer_marker(id)}\n{words}"}
    client.write("POST", f"/issues/{number}/comments", "answer on an issue", body)
    react(client, id, is_inline=False, content=reaction)
    return 0


def _fix(job: Job, client: Client, issue: Mapping[str, Any]) -> str:
    """What is answered, in Markdown. Raises UsageError with what to do."""
    number, base = issue["number"], job.event.default_branch
    branch = f"reviewbot/issue-{number}"
    path = f"/branches/{quote(base, safe='')}"
    sha = str(client.read(path, "find the default branch")["commit"]["sha"])
    report = f"{issue.get('title') or ''}\n\n{issue.get('body') or ''}"
    with Repository(fetch(job, sha)) as repository:
        target = Target(kind="revision", revision=f"{sha}..{sha}")
        change = asyncio.run(repository.load_change(target))
        host = replace(make_host(job, repository, None), may_execute=True)
        result = asyncio.run(fix_report(report, change, host))
    if result.outcome != "fixed":
        return answers.fixes([result], (), "")
    message = "\n".join([*result.facts, "", f"Reviewbot-Goal: {result.kind}"])
    said = f"By {code(result.author)}: {inline(result.explanation)}" if result.explanation else ""
    facts = [f"- {inline(fact)}" for fact in result.facts]
    body = "\n\n".join(filter(None, [f"Closes #{number}.", *facts, said]))
    commits = [(result.files, result.title, message)]
    url = open_pull(client, commits, branch, base, sha, result.title, body)
    return f"It is reproduced and fixed in {url}: {inline(' '.join(result.facts))}"
