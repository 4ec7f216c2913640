"""``reviewbot github``: what the GitHub Action calls. Reads its surroundings, does this run's work, and leaves outputs behind."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import click

from reviewbot.cli.output import say
from reviewbot.cli.workflow import annotate, append, outputs
from reviewbot.config.layers import VARIABLE
from reviewbot.domain.review import Finding
from reviewbot.errors import ReviewbotError, UsageError
from reviewbot.events import payload
from reviewbot.publish import plain
from reviewbot.wiring import github as action
from reviewbot.wiring.github.job import Inputs, Job, Place, Report
from reviewbot.wiring.places import state_directory

MOST_EVENT_BYTES = 26_000_000
"""GitHub caps a payload at 25 MB."""
MOST_OUTPUT = 200_000
"""Characters of the findings in an output: GitHub takes 1 MB for all outputs of a job together."""

PASSED_ON = (
    *("PATH", "HOME", "TMPDIR", "LANG"),
    *("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"),
)
"""Variables of the job that providers and git may know. Keys of providers are beside them; the forge's token is not."""


@click.command("github", short_help="Do the work of one GitHub Actions run.")
def github() -> int:
    """Do what the event of this GitHub Actions run asks for.

    That is to review a pull request, collect evidence, hold a debate, publish it, or obey a comment. The Action calls this
    command; its inputs arrive as INPUT_ variables. Outputs go to $GITHUB_OUTPUT, a summary to $GITHUB_STEP_SUMMARY. To set it up
    in a repository: `reviewbot init --workflow review`.

    Exit codes are those of `reviewbot review`.
    """
    environ = dict(os.environ)
    try:
        report = action.handle(_job(environ))
    except ReviewbotError as error:
        append(environ.get("GITHUB_STEP_SUMMARY", ""), f"## NOT REVIEWED\n\n{action.told(error)}\n")
        append(environ.get("GITHUB_OUTPUT", ""), outputs({"conclusion": "not_reviewed", "run_id": ""}))
        raise
    _leave(report, environ)
    return report.exit_code


def _leave(report: Report, environ: Mapping[str, str]) -> None:
    """Outputs, the summary, annotations and notices."""
    append(environ.get("GITHUB_OUTPUT", ""), outputs(_outputs(report)))
    append(environ.get("GITHUB_STEP_SUMMARY", ""), report.summary)
    for line in report.annotations:
        print(line)
    for notice in report.notices:
        print(annotate("notice", plain.line(notice)))
    if report.skip_reason:
        say(f"reviewbot: nothing to do: {report.skip_reason}")


def _outputs(report: Report) -> dict[str, str]:
    """The Action's outputs, all of them, empty where there is nothing to say."""
    return {
        "conclusion": report.conclusion.value if report.conclusion else "",
        "verdict": report.verdict.value if report.verdict else "",
        "skip_reason": report.skip_reason,
        "findings_json": _findings(report.findings),
        "sarif_file": report.sarif_file,
        "summary_comment_url": report.summary_url,
        "comments_total": str(report.comments_total),
        "comments_inline": str(report.comments_inline),
        "comments_resolved": str(report.comments_resolved),
        "range_mode": report.range_mode,
        "reviewed_sha": report.reviewed_sha,
        "cost_usd": f"{report.cost_usd:.4f}",
        "llm_calls": str(report.llm_calls),
        "autofix_sha": report.autofix_sha,
        "run_id": report.run_id,
    }


def _findings(findings: tuple[Finding, ...]) -> str:
    """What is told, as one line of JSON; the least grave are left out where it would be too long."""
    told = [_finding(finding) for finding in findings if finding.is_posted]
    while len(text := json.dumps(told, ensure_ascii=True)) > MOST_OUTPUT:
        told = told[: len(told) // 2]
    return text


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "id": finding.id,
        "fingerprint": finding.fingerprint,
        "path": finding.path,
        "start_line": finding.start_line,
        "line": finding.line,
        "severity": finding.severity.label,
        "category": finding.category.value,
        "title": finding.title,
        "status": finding.status.value,
        "lifecycle": finding.lifecycle.value,
        "proof": finding.proof.value,
    }


def _job(environ: Mapping[str, str]) -> Job:
    """The run that this process is part of. Raises UsageError outside of GitHub Actions."""
    name, path = environ.get("GITHUB_EVENT_NAME", ""), environ.get("GITHUB_EVENT_PATH", "")
    repository = environ.get("GITHUB_REPOSITORY", "")
    if not (name and path and repository):
        hint = "the Action calls it; locally use 'reviewbot review'"
        raise UsageError("GITHUB_EVENT_NAME, GITHUB_EVENT_PATH and GITHUB_REPOSITORY are needed here", hint=hint)
    inputs = Inputs({key.removeprefix("INPUT_").lower(): value for key, value in environ.items() if key.startswith("INPUT_")})
    temporary = Path(environ.get("RUNNER_TEMP") or tempfile.gettempdir())
    return Job(
        event=payload.read(name, _event(Path(path)), repository),
        inputs=inputs,
        place=place(environ, repository, inputs.text("github_token")),
        server_url=environ.get("GITHUB_SERVER_URL") or "https://github.com",
        environment=_known(environ),
        workspace=Path(environ.get("GITHUB_WORKSPACE") or "."),
        documents=temporary / "reviewbot",
        state=temporary / "reviewbot-state" if environ.get("RUNNER_TEMP") else state_directory(environ),
        now=time.time(),
        run_id=environ.get("GITHUB_RUN_ID", ""),
        sha=environ.get("GITHUB_SHA", ""),
    )


def place(environ: Mapping[str, str], repository: str, token: str = "") -> Place:
    """Where the forge is, and who we are there: an app whose id and key are given, else a token."""
    app, key = environ.get("REVIEWBOT_APP_ID", "").strip(), environ.get("REVIEWBOT_APP_PRIVATE_KEY", "").strip()
    return Place(
        repository=repository,
        api_url=environ.get("GITHUB_API_URL") or "https://api.github.com",
        token=token or environ.get("GITHUB_TOKEN", "").strip(),
        app=(app, key) if app and key else None,
    )


def _event(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_EVENT_BYTES)
    except OSError as exc:
        raise UsageError(f"cannot read the event at {path}: {exc.strerror}", hint="GITHUB_EVENT_PATH names it") from exc


def _known(environ: Mapping[str, str]) -> dict[str, str]:
    """What providers and git may know: keys and settings of theirs, never the forge's token."""
    vendors = (*action.KEYS, "OLLAMA_HOST", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN")
    kept = {name: environ[name] for name in (*PASSED_ON, *vendors) if environ.get(name)}
    kept |= {name: value for name, value in environ.items() if name.startswith(VARIABLE)}
    for name in action.KEYS:
        if value := environ.get(f"INPUT_{name}", "").strip():
            kept[name] = value
    return kept
