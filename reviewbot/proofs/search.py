"""Search for arguments on which Python functions fail, or do something else than before."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from reviewbot.checks.check import probe
from reviewbot.checks.readers import json_of
from reviewbot.concurrency import run_all
from reviewbot.errors import install_hint
from reviewbot.sandbox.executor import Executor
from reviewbot.sandbox.job import Job

PROGRAM = "reviewbot_search.py"
EXAMPLES = 200
UNIMPORTABLE = ("ModuleNotFoundError", "ImportError", "SyntaxError")
MIN_RETURNS = 3  # calls that return something, so that a comparison says anything


class Call(Struct, frozen=True, array_like=True):
    """A call. `arguments` is a tuple as text, `value` what a test can compare with, or ""."""

    arguments: str
    outcome: str
    value: str


class Calls(Struct, frozen=True):
    """Calls of one function, and why there are no more."""

    calls: tuple[Call, ...] = ()
    problem: str = ""


class Comparison(Struct, frozen=True):
    """A function on two trees, with the shortest call that differs, or why none was compared."""

    function: str
    words: str
    count: int = 0
    before: Call | None = None
    problem: str = ""


async def compare_behaviour(
    functions: Sequence[str], before: str, after: str, executor: Executor, folder: str = ""
) -> tuple[Comparison, ...]:
    """Call functions, as `module:function`, on two trees; what varies by itself is not compared."""
    if not functions:
        return ()
    first = await _search(before, executor, folder, functions=functions)
    calls = {name: [c.arguments for c in found.calls] for name, found in first.items()}
    again, second = await run_all(
        *(_search(tree, executor, folder, calls=calls) for tree in (before, after))
    )
    compared, not_called = [], Calls(problem="it was not called")
    for name in functions:
        runs = [found.get(name, not_called) for found in (first, again, second)]
        triples = zip(*(run.calls for run in runs), strict=False)
        stable = [(old, new) for old, same, new in triples if old == same]
        # That a call returns now which did not is no harm, or a matter of how busy the machine is.
        stable = [pair for pair in stable if not pair[0].outcome.startswith("does not return")]
        different = [(old, new) for old, new in stable if old.outcome != new.outcome]
        returns = sum(old.outcome.startswith("returns") for old, _ in stable)
        few = "" if returns >= MIN_RETURNS else "no arguments were found that it takes"
        problem = next((run.problem for run in runs if run.problem), few)
        shown, count, call = name.replace(":", "."), len(stable), None
        words = f"{shown} does the same in {count} calls"
        if problem:
            words, count = f"{shown} was not compared: {problem}", 0
        elif different:
            old, new = min(different, key=lambda pair: (not pair[0].value, len(pair[0].arguments)))
            words = f"{shown}{old.arguments} {old.outcome} before, and {new.outcome} now"
            call = old
        compared.append(Comparison(name, words, count, call, problem))
    return tuple(compared)


async def test_of_behaviour(
    function: str, before: str, after: str, executor: Executor, folder: str
) -> tuple[str, str]:
    """A test that a function does what it did before, where it does not; else why there is none."""
    (found,) = await compare_behaviour([function], before, after, executor, folder)
    if found.before is None or not found.before.value:
        return "", found.words
    module, _, name = function.partition(":")
    call, value = f"{name}(*{found.before.arguments})", found.before.value
    body = f"assert {call} == {value}"
    if found.before.outcome.startswith("raises"):
        body = f"with pytest.raises({value}):\n        {call}"
    return (
        f"import pytest\n\nfrom {module} import {name}\n\n\n"
        f"def test_{name}_does_what_it_did():\n    {body}\n"
    ), found.words


async def test_of_contract(
    source: str, tree: str, executor: Executor, folder: str
) -> tuple[str, str]:
    """A contract with a test on which it fails; else why there is none."""
    found = await _search(tree, executor, folder, contract=source)
    for name, calls in found.items():
        for call in calls.calls:
            test = f"\n\n\ndef test_counterexample():\n    {name}(*{call.arguments})\n"
            return source.rstrip() + test, f"{name}{call.arguments} fails"
    problems = [calls.problem for calls in found.values() if calls.problem]
    return "", problems[0] if problems else f"no arguments were found in {EXAMPLES}"


async def _search(
    tree: str,
    executor: Executor,
    folder: str,
    *,
    functions: Sequence[str] = (),
    calls: Mapping[str, Sequence[str]] | None = None,
    contract: str = "",
) -> dict[str, Calls]:
    """What the program in the sandbox reports: by the first interpreter that can import it all."""
    wanted = {"functions": functions, "calls": calls or {}, "contract": contract}
    spec = msgspec.json.encode(wanted | {"examples": EXAMPLES}).decode()
    found: dict[str, Calls] = {}
    # Ours has CrossHair, the project's the versions of packages that it needs.
    for interpreter in ("{own_python}", "{python}"):
        job = Job(
            tree=tree,
            command=(interpreter, f"/reviewbot/{PROGRAM}"),
            executes=True,
            folder=folder,
            environment={"REVIEWBOT_PACKAGES": "{own_packages}"},
            tool_files=probe(PROGRAM) | {"search.json": spec},
            report="search.json",
            seconds=90,
        )
        try:
            again = json_of(await executor.execute(job), dict[str, Calls])
        except ValueError as error:
            again = {name: Calls(problem=str(error)) for name in (*functions, *(calls or {}))}
        found = again | {name: calls for name, calls in found.items() if calls.calls}
        if not any(calls.problem.startswith(UNIMPORTABLE) for calls in found.values()):
            break
    text = f"{install_hint('proofs')}, or hypothesis for the project, to search for arguments"
    missing = Calls(problem=text)
    return {n: missing if "module named 'hypothesis" in c.problem else c for n, c in found.items()}
