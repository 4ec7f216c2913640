"""The scheduled audit: the whole tree, one issue, what differs first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.forge.acting import Actor, Ran
from tests.forge.hub import Hub, Repository

pytestmark = pytest.mark.ci

AUDITOR = {"contents": "read", "issues": "write", "metadata": "read"}
FAULTY = "def f(x, y=[]):\n    y.append(x)\n    return y\n"
MARKER = "<!-- reviewbot:audit v1 -->"


@pytest.fixture
def repository(hub: Hub) -> Repository:
    made = hub.repository("octo/app")
    made.commit("main", {"old.py": FAULTY, "good.py": "x = 1\n"}, "Begin")
    return made


def strike(hub: Hub, repository: Repository, folder: Path, permissions: dict[str, str] = AUDITOR, **inputs: str) -> Ran:
    actor = Actor(hub, folder, hub.token(permissions=permissions), sha=repository.code.sha("refs/heads/main") or "")
    return actor.run("schedule", hub.event("schedule", repository=repository), **inputs)


def test_an_audit_opens_one_issue_and_edits_it_when_something_differs(hub: Hub, repository: Repository, tmp_path: Path) -> None:
    first = strike(hub, repository, tmp_path / "first")
    assert first.exit_code == 0, first.stderr
    assert len(repository.issues) == 1
    assert repository.issues[0].body.startswith(MARKER)
    assert "old.py" in repository.issues[0].body
    repository.commit("main", {"old.py": "def f(x):\n    return [x]\n", "new.py": FAULTY}, "Mend one, break another")
    second = strike(hub, repository, tmp_path / "second")
    assert second.exit_code == 0, second.stderr
    assert len(repository.issues) == 1
    assert "1 new" in repository.issues[0].body
    assert "1 gone" in repository.issues[0].body
    assert second.writes == ("issues/update",)
    assert second.outputs["summary_comment_url"].startswith("http")


def test_without_permission_to_write_issues_the_summary_has_it(hub: Hub, repository: Repository, tmp_path: Path) -> None:
    ran = strike(hub, repository, tmp_path, {"contents": "read", "issues": "read", "metadata": "read"})
    assert ran.exit_code == 0, ran.stderr
    assert repository.issues == []
    assert "old.py" in ran.summary
    assert "issues: write" in ran.stdout


def test_a_foreign_issue_with_our_marker_is_left_alone(hub: Hub, repository: Repository, tmp_path: Path) -> None:
    forged = repository.issue("Audit", f"{MARKER}\nnothing was found")
    ran = strike(hub, repository, tmp_path)
    assert ran.exit_code == 0, ran.stderr
    assert forged.body == f"{MARKER}\nnothing was found"
    assert len(repository.issues) == 2


def test_the_report_for_code_scanning_is_written_where_it_was_asked_for(hub: Hub, repository: Repository, tmp_path: Path) -> None:
    ran = strike(hub, repository, tmp_path, sarif_file="out/audit.sarif", dry_run="true")
    assert ran.writes == ()
    assert "old.py" in Path(ran.outputs["sarif_file"]).read_text()
