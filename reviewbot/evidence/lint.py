"""ruff, twice: with our own selection on copies of the changed files, and with the project's configuration of the base.

The first only parses and needs no sandbox. The second reads configuration, which can name any file, so it runs behind the
wall, on the base's tree with the changed sources laid over it: a configuration in the change has no effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from reviewbot.domain.change import Contents, FileChange, is_test_path
from reviewbot.domain.evidence import Category, CheckRun, EvidenceKind, Precision, Result, Severity, Side
from reviewbot.evidence import places, shown
from reviewbot.evidence.match import Heard, Sides, without_repeats
from reviewbot.evidence.parsers import ruff
from reviewbot.evidence.parsers.remark import Remark, Unreadable
from reviewbot.evidence.rules import CODES, Rule, known
from reviewbot.evidence.view import CheckOptions, View
from reviewbot.ports import Ended, Job, Outcome

OWN, PROJECT = "ruff", "ruff-project"
CONFIGURATIONS = ("pyproject.toml", "ruff.toml", ".ruff.toml")
_OWN_WORDS = ("--isolated", "--ignore-noqa", "--target-version", "py313")
_OUTPUT = ("--no-cache", "--no-fix", "--no-fix-only", "--output-format", "json", "--exit-zero")
_SAID_ELSEWHERE = frozenset(
    {"PLE2502", "PLE2510", "PLE2512", "PLE2513", "PLE2514", "PLE2515", "T100", "RUF001", "RUF002", "RUF003"}
)
"""What our own analysers tell better, or in any language."""
_DISTANT_PYTHON = "Cannot use "
"""How ruff complains of syntax that is too new for the version it assumes; the project may well run a newer one."""


@dataclass(frozen=True, slots=True)
class _Source:
    """A file at one end. ``path`` is its name there, ``copy`` its place in the scratch folder."""

    path: str
    copy: str
    data: bytes


def jobs(view: View, options: CheckOptions, *, executes: bool) -> tuple[Job, ...]:
    """Our own selection, and the project's where its configuration may be read."""
    if "ruff" not in options.presets:
        return ()
    configured = executes and any(path.rsplit("/", 1)[-1] in CONFIGURATIONS for path in view.paths)
    return tuple(
        job
        for side in Side
        if (sources := _sources(view, side))
        for job in (
            (_own(side, sources, options), _project(side, sources, options)) if configured else (_own(side, sources, options),)
        )
    )


def hear(view: View, outcomes: Mapping[str, Outcome]) -> Heard:
    """What both runs said, as one check each."""
    if f"{OWN}:head" not in outcomes and f"{OWN}:base" not in outcomes:
        return Heard()
    runs: list[CheckRun] = []
    found: dict[Side, list[Result]] = {side: [] for side in Side}
    answered: dict[tuple[str, Side], bool] = {}
    for check in (OWN, PROJECT):
        said = [(side, outcomes[f"{check}:{side}"]) for side in Side if f"{check}:{side}" in outcomes]
        reasons: list[str] = []
        for side, outcome in said:
            results, reason = _results(view, side, outcome, check=check)
            found[side] += results
            answered[check, side] = not reason
            reasons += [reason] if reason else []
        if said:
            heard = answered.get((check, Side.HEAD), answered.get((check, Side.BASE), False))
            runs.append(_run(check, said, reasons, heard=heard))
    base_known = all(answered.get((check, Side.BASE), True) for check in (OWN, PROJECT) if answered.get((check, Side.HEAD)))
    head_known = all(answered.get((check, Side.HEAD), True) for check in (OWN, PROJECT))
    sides = Sides(without_repeats(found[Side.BASE]), without_repeats(found[Side.HEAD]), base_known, head_known)
    return Heard(sides, runs=tuple(runs))


def _own(side: Side, sources: tuple[_Source, ...], options: CheckOptions) -> Job:
    words = (*_OWN_WORDS, "--select", ",".join(CODES), "--", ".")
    return Job(
        f"{OWN}:{side}",
        ("{ruff}", "check", *_OUTPUT, *words),
        options.seconds,
        executes=False,
        files=tuple((source.copy, source.data) for source in sources),
    )


def _project(side: Side, sources: tuple[_Source, ...], options: CheckOptions) -> Job:
    names = tuple(source.path for source in sources if not set(source.path) & set("\n\r"))
    return Job(
        f"{PROJECT}:{side}",
        ("{ruff}", "check", *_OUTPUT, "--force-exclude", "@{scratch}/names"),
        options.seconds,
        executes=True,
        tree=Side.BASE,
        files=(("names", "".join(f"./{name}\n" for name in names).encode("utf-8", "surrogateescape")),),
        overlay=tuple((source.path, source.data) for source in sources),
    )


def _sources(view: View, side: Side) -> tuple[_Source, ...]:
    """The Python files in scope, at one end. Copies have numbers for folders: a name of theirs cannot mean anything."""
    files = ((number, *_at(side, file, view.contents_of(file))) for number, file in enumerate(view.python()))
    return tuple(
        _Source(path, f"{number:05}/{_basename(path)}", data) for number, path, data in files if path and data is not None
    )


def _at(side: Side, file: FileChange, contents: Contents) -> tuple[str | None, bytes | None]:
    return (file.base_path, contents.base) if side is Side.BASE else (file.head_path, contents.head)


def _basename(path: str) -> str:
    """``__init__.py`` and stubs mean something to ruff; other names do not."""
    name = path.rsplit("/", 1)[-1]
    return name if name in ("__init__.py", "__init__.pyi") else f"module.{name.rsplit('.', 1)[-1]}"


def _results(view: View, side: Side, outcome: Outcome, *, check: str) -> tuple[list[Result], str]:
    """What one run said, or why it said nothing."""
    if outcome.ended is not Ended.EXITED:
        return [], outcome.reason
    if outcome.exit_code != 0:
        return [], f"ruff failed at {side}: {shown.sentence(outcome.stderr.decode('utf-8', 'replace'))}"
    try:
        remarks = ruff.read(outcome.stdout)
    except Unreadable as exc:
        return [], f"ruff's report of {side} cannot be read: {exc}"
    return list(_placed(_sources(view, side), remarks, check=check)), ""


def _placed(sources: tuple[_Source, ...], remarks: tuple[Remark, ...], *, check: str) -> Iterator[Result]:
    by_name = {(source.copy if check == OWN else source.path): source for source in sources}
    texts = {source.path: places.lines(source.data) for source in sources}
    unreadable: set[str] = set()
    for remark in remarks:
        source = _named(remark.path, by_name)
        rule = known(remark.rule)
        if source is None or _is_noise(remark, rule, source.path):
            continue
        if rule and rule.code == "invalid-syntax":
            if source.path in unreadable:
                continue
            unreadable.add(source.path)
        result = _result(remark, rule, source.path, anchor=places.line_at(texts[source.path], remark.line))
        yield replace(result, command=_command(result.rule or "", source.path, check=check))


def _named(filename: str, by_name: Mapping[str, _Source]) -> _Source | None:
    """ruff writes absolute names: the longest end that is a name of ours."""
    parts = filename.split("/")
    return next((source for start in range(len(parts)) if (source := by_name.get("/".join(parts[start:])))), None)


def _is_noise(remark: Remark, rule: Rule | None, path: str) -> bool:
    if rule and rule.code == "invalid-syntax":
        return remark.message.startswith(_DISTANT_PYTHON)
    return remark.rule in _SAID_ELSEWHERE or (remark.rule == "F401" and path.rsplit("/", 1)[-1].startswith("__init__."))


def _result(remark: Remark, rule: Rule | None, path: str, *, anchor: str) -> Result:
    message = shown.sentence(remark.message)
    rule = rule or Rule(
        *(remark.rule or "", Category.MAINTAINABILITY, Severity.LOW, Precision.LIKELY, "", "the project's linter runs"),
        "the project's own rules forbid it",
    )
    category, severity, precision = _in_its_place(rule, path)
    return Result(
        EvidenceKind.LINT,
        "ruff",
        rule.code,
        path,
        remark.line,
        rule.title or message,
        category,
        severity,
        precision,
        end_line=max(remark.end_line, remark.line),
        anchor=anchor,
        trigger=rule.trigger,
        consequence=rule.consequence,
        excerpt=f"{remark.rule or 'syntax'}: {message}",
        exit_code=1,
    )


def _command(code: str, path: str, *, check: str) -> tuple[str, ...]:
    """What a person would run to see the result. A syntax error needs no selection, and cannot be selected."""
    if check == PROJECT:
        return ("ruff", "check", "--", path)
    selection = ("--select", code) if code in CODES else ()
    return ("ruff", "check", *_OWN_WORDS, *selection, "--", path)


def _in_its_place(rule: Rule, path: str) -> tuple[Category, Severity, Precision]:
    """What a rule weighs in this file: test code takes liberties, and endangers nobody."""
    if not is_test_path(path):
        return rule.category, rule.severity, rule.precision
    if rule.category is Category.SECURITY:
        return rule.category, Severity.LOW, Precision.HEURISTIC
    category = Category.TESTS if rule.category is Category.CORRECTNESS else rule.category
    if rule.precision is Precision.CERTAIN:
        return category, rule.severity, rule.precision
    return category, min(rule.severity, Severity.LOW), Precision.HEURISTIC if rule.code in _USUAL_IN_TESTS else rule.precision


_USUAL_IN_TESTS = frozenset({"S113", "F811", "PLR0124", "B015", "B018", "B008", "B017", "F841"})


def _run(check: str, said: list[tuple[Side, Outcome]], reasons: list[str], *, heard: bool) -> CheckRun:
    """``heard``: it had a report of the head. A program that ends without one said nothing, whatever it ended with."""
    seconds = sum(outcome.seconds for _, outcome in said)
    return CheckRun(check, heard, reason="; ".join(dict.fromkeys(reasons)), seconds=seconds, cut_short=bool(reasons))
