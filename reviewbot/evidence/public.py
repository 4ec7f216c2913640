"""Public names that a change takes away or alters so that callers break, compared from the text alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from reviewbot.domain.change import FileChange
from reviewbot.domain.evidence import API, Category, CheckRun, EvidenceKind, EvidenceStatus, Precision, Result, Severity, Side
from reviewbot.evidence import places, shown
from reviewbot.evidence.match import Heard, Mark
from reviewbot.evidence.parsers import api
from reviewbot.evidence.view import CheckOptions, View, is_library
from reviewbot.ports import Ended, Job, Outcome
from reviewbot.screen import strict_json

CHECK = API
MOST_FILES = 200
_WHAT = {
    "OBJECT_REMOVED": ("is gone", "somebody imports or calls it", "an ImportError or AttributeError is raised"),
    "OBJECT_CHANGED_KIND": ("is something else now", "somebody uses it as before", "callers fail"),
    "PARAMETER_REMOVED": ("lost a parameter", "somebody passes it", "a TypeError is raised"),
    "PARAMETER_ADDED_REQUIRED": ("demands a further argument", "somebody calls it as before", "a TypeError is raised"),
    "PARAMETER_CHANGED_REQUIRED": (
        "demands an argument that could be left out",
        "somebody leaves it out",
        "a TypeError is raised",
    ),
    "PARAMETER_CHANGED_KIND": ("takes a parameter in another way", "somebody passes it as before", "a TypeError is raised"),
    "PARAMETER_MOVED": ("takes its parameters in another order", "somebody passes them by position", "values are mixed up"),
    "CLASS_REMOVED_BASE": ("lost a base class", "somebody checks for it or uses what it gave", "callers fail"),
}


def jobs(view: View, options: CheckOptions) -> tuple[Job, ...]:
    """One job for all modules that exist at both ends, none where there is no such."""
    modules = list(_modules(view))
    if not modules:
        return ()
    stdin = json.dumps({"modules": modules[:MOST_FILES]}).encode("ascii")
    return (Job(CHECK, ("{own_python}", "-I", "{probes}/reviewbot_api.py"), options.seconds, executes=False, stdin=stdin),)


def hear(view: View, outcomes: Mapping[str, Outcome]) -> Heard:
    """The breakages. All of them are new: they are differences."""
    outcome = outcomes.get(CHECK)
    if outcome is None:
        return Heard()
    if outcome.ended is not Ended.EXITED or outcome.exit_code != 0:
        reason = outcome.reason or shown.sentence(outcome.stderr[-400:].decode("utf-8", "replace"))
        return Heard(runs=(CheckRun(CHECK, ran=False, reason=reason, seconds=outcome.seconds, cut_short=True),))
    try:
        breakages = api.read(outcome.stdout)
    except strict_json.InvalidJson as exc:
        reason = f"its report cannot be read: {exc}"
        return Heard(runs=(CheckRun(CHECK, ran=False, reason=reason, seconds=outcome.seconds, cut_short=True),))
    files = {file.path: file for file in view.files}
    known = (breakage for breakage in breakages if breakage.path in files and breakage.kind in _WHAT)
    marks = tuple(Mark(EvidenceStatus.NEW, Side.HEAD, _result(view, files[item.path], item)) for item in known)
    return Heard(marks=marks, runs=(CheckRun(CHECK, ran=True, seconds=outcome.seconds, failed=bool(marks)),))


def _modules(view: View) -> Iterator[dict[str, str]]:
    """Both texts of every module that other code may import. A leading underscore in a name means: nobody's business."""
    for file in view.python():
        contents = view.contents_of(file)
        name = file.path.rsplit(".", 1)[0].replace("/", ".").removesuffix(".__init__")
        private = any(part.startswith("_") for part in name.split(".")) or not is_library(file.path) or not name.isprintable()
        if private or contents.base is None or contents.head is None:
            continue
        try:
            yield {"path": file.path, "name": name, "old": contents.base.decode("utf-8"), "new": contents.head.decode("utf-8")}
        except UnicodeDecodeError:
            continue


def _result(view: View, file: FileChange, breakage: api.Breakage) -> Result:
    told, trigger, consequence = _WHAT[breakage.kind]
    line = breakage.new_line or places.head_line(file, breakage.old_line)
    texts = places.lines(view.contents_of(file).head)
    detail = breakage.explanation.partition(": ")[2]
    named = f" `{shown.sentence(detail, 60)}`" if breakage.kind.startswith("PARAMETER") and detail else ""
    return Result(
        EvidenceKind.API,
        "griffe",
        breakage.kind.lower().replace("_", "-"),
        file.path,
        min(line, max(len(texts), 1)),
        f"Public `{shown.sentence(breakage.name, 80)}` {told}{':' if named else ''}{named}",
        Category.CORRECTNESS,
        Severity.HIGH if breakage.exported else Severity.MEDIUM,
        Precision.LIKELY,
        end_line=min(line, max(len(texts), 1)),
        anchor=places.line_at(texts, line),
        trigger=f"{trigger} outside of this change",
        consequence=consequence,
        excerpt=shown.sentence(breakage.explanation, 400),
        command=("griffe", "check"),
        subject=breakage.name,
    )
