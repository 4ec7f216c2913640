"""A linter's rule or a type checker's word as a check: it is reported at head on the claimed lines, and not at base."""

from __future__ import annotations

from dataclasses import replace
from difflib import SequenceMatcher

from reviewbot.domain.debate import CheckKind
from reviewbot.domain.evidence import Side
from reviewbot.evidence import places
from reviewbot.evidence.parsers import ruff
from reviewbot.evidence.parsers.remark import Grade, Remark, Unreadable
from reviewbot.evidence.presets import TOOLS
from reviewbot.evidence.proof.method import Ground, Method, Unfit
from reviewbot.evidence.proof.runs import Told
from reviewbot.evidence.tools import FILES, Tool, applies_to, job, remarks, settled
from reviewbot.ports import Ended, Job, Outcome

NEAR = 3
"""A report this far from the claimed lines is about them: tools point at a statement's first line [design]."""


def _job(ground: Ground, side: Side) -> Job:
    tool, _ = _meant(ground)
    file = ground.view.change.file(ground.experiment.path)
    if file is None or not applies_to(tool, ground.view, file):
        raise Unfit(f"{tool.name} does not read {ground.experiment.path!r} in this change")
    path = file.head_path if side is Side.HEAD else file.base_path
    made = job(tool, ground.view, side, seconds=ground.options.seconds, paths=(path,) if path else ())
    if made is None:  # the file is not there at this end: nothing is reported of it
        return Job("proof", ("/bin/true",), ground.options.seconds, executes=False)
    return replace(made, keep=())


def _told(ground: Ground, outcome: Outcome, side: Side) -> Told:
    tool, rule = _meant(ground)
    file = ground.view.change.file(ground.experiment.path)
    names = frozenset(name for name in (file.head_path, file.base_path) if name) if file else frozenset()
    if outcome.ended is Ended.EXITED and outcome.exit_code == 0 and not outcome.stdout + outcome.stderr:
        return Told(passes=True)
    try:
        said = remarks(tool, outcome)
    except Unreadable as exc:
        return Told(None, str(exc))
    meant = [one for one in said if settled(one.path, names) and _is_meant(one, rule)]
    found = [one for one in meant if _stands_there(ground, one, side)]
    return Told(not found, "\n".join(f"{one.path}:{one.line}: {one.rule or ''} {one.message}" for one in found[:20]))


def _meant(ground: Ground) -> tuple[Tool, str]:
    """The tool, and the rule that is meant; empty for any error of a type checker."""
    check = ground.experiment.check
    name, _, rule = check.subject.partition(":")
    if check.kind is CheckKind.RULE and not rule:
        raise Unfit("a rule is named as tool:rule, such as shellcheck:SC2086")
    tool = _RUFF if name == "ruff" else TOOLS.get(name)
    if tool is None:
        raise Unfit(f"nothing here is called {name!r}; there are ruff, {', '.join(TOOLS)}")
    if name == "ruff":
        if not rule.isalnum():
            raise Unfit(f"{rule!r} is no rule of ruff")
        tool = replace(tool, argv=(*tool.argv[:-2], "--select", rule, *tool.argv[-2:]))
    return tool, rule


def _is_meant(remark: Remark, rule: str) -> bool:
    return remark.rule == rule if rule else remark.grade is Grade.ERROR


def _stands_there(ground: Ground, remark: Remark, side: Side) -> bool:
    """The report is about the claimed code: near its lines at head; at base on a line of that very text, wherever that stood."""
    experiment, view = ground.experiment, ground.view
    span = range(experiment.start_line - NEAR, experiment.line + NEAR + 1)
    if side is Side.HEAD:
        now = ground.mended.get(experiment.path)
        return remark.line in (span if now is None else _moved(span, ground, now))
    file = view.change.file(experiment.path)
    contents = view.contents_of(file) if file else None
    head, base = (places.lines(data) for data in ((contents.head, contents.base) if contents else (None, None)))
    texts = {places.line_at(head, number) for number in span if 0 < number <= len(head)} - {""}
    return places.line_at(base, remark.line) in texts


def _moved(span: range, ground: Ground, now: bytes) -> range:
    """Where lines of the head stand in the mended file, with what was put in their place: a fix that only moves them mends
    nothing."""
    file = ground.view.change.file(ground.experiment.path)
    old, new = places.lines(ground.view.contents_of(file).head if file else None), places.lines(now)
    first, last = span.start - 1, span.stop - 1
    found: list[int] = []
    for tag, start, end, there, until in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if start >= last or end <= first:
            continue
        if tag == "equal":
            there, until = there + max(first - start, 0), until - max(end - last, 0)
        found += range(there, until)
    return range(min(found) + 1, max(found) + 2) if found else range(0)


_RUFF = Tool(
    "ruff",
    ("{ruff}", "check", "--isolated", "--ignore-noqa", "--no-cache", "--exit-zero", "--output-format", "json", "--", FILES),
    ruff.read,
    ("*.py", "*.pyi"),
)

METHOD = Method(_job, _told)
