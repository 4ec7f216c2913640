"""Build what a description asks for, in steps, each with a test that fails without it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from reviewbot.checks.languages.python import PYTHON
from reviewbot.context.brief import Brief
from reviewbot.context.passages import shown
from reviewbot.debate import prompts
from reviewbot.debate.panel import Panel
from reviewbot.errors import UsageError
from reviewbot.proofs.proof import Reproduction, run_reproduction
from reviewbot.tasks.bug import files_about, path_of_test
from reviewbot.tasks.cycle import MAX_FILE
from reviewbot.tasks.task import Attempt, Judgement, Step, Task
from reviewbot.tasks.trial import Trials
from reviewbot.text.files import classify

MAX_STEPS = 8
MAX_SPECIFICATION = 20_000  # characters
MAX_LISTED = 200  # files
MAX_NAME = 40  # characters of a test file's
ATTEMPTS = 2  # at a test


class Increment(Struct, frozen=True):
    """A step: what it adds, and what one can see or call that was not there before."""

    title: str
    behaviour: str


class Increments(Struct, frozen=True):
    increments: list[Increment]


class Acceptance(Struct, frozen=True):
    """A whole pytest file."""

    test: str


async def plan_increments(
    specification: str, trials: Trials, panel: Panel, brief: Brief
) -> list[Increment]:
    """The steps, which build on each other. Raises UsageError if there is no plan."""
    text = shown(specification[:MAX_SPECIFICATION])
    files = await _files(specification, trials)
    names = sorted(await trials.repository.list_files(trials.change.head_tree))[:MAX_LISTED]
    given = {"specification": text, "names": names, "files": files, "most": MAX_STEPS}
    prompt = prompts.render("increments", **given)
    answers = await panel.ask_for(panel.names[:1], "plan", prompt, brief, Increments)
    if not answers or not answers[0][1].increments:
        reason = panel.absences[-1].reason if panel.absences else "it has no steps"
        raise UsageError(f"there is no plan: {reason}", hint="say more exactly what is wanted")
    return answers[0][1].increments[:MAX_STEPS]


async def prepare_feature(
    specification: str,
    increments: Sequence[Increment],
    number: int,
    trials: Trials,
    panel: Panel,
    brief: Brief,
) -> Task:
    """The task of one step, counted from 1. Who writes its test does not write its code.

    Raises UsageError if there is no test that fails now.
    """
    increment, tester = increments[number - 1], panel.names[-1]
    tree = trials.change.head_tree
    files = await _files(f"{specification}\n{increment.behaviour}", trials)
    folder = await trials.folder_of([*files])
    given: dict[str, object] = {
        "specification": shown(specification[:MAX_SPECIFICATION]),
        "increment": increment,
        "others": [step.title for step in increments if step != increment],
    }
    name = "_".join(re.findall(r"[a-z0-9]+", increment.title.lower())) or "step"
    path = await path_of_test(name[:MAX_NAME].rstrip("_"), folder, trials)
    attempts: list[Attempt] = []
    for attempt in range(1, ATTEMPTS + 1):
        phase = f"accept_{number}_{attempt}"
        text = prompts.render("acceptance", files=files, attempts=attempts, **given)
        answers = await panel.ask_for([tester], phase, text, brief, Acceptance)
        test = answers[0][1].test if answers else ""
        if not test.strip():
            reason = panel.absences[-1].reason if not answers else "it wrote none"
            raise UsageError(f"{tester} gave no test for step {number}: {reason}")
        reproduction = Reproduction(language=PYTHON.name, source=test)
        run = await run_reproduction(reproduction, tree, PYTHON, trials.executor, folder)
        with_test = await trials.repository.make_tree(tree, {path: test.encode()})
        _, _, refusals = await trials.refusals(with_test)
        if run.outcome not in ("fails", "errors"):
            words = run.outcome.replace("_", " ")
            refusals.append(f"The test {words} without the step: {run.output}")
        if not refusals:
            break
        attempts.append(Attempt(test, tuple(refusals)))
    else:
        raise UsageError(f"step {number} has no test that can be used: {attempts[-1].reasons[0]}")

    async def judge(step: Step) -> Judgement:
        run = await run_reproduction(reproduction, step.after, PYTHON, trials.executor, folder)
        if run.outcome != "passes":
            return Judgement(unmet=(f"The test of the step {run.outcome}: {run.output}",))
        return Judgement(facts=(f"{path} fails without the step and passes with it.",))

    return Task(
        id=f"step_{number}",
        kind="feature",
        title=increment.title,
        paths=tuple(files),
        given={path: await trials.tidy(path, test.encode())},
        purpose=shown(increment.behaviour),
        details={**given, "test": test, "path": path},
        judge=judge,
    )


async def _files(text: str, trials: Trials) -> dict[str, str]:
    """What a text may be about, or else the first source files, as models see them."""
    tree = trials.change.head_tree
    paths = await files_about(text, tree, trials)
    if not paths:
        existing = sorted(await trials.repository.list_files(tree))
        paths = [path for path in existing if classify(path) == "source"][:3]
    contents = await trials.repository.read_files(tree, paths)
    return {path: shown(text) for path, text in contents.items() if len(text) <= MAX_FILE}
