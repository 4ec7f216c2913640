"""Who is asked for fixes: the tools that found something, with the very runs that found it, at head alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from reviewbot.domain.evidence import Side
from reviewbot.evidence import lint, presets, tools
from reviewbot.evidence.fixers import eslint, gofmt, rdjson, ruff, sarif, shellcheck, sqlfluff
from reviewbot.evidence.fixers.offer import Offer
from reviewbot.evidence.fixers.pairing import Report, Wanted
from reviewbot.evidence.parsers import eslint as eslint_report
from reviewbot.evidence.parsers import rdjson as rdjson_report
from reviewbot.evidence.parsers import ruff as ruff_report
from reviewbot.evidence.parsers import sarif as sarif_report
from reviewbot.evidence.parsers import shellcheck as shellcheck_report
from reviewbot.evidence.parsers import sqlfluff as sqlfluff_report
from reviewbot.evidence.parsers.remark import Remark
from reviewbot.evidence.plan import why_not
from reviewbot.evidence.tools import Tool
from reviewbot.evidence.view import CheckOptions, View
from reviewbot.ports import Job, Outcome

READERS: Mapping[Callable[[bytes], tuple[Remark, ...]], Callable[[bytes], Iterator[Offer]]] = {
    ruff_report.read: ruff.read,
    shellcheck_report.read: shellcheck.read,
    eslint_report.read: eslint.read,
    sarif_report.read: sarif.read,
    rdjson_report.read: rdjson.read,
    rdjson_report.read_lines: rdjson.read_lines,
    sqlfluff_report.read: sqlfluff.read,
}
"""By what reads the remarks of a tool's report: what reads its fixes. The other formats hold none: mypy's, Pyright's, tsc's,
hadolint's, actionlint's, checkstyle and lines of text; zizmor's names fixes without showing them, and golangci-lint's SARIF has
not a word of them."""

_RUFF = Tool("ruff", (), ruff_report.read, ("*.py", "*.pyi"))
_UNMENDED = ("--no-fix", "--no-fix-only")
"""Settings of a project may have ruff mend the files itself, and then it says nothing of what it mended."""
Settle = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Inquiry:
    """Jobs, and how their outcomes are read: ``hear`` raises Unreadable."""

    tool: str
    jobs: tuple[Job, ...]
    hear: Callable[[tuple[Outcome, ...]], Iterable[Offer]]
    settle: Settle

    def report(self, outcomes: tuple[Outcome, ...]) -> Report:
        """What the tool offers. Raises Unreadable where it has no report."""
        return Report.of(self.tool, self.hear(outcomes), self.settle)


def inquiries(wanted: Iterable[Wanted], view: View, options: CheckOptions) -> Iterator[Inquiry]:
    """The runs that are to be made, as far as anything may be run."""
    places = tuple(wanted)
    names = {place.tool for place in places}
    known = frozenset(file.head_path for file in view.files if file.head_path)
    reason = why_not(view, options)

    def settle(path: str) -> str | None:
        return tools.settled(path, known)

    if not options.execute:
        return
    if _RUFF.name in names:
        yield from _ruff(view, options, executes=not reason, settle=settle)
    for check in presets.chosen(view, options) if not reason else ():
        if isinstance(check, Tool) and check.name in names:
            yield from _tool(check, view, options, settle=settle)
    unformatted = frozenset(place.path for place in places if (place.tool, place.rule) == (gofmt.LINTER, gofmt.RULE))
    if unformatted:
        yield _gofmt(unformatted, view, options, settle=settle)


def _ruff(view: View, options: CheckOptions, *, executes: bool, settle: Settle) -> Iterator[Inquiry]:
    """The project's run comes first: what its own settings call safe is safer than what ours do."""
    sources = view.python()

    def numbered(path: str) -> str | None:
        folder = path.rpartition("/")[0].rpartition("/")[2]
        number = int(folder) if folder.isascii() and folder.isdecimal() else len(sources)
        return sources[number].head_path if number < len(sources) else None

    jobs = {job.name: job for job in lint.jobs(view, options, executes=executes)}
    for name, way in ((f"{lint.PROJECT}:{Side.HEAD}", settle), (f"{lint.OWN}:{Side.HEAD}", numbered)):
        if job := jobs.get(name):
            words = tuple(word for word in _UNMENDED if word not in job.argv)
            asked = replace(job, argv=(*job.argv[:2], *words, *job.argv[2:]))
            yield Inquiry(_RUFF.name, (_asking(asked),), _reader(_RUFF, ruff.read), way)


def _tool(tool: Tool, view: View, options: CheckOptions, *, settle: Settle) -> Iterator[Inquiry]:
    read = READERS.get(tool.read)
    if read is not None and not tool.on_stderr:
        jobs = tuple(_asking(job) for job in tools.jobs(tool, view, options) if job.tree is Side.HEAD)
        if jobs:
            yield Inquiry(tool.name, jobs, _reader(tool, read), settle)


def _gofmt(paths: frozenset[str], view: View, options: CheckOptions, *, settle: Settle) -> Inquiry:
    texts = tuple(
        (file.path, head) for file in view.files if file.path in paths and (head := view.contents_of(file).head) is not None
    )
    jobs = tuple(map(_asking, gofmt.jobs(texts, view, options)))
    return Inquiry(gofmt.LINTER, jobs, lambda outcomes: gofmt.offers(texts, outcomes), settle)


def _reader(tool: Tool, read: Callable[[bytes], Iterator[Offer]]) -> Callable[[tuple[Outcome, ...]], Iterable[Offer]]:
    """What one run of a tool offers, read off the report that holds its remarks."""

    def hear(outcomes: tuple[Outcome, ...]) -> Iterator[Offer]:
        for outcome in outcomes:
            tools.remarks(tool, outcome)
            yield from read((outcome.file(tool.report) if tool.report else outcome.stdout) or b"")

    return hear


def _asking(job: Job) -> Job:
    return replace(job, name=f"fix:{job.name}", keep=())
