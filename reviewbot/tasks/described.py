"""Fix or build what somebody describes: first a test that fails, then the code that passes it.

The test is written for a report or a step of a specification, or is one that fails in CI.
"""

import hashlib
import re
from bisect import bisect
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from posixpath import dirname, join
from statistics import mode
from textwrap import shorten

from msgspec import Struct

from reviewbot.checks.check import Check, is_below
from reviewbot.checks.evidence import FAILURES, Evidence, TestOutcome
from reviewbot.checks.languages.python import PYTHON
from reviewbot.checks.run import applies
from reviewbot.context.brief import names_of
from reviewbot.debate import prompts
from reviewbot.errors import ModelError, UsageError
from reviewbot.git.change import Change
from reviewbot.proofs.proof import Reproduction, Run, is_in_test, run_reproduction
from reviewbot.sandbox.job import last_line
from reviewbot.tasks.cycle import MAX_FILE
from reviewbot.tasks.goals import project_at, run_suite
from reviewbot.tasks.task import Attempt, Judgement, Task
from reviewbot.tasks.trial import Trials
from reviewbot.text.files import classify, language_of
from reviewbot.text.plain import first_line, unstyled
from reviewbot.text.secrets import redact, shown

MAX_REPORT, LEAD = 20_000, 2_000  # characters; of the beginning, and of what is before a failure
INSTEAD = "write a test that fails, then: reviewbot fix --goal repair"
PYTEST = re.compile(r"(^|/)test_[^/]*\.py$")
MAX_FILES, MAX_NAMES, MAX_NAME = 6, 200, 40  # the last: characters of a test file's
MAX_FAILURES, MAX_OUTPUT = 10, 3_000  # shown; characters of one
MAX_REPAIRED, MAX_CHANGED = 8, 3  # files that are shown, and how many of the last change
MAX_HYPOTHESES, MAX_STEPS, MAX_TESTS = 3, 8, 2  # of a report; of a plan; of a step
PATH = re.compile(r"(?<![\w./\\-])[\w./\\-]{1,300}\.[A-Za-z]{1,4}\b")
# Words that are more likely names than English.
NAME = re.compile(r"\b(?=\w*[A-Z_\d])\w{4,60}\b|\b[a-z]{4,60}(?=\(|\.\w)|(?<=[.`])[a-z]{4,60}\b")
WORD = re.compile(r"\b[A-Za-z_]\w{3,60}\b")
EXCEPTION = re.compile(r"\b[A-Z]\w*(?:Error|Exception|Warning)\b")
# What logs of GitHub Actions have before each line.
TIME = re.compile(r"(?m)^(?:[^\t\n]+\t){,2}\ufeff?\d{4}-\d\d-\d\dT[\d:.]+Z ")
# How tools, interpreters and compilers begin a line that says what failed.
FAILED = re.compile(
    r"(?m)^[ \t]*(?:E  |FAIL(?:ED)?\b|--- FAIL|not ok\b|[✖✗✕●] |Traceback \(|panic: |thread '.*pan"
    r"|(?:[^\s:]+:\d+(?::\d+)?: )?(?i:error)\b|(?:[\w.]+\.)?\w*(?:Error|Exception|Warning)\b)"
)
DEFINITION = r"^\s*(async def|def|class|func|fn|function)\s+({})\b"


class Hypothesis(Struct, frozen=True):
    """What causes it, and a test file that fails because of it; an empty one if there is none."""

    cause: str
    test: str


class Increment(Struct, frozen=True):
    """A step: what it adds, and what one can see or call that was not there before."""

    title: str
    behaviour: str


class Increments(Struct, frozen=True):
    increments: list[Increment]
    problem: str = "it is empty"  # why there can be none


class Acceptance(Struct, frozen=True):
    test: str  # a whole pytest file


async def prepare_bug(report: str, trials: Trials) -> Task:
    """Reproduce what a report says; each test that does makes a task, in place of the one before.

    Raises UsageError with the reasons if nobody can, and ModelError if nobody answers.
    """
    tree, existing = trials.change.head_tree, await trials.paths()
    if not any(path.endswith(".py") for path in existing):
        message = "a report is reproduced by a test in Python, and there is no Python here"
        raise UsageError(message, hint=INSTEAD)
    report = readable(report)
    paths, files = await _files(report, trials, otherwise=0)
    folder, text = await trials.folder_of(paths), shown(report)
    shows = {"names": [] if paths else names_of(existing), "paths": paths, "files": files}
    prompt = prompts.render("reproduce", report=text, **shows)
    names = trials.panel.names[:MAX_HYPOTHESES]
    answers = await trials.panel.ask_for(names, "reproduce", prompt, trials.brief, Hypothesis)
    reasons = [f"{absence.panelist}: {absence.reason}" for absence in trials.panel.absences]
    if not answers:
        raise ModelError(f"nobody answered ({'; '.join(reasons)})")
    said = [line.strip() for line in text.splitlines() if line.strip()] or ["a report"]
    title = next(filter(FAILED.match, reversed(said)), said[0])
    left, tried = iter(answers), {""}

    async def following(_: tuple[str, ...] = ()) -> Task | None:
        for author, hypothesis in left:
            try:
                return await task_of(hypothesis)
            except ValueError as error:
                reasons.append(f"{author}: {error}")
        return None

    async def task_of(hypothesis: Hypothesis) -> Task:
        """Raises ValueError with the reason if its test shows nothing, or no fix may bring it."""
        if (test := hypothesis.test).strip() in tried:
            raise ValueError(hypothesis.cause or "no test")
        tried.add(test.strip())
        reproduction = Reproduction(language=PYTHON.name, source=test)
        run = await run_reproduction(reproduction, tree, PYTHON, trials.executor, folder)
        if problem := why_no_reproduction(run, report):
            raise ValueError(problem)
        shows = {"report": text, "cause": hypothesis.cause, "output": shown(run.output)}
        digest = hashlib.sha256(test.encode()).hexdigest()[:8]
        path = await path_of_test(f"regression_{digest}", folder, trials)
        tidied, refusals, _ = await trials.tidy(path, test.encode())
        if refusals:
            raise ValueError(refusals[0])
        return Task(
            id=f"report_{len(tried) - 1}",
            kind="bug",
            title=f"Fix: {title[:200]}",
            paths=tuple(paths),
            given={path: tidied},
            details={**shows, "test": test, "path": path},
            purpose=f"{text}\n\nThe test of it, which is part of the change:\n{test}",
            judge=lambda step, _: _judge(reproduction, path, folder, trials, "fix", step.head_tree),
            instead=following,
        )

    if task := await following():
        return task
    hint = "add the command, the input and the whole traceback to the report"
    raise UsageError(f"nobody could reproduce it ({'; '.join(reasons)})", hint=hint)


async def _judge(
    reproduction: Reproduction, path: str, folder: str, trials: Trials, what: str, tree: str
) -> Judgement:
    """Whether the test that failed before passes."""
    run = await run_reproduction(reproduction, tree, PYTHON, trials.executor, folder)
    if run.outcome != "passes":
        words = f"The test {run.outcome.replace('_', ' ')}.\n{shown(run.output)}"
        return Judgement(unmet=(words.rstrip(),))
    return Judgement(facts=(f"{path} fails without the {what} and passes with it.",))


async def prepare_repair(log: str, last: Change, trials: Trials) -> Task:
    """All tests run first. If none fails, the log is taken for a bug report.

    The last change may have broken them: it is shown.

    Raises UsageError if there is nothing to repair.
    """
    tree, log = trials.change.head_tree, readable(log).strip()
    project = await project_at(tree, trials)
    red, suites, problems, earlier = list[TestOutcome](), list[Check](), list[str](), set[str]()
    for check in project.checks:
        if check.kind == "test" and applies(check, project.head_files, project):
            report = await run_suite(tree, check, trials)
            own = [test for test in report.tests if test.outcome in FAILURES]
            red += own
            suites += [check] if own or not report.problem else []
            problems += [f"{check.name}: {report.problem}"] if report.problem else []
            if own and not log:
                without = await run_suite(last.base_tree, check, trials)
                earlier |= {test.id for test in without.tests if test.outcome in FAILURES}
    if not red:
        reason = "; ".join(problems) or "no test fails here"
        advice = "make the tests run here first, see reviewbot doctor" if problems else None
        if not log:
            hint = advice or "give the log of the run that failed: --report FILE"
            raise UsageError(f"there is nothing to repair: {reason}", hint=hint)
        try:
            return await prepare_bug(log, trials)
        except UsageError as error:
            raise UsageError(f"{reason}; {error}", hint=advice or error.hint) from error
    before = {test.id for test in red}
    # What fails here and not there, or without the last change too, may be due to this machine.
    broken = (t for t in red if (t.id.rpartition("::")[2] in log if log else t.id not in earlier))
    red = [*broken] or red
    known = {test.id for test in red}
    alike: dict[tuple[str, str], list[TestOutcome]] = {}
    for test in red:
        alike.setdefault((test.message, test.output), []).append(test)
    first = [tests[0] for tests in alike.values()]
    framed = [frame.path for test in first for frame in test.frames[::-1]]
    framed += [test.file for test in first]
    said = [log, *(test.output[-MAX_OUTPUT:] for test in first[:MAX_FAILURES])]
    files = await trials.read(framed)  # they name what they test
    framed = [path for path in framed if path in files]  # others belong to an environment
    said += (text.decode("utf-8", "replace")[:MAX_REPORT] for text in files.values())
    named = await files_about("\n".join(said), trials)
    changed = [file.path for file in last.files if classify(file.path) == "source"][:MAX_CHANGED]

    async def judge(step: Change, _: Evidence) -> Judgement:
        after: list[TestOutcome] = []
        for suite in suites:
            report = await run_suite(step.head_tree, suite, trials)
            if report.problem:
                words = f"{suite.name} does not run to its end: {report.problem}."
                return Judgement(unmet=(words,))
            after += report.tests
        unmet = [
            f"{test.id} {'still fails' if test.id in known else 'fails now'}: {test.message[:200]}"
            for test in after
            if test.outcome in FAILURES and test.id not in before - known
        ]
        if not unmet:
            unmet = [f"{id} does not run any more." for id in sorted(known) if not _runs(id, after)]
        fact = f"Tests that failed and pass now: {len(known)}, such as {min(known)}."
        return Judgement(unmet=tuple(unmet[:MAX_FAILURES]), facts=() if unmet else (fact,))

    of = f" of {len(before)}" if known < before else ""
    count = "1 test that fails" if len(before) == 1 else f"{len(red)}{of} tests that fail"
    groups = [*alike.values()][:MAX_FAILURES]
    failures = [
        (test.id, test.message, len(others), shown(test.output[-MAX_OUTPUT:]))
        for test, *others in groups
    ]
    lines = [last.title]
    for file in last.files:
        lines.append(f"\n{file.path} ({file.status})")
        lines += (line.marker + line.text for hunk in file.hunks for line in hunk.lines)
    return Task(
        id="repair",
        kind="repair",
        title=f"Repair {count}: {min(known)}",
        paths=tuple(dict.fromkeys([*changed, *framed, *named]))[:MAX_REPAIRED],
        purpose="\n".join(f"{id}: {message}" for id, message, *_ in failures),
        details={
            "failures": failures,
            "more": len(red) - sum(map(len, groups)),
            "log": shown(log),
            "last": shown("\n".join(lines))[:MAX_REPORT],
        },
        judge=judge,
    )


async def plan_increments(specification: str, trials: Trials) -> list[Increment]:
    """The steps, which build on each other. Raises ReviewbotError if there is no plan."""
    existing = await trials.paths()
    languages = {language_of(path) for path in existing} & trials.languages.keys()
    if languages and PYTHON.name not in languages:
        raise UsageError("a step is built in Python, and there is no Python here", hint=INSTEAD)
    if len(specification) > MAX_REPORT:
        raise UsageError("the description is too long", hint=f"at most {MAX_REPORT:,} characters")
    paths, files = await _files(specification, trials)
    given = {"names": names_of(existing), "paths": paths, "files": files, "most": MAX_STEPS}
    prompt = prompts.render("increments", specification=shown(specification), **given)
    panel = trials.panel
    answers = await panel.ask_for(panel.names[:1], "plan", prompt, trials.brief, Increments)
    if not answers:
        raise ModelError(f"there is no plan: {panel.absences[-1].reason}")
    if not (plan := answers[0][1]).increments:
        raise UsageError(f"there is no plan: {plan.problem}", hint="clarify the description")
    return plan.increments


async def prepare_feature(
    wanted: str, increments: Sequence[Increment], number: int, trials: Trials, *earlier: Attempt
) -> Task | None:
    """The task of one step, counted from 1; None if those before it pass its tests.

    The last panelist writes the test, the first the code. `earlier` are tests that were not
    accepted, the last one because no code passed it. Raises UsageError if no test can be used.
    """
    increment, panel = increments[number - 1], trials.panel
    tree = trials.change.head_tree
    paths, files = await _files(f"{wanted}\n{increment.behaviour}", trials)
    folder = await trials.folder_of(paths)
    given = {"specification": shown(wanted), "steps": increments, "number": number}
    words = " ".join(re.findall(r"[a-z0-9]+", increment.title.lower()))
    name = shorten(words, MAX_NAME, placeholder="").replace(" ", "_") or "step"
    path = await path_of_test(name, folder, trials)
    attempts = [*earlier]
    for attempt in range(1, MAX_TESTS + 1):
        phase = f"accept_{number}_{len(attempts) + 1}"
        shows = {"paths": paths, "files": files, "attempts": attempts}
        text = prompts.render("acceptance", is_again=earlier and attempt == 1, **shows, **given)
        answers = await panel.ask_for(panel.names[-1:], phase, text, trials.brief, Acceptance)
        test = answers[0][1].test if answers else ""
        if not test.strip() or test in [each.diff for each in earlier]:
            reason = panel.absences[-1].reason if not answers else "it wrote none"
            raise UsageError(f"{panel.names[-1]} gave no test for step {number}: {reason}")
        reproduction = Reproduction(language=PYTHON.name, source=test)
        run = await run_reproduction(reproduction, tree, PYTHON, trials.executor, folder)
        tidied, refusals, complaints = await trials.tidy(path, test.encode())
        if run.outcome not in ("fails", "errors"):
            words = run.outcome.replace("_", " ")
            refusals.append(f"The test {words} without the step.\n{shown(run.output)}")
        refusals += complaints if attempt < MAX_TESTS else ()  # the last is taken as it is
        if not refusals:
            break
        attempts.append(Attempt(test, tuple(refusals)))
    else:
        if run.outcome == "passes" and number > 1 and not earlier:  # a step before did more
            return None
        reason = first_line(attempts[-1].reasons[0])
        raise UsageError(f"step {number} has no test that can be used: {reason}")

    async def again(reasons: tuple[str, ...]) -> Task | None:
        with suppress(UsageError):
            tried = *attempts, Attempt(test, reasons)
            return await prepare_feature(wanted, increments, number, trials, *tried)
        return None

    given |= {"test": test, "path": path}
    return Task(
        id=f"step_{number}_again" if earlier else f"step_{number}",
        kind="feature",
        title=increment.title,
        paths=tuple(paths),
        given={path: tidied},
        purpose=prompts.render("step", **given),
        details=given,
        judge=lambda step, _: _judge(reproduction, path, folder, trials, "step", step.head_tree),
        instead=None if earlier else again,
    )


async def path_of_test(name: str, folder: str, trials: Trials) -> str:
    """A new file where most tests of a project are, which hides none that is there."""
    existing = await trials.paths()
    tests = [path for path in existing if classify(path) == "test" and PYTEST.search(path)]
    tests = [path for path in tests if is_below(path, folder)]
    beside = mode(path.rpartition("/")[0] for path in tests) if tests else join(folder, "tests")
    names = (join(beside, f"test_{name}{more}.py") for more in ("", *range(2, 1000)))
    return next(path for path in names if path not in existing)


def why_no_reproduction(run: Run, report: str) -> str:
    """Why a test does not show what was reported; empty if it does. Pure.

    A test whose own code raises shows a defect of the test, unless the report names the exception.
    """
    if run.outcome not in ("fails", "errors"):
        why = last_line(run.output.encode("utf-8", "replace"))[:200]
        said = f": {why}" if run.outcome == "does_not_run" else ""
        return f"the test {run.outcome.replace('_', ' ')}{said}"
    failed = [test for test in run.tests if test.outcome in ("failed", "error")]
    named = set(EXCEPTION.findall(report))
    for test in failed:
        if named.intersection(EXCEPTION.findall(test.message.partition(":")[0])):
            return ""
        is_assertion = test.message.startswith(("assert", "AssertionError", "Failed"))
        is_of_code = run.outcome == "fails" and not is_in_test(test)
        if test.outcome == "failed" and (is_assertion or is_of_code):
            return ""
    return f"the test itself fails: {failed[0].message[:200]}" if failed else "no test fails"


def readable(report: str) -> str:
    """A report without colours, times and secrets; of a long one, its beginning and most failures.

    Secrets are removed first: a cut may leave a part of one that no pattern recognizes.
    """
    text, size = redact(TIME.sub("", unstyled(report)))[0], MAX_REPORT - LEAD - len("\n…\n")
    if len(text) <= MAX_REPORT:
        return text
    at = [found.start() for found in FAILED.finditer(text)] or [len(text)]
    most = max(range(len(at)), key=lambda n: bisect(at, at[n] + size - LEAD) - n)
    start = max(LEAD, min(at[most] - LEAD, len(text) - size))
    return f"{text[:LEAD]}\n…\n{text[start : start + size]}"


async def files_about(report: str, trials: Trials) -> list[str]:
    """Files that a report names: the innermost of a traceback first, modules, definitions."""
    existing = await trials.paths()
    names = [*dict.fromkeys(PATH.findall(report))][-MAX_NAMES:]
    found = [path for name in names for path in _ending(name, existing)][::-1]
    called = Counter(n for n in NAME.findall(report) if n.isidentifier() and n[:2] != "__")
    modules = ((at, at.removesuffix("/__init__.py").removesuffix(".py")) for at in existing)
    found += [at for at, name in modules if name != at and name.rpartition("/")[2] in called]
    for words in (called, Counter(WORD.findall(report))):
        if words and (words is called or not found):  # what may be English only if need be
            pattern = DEFINITION.format("|".join(name for name, _ in words.most_common(MAX_NAMES)))
            matches = await trials.repository.search(trials.change.head_tree, pattern, ())
            count = Counter(match.path for match in matches if classify(match.path) == "source")
            found += [path for path, _ in count.most_common(MAX_FILES)]
    return list(dict.fromkeys(found))[:MAX_FILES]


async def _files(text: str, trials: Trials, otherwise: int = 3) -> tuple[list[str], dict[str, str]]:
    """What a text may be about, or else the first source files; as models see them if not large."""
    paths = await files_about(text, trials)
    if not paths:
        sources = [path for path in await trials.paths() if classify(path) == "source"]
        paths = [path for path in sources if path.endswith(".py")][:otherwise]
    contents = await trials.read(paths)
    return paths, {path: shown(text) for path, text in contents.items() if len(text) <= MAX_FILE}


def _ending(name: str, existing: Collection[str]) -> list[str]:
    """The files that a name can mean: tracebacks have absolute paths of another machine."""
    parts = name.replace("\\", "/").lstrip("./").split("/")
    named = sorted(f"/{path}" for path in existing if path.endswith(parts[-1]))
    for start in range(len(parts)):
        if matches := [p[1:] for p in named if p.endswith("/".join(["", *parts[start:]]))]:
            return matches if len(matches) <= MAX_FILES else []
    return []


def _runs(id: str, tests: Collection[TestOutcome]) -> bool:
    """Whether what failed passes: a test, or a test of a file that could not be loaded.

    Of a file that has none, such as `conftest.py`, whether a test beside or below it passes.
    """
    passed = {test.id for test in tests if test.outcome == "passed"}
    files = {name.partition("::")[0] for name in passed}
    if "::" in id or any(test.file == id for test in tests):
        return id in passed | files
    return any(is_below(path, dirname(id)) for path in files)
