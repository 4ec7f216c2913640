"""Programs that read code and report lines: linters, type checkers, scanners. Run at both ends, and only what is new counts.

A tool runs on the tree of each end, behind the wall. Its configuration is the base's at both ends: what a change writes there has
no effect on its own review.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from reviewbot.domain.change import Contents, FileChange, FileKind, is_test_path
from reviewbot.domain.evidence import Category, CheckRun, EvidenceKind, Precision, Result, Severity, Side
from reviewbot.evidence import places, shown
from reviewbot.evidence.match import Heard, Sides, without_repeats
from reviewbot.evidence.parsers.remark import Grade, Remark, Unreadable
from reviewbot.evidence.view import CheckOptions, View, is_inside, named
from reviewbot.ports import Ended, Job, Outcome

FILES = "{files}"
"""In a tool's argv: the changed files that it reads."""

DEEPEST = 64
"""Folders of a path as a tool wrote it that are looked at, from its end: what a test prints may be nothing but slashes."""

MOST_FILES = 500
"""Files that are named to a tool; further ones are said not to have been looked at."""


@dataclass(frozen=True, slots=True)
class Belief:
    """What a report of a tool is worth. Judgement, not yet calibrated."""

    category: Category
    severity: Severity
    precision: Precision


STYLE = Belief(Category.MAINTAINABILITY, Severity.LOW, Precision.HEURISTIC)
SMELL = Belief(Category.MAINTAINABILITY, Severity.LOW, Precision.LIKELY)
DEFECT = Belief(Category.CORRECTNESS, Severity.MEDIUM, Precision.LIKELY)
BREAKS = Belief(Category.CORRECTNESS, Severity.HIGH, Precision.LIKELY)
DANGER = Belief(Category.SECURITY, Severity.MEDIUM, Precision.LIKELY)
HAZARD = Belief(Category.SECURITY, Severity.HIGH, Precision.LIKELY)

BY_GRADE: Mapping[Grade, Belief] = MappingProxyType({Grade.NOTE: STYLE, Grade.WARNING: SMELL, Grade.ERROR: DEFECT})
"""For a tool of which nothing more is known."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A program that reports lines.

    ``argv`` may hold ``FILES``: then it is run on the changed files that ``files`` names, else on the whole tree where there is
    such a file. ``configuration`` names files whose base version holds. ``wanted`` may ask for more, such as a configuration of
    the project. ``codes`` are exit codes that come with a report, which is standard output, standard error, or the
    file ``report`` of the scratch folder. ``beliefs`` are by rule, or by the beginning of one; ``grades`` hold for the rest.
    """

    name: str
    argv: tuple[str, ...]
    read: Callable[[bytes], tuple[Remark, ...]]
    files: tuple[str, ...]
    configuration: tuple[str, ...] = ()
    wanted: Callable[[View], bool] = lambda _: True
    codes: tuple[int, ...] = (0, 1)
    report: str = ""
    on_stderr: bool = False
    beliefs: Mapping[str, Belief] = field(default_factory=lambda: MappingProxyType({}))
    grades: Mapping[Grade, Belief] = field(default_factory=lambda: BY_GRADE)
    environment: tuple[tuple[str, str], ...] = ()
    telling: bool = True
    """An exit code other than 0 comes with at least one report."""
    covers: Callable[[View, str], bool] = lambda *_: True
    """Whether the project has the tool look at a path: named to it, some read even what their configuration leaves out."""
    silent: Callable[[Remark], bool] = lambda _: False
    """Reports that are said better elsewhere, or mean nothing without the project's whole environment."""

    def believed(self, remark: Remark) -> Belief:
        """What a report is worth: by its rule, the longest beginning of it first."""
        rule = remark.rule or ""
        known = (self.beliefs[rule[:size]] for size in range(len(rule), 0, -1) if rule[:size] in self.beliefs)
        return next(known, self.grades[remark.grade])


def applies(tool: Tool, view: View) -> bool:
    """There is something for it in the change."""
    return any(applies_to(tool, view, file) for file in view.files) and tool.wanted(view)


def jobs(tool: Tool, view: View, options: CheckOptions) -> tuple[Job, ...]:
    """Head, then base. In an audit head alone."""
    if not applies(tool, view):
        return ()
    sides = (Side.HEAD,) if view.is_audit else (Side.HEAD, Side.BASE)
    found = (job(tool, view, side, seconds=options.seconds, paths=paths(tool, view, side)) for side in sides)
    return tuple(one for one in found if one is not None)


def paths(tool: Tool, view: View, side: Side) -> tuple[str, ...]:
    """The changed files that it reads at one end."""
    names = (file.head_path if side is Side.HEAD else file.base_path for file in view.files if applies_to(tool, view, file))
    return tuple(name for name in names if name is not None and is_inside(name))


def job(tool: Tool, view: View, side: Side, *, seconds: float, paths: tuple[str, ...]) -> Job | None:
    """One run over these files; ``None`` where it would have none to read."""
    if FILES in tool.argv and not paths:
        return None
    here = tuple(f"./{path}" for path in paths[:MOST_FILES])
    argv = tuple(word for part in tool.argv for word in (here if part == FILES else (part,)))
    overlay, without = _configuration(tool, view) if side is Side.HEAD else ((), ())
    return Job(
        f"{tool.name}:{side}",
        argv,
        seconds,
        executes=True,
        tree=side,
        overlay=overlay,
        without=without,
        collect=(tool.report,) if tool.report else (),
        environment=tool.environment,
        keep=tool.codes if side is Side.BASE else (),
    )


def hear(tool: Tool, view: View, outcomes: Mapping[str, Outcome]) -> Heard:
    """What it said at both ends. A tool that is not installed is said to be so; one that failed leaves a gap."""
    head, base = (outcomes.get(f"{tool.name}:{side}") for side in (Side.HEAD, Side.BASE))
    ran = [outcome for outcome in (head, base) if outcome is not None]
    if not ran:
        return Heard()
    seconds = sum(outcome.seconds for outcome in ran)
    missing = next((outcome for outcome in ran if outcome.ended is Ended.MISSING), None)
    if missing:
        return Heard(runs=(CheckRun(tool.name, ran=False, reason=missing.reason, seconds=seconds),))
    at_head, head_reason = _results(tool, view, Side.HEAD, outcome=head)
    at_base, base_reason = _results(tool, view, Side.BASE, outcome=base)
    reasons = [reason for reason in (head_reason, base_reason, _left_out(tool, view)) if reason]
    run = CheckRun(tool.name, ran=not head_reason, reason="; ".join(reasons), seconds=seconds, cut_short=bool(reasons))
    return Heard(Sides(at_base, at_head, base_known=not base_reason, head_known=not head_reason), runs=(run,))


def remarks(tool: Tool, outcome: Outcome) -> tuple[Remark, ...]:
    """What one run reported. Raises Unreadable where it has no report."""
    if outcome.ended is not Ended.EXITED:
        raise Unreadable(outcome.reason)
    if outcome.exit_code not in tool.codes:
        words = (outcome.stderr or outcome.stdout).decode("utf-8", "replace").strip()
        raise Unreadable(f"it failed (exit code {outcome.exit_code}): {shown.sentence(words.rpartition(chr(10))[2])}")
    data = outcome.file(tool.report) if tool.report else outcome.stderr if tool.on_stderr else outcome.stdout
    said = tool.read(data or b"")
    if outcome.exit_code and not said and tool.telling:
        words = (outcome.stderr or outcome.stdout).decode("utf-8", "replace").strip()
        raise Unreadable(f"it reported nothing (exit code {outcome.exit_code}): {shown.sentence(words.rpartition(chr(10))[2])}")
    return tuple(remark for remark in said if not tool.silent(remark))


def settled(path: str, known: frozenset[str]) -> str | None:
    """A path as a tool wrote it, seen from the top: the longest end of it that is a file of the tree."""
    parts = path[-4096:].removeprefix("file://").split("/")[-DEEPEST:]
    ends = ("/".join(parts[start:]) for start in range(len(parts)))
    return next((end for end in (end.removeprefix("./") for end in ends) if end in known), None)


def applies_to(tool: Tool, view: View, file: FileChange) -> bool:
    """The tool reads files of this name."""
    return file.kind is FileKind.TEXT and named(file.path, tool.files) and tool.covers(view, file.path)


def _configuration(tool: Tool, view: View) -> tuple[tuple[tuple[str, bytes], ...], tuple[str, ...]]:
    """The base's version of what configures the tool, to be laid over the head's tree, and what stands only there. A tree that
    is audited is trusted with its own."""
    if view.is_audit:
        return (), ()
    overlay: list[tuple[str, bytes]] = []
    without: list[str] = []
    for file in view.change.files:
        contents = view.contents_of(file)
        if file.head_path and named(file.head_path, tool.configuration):
            without.append(file.head_path)
        if file.base_path and named(file.base_path, tool.configuration) and contents.base is not None:
            overlay.append((file.base_path, contents.base))
    return tuple(overlay), tuple(without)


def _results(tool: Tool, view: View, side: Side, *, outcome: Outcome | None) -> tuple[tuple[Result, ...], str]:
    """The results of one end, and why there are none."""
    if outcome is None:
        return (), ""
    try:
        said = remarks(tool, outcome)
    except Unreadable as exc:
        return (), f"at {side}: {exc}"
    return without_repeats(_placed(tool, view, side, said=said)), ""


def _placed(tool: Tool, view: View, side: Side, *, said: tuple[Remark, ...]) -> Iterator[Result]:
    files = {_name(file, side): file for file in view.files}
    known = frozenset(path for path in files if path) | frozenset(view.paths)
    texts: dict[str, tuple[str, ...]] = {}
    for remark in said:
        path = settled(remark.path, known)
        if path is None:
            continue
        file = files.get(path)
        if file is None:
            if FILES not in tool.argv:  # of named files alone the ends do not read the same others
                yield from _elsewhere(tool, view, side, remark=replace(remark, path=path))
            continue
        if path not in texts:
            texts[path] = places.lines(_data(view.contents_of(file), side))
        found = _result(tool, replace(remark, path=path), places.line_at(texts[path], remark.line))
        yield replace(found, consequence=_reported(tool, remark)) if view.is_audit else found


def _elsewhere(tool: Tool, view: View, side: Side, *, remark: Remark) -> Iterator[Result]:
    """A report on a file that the change does not touch: where it is new, something in the change brought it about."""
    mine = [file for file in view.files if applies_to(tool, view, file)]  # the same at both ends, or nothing would match
    if mine and remark.grade is Grade.ERROR:
        file = next((file for file in mine if not is_test_path(file.path)), mine[0])
        message = f"{remark.path}: {remark.message}"
        yield _result(tool, replace(remark, path=_name(file, side) or file.path, line=0, end_line=0, message=message), "")


def _result(tool: Tool, remark: Remark, anchor: str) -> Result:
    belief, message = tool.believed(remark), shown.sentence(remark.message)
    tests = is_test_path(remark.path)
    return Result(
        EvidenceKind.LINT,
        tool.name,
        remark.rule,
        remark.path,
        remark.line,
        message,
        Category.TESTS if tests and belief.category is Category.CORRECTNESS else belief.category,
        min(belief.severity, Severity.MEDIUM) if tests else belief.severity,
        belief.precision,
        end_line=max(remark.end_line, remark.line),
        anchor=anchor,
        trigger=f"{tool.name} runs",
        consequence=f"{_reported(tool, remark)}, and did not before this change",
        excerpt=f"{remark.rule or remark.grade.name.lower()}: {message}",
        command=(tool.name, remark.path),
        exit_code=1,
    )


def _reported(tool: Tool, remark: Remark) -> str:
    return f"{tool.name} reports it{f' as {remark.rule}' if remark.rule else ''}"


def _name(file: FileChange, side: Side) -> str | None:
    return file.head_path if side is Side.HEAD else file.base_path


def _data(contents: Contents, side: Side) -> bytes | None:
    return contents.head if side is Side.HEAD else contents.base


def _left_out(tool: Tool, view: View) -> str:
    if FILES not in tool.argv:
        return ""
    named_to_it = min(len(paths(tool, view, Side.HEAD)), MOST_FILES)
    more = sum(applies_to(tool, view, file) and file.head_path is not None for file in view.files) - named_to_it
    return f"{more} further files were not looked at" if more > 0 else ""
