"""Follows the paths of one function, or of two side by side, with CrossHair's symbolic values, for another process.

One line of JSON on standard input: ``{"targets": [one or two], "parameters", "seconds", "paths"}``. Answers on the descriptor
that it is told: ``{"arguments": [text…]}`` for every input that seems to speak against the claim, then ``{"explored": paths,
"reached": those that say something, "exhausted", "cut"}`` or ``{"unable": reason}``. Nothing it says is a proof: a candidate has
to be called.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import sys
import time
import types
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from reviewbot_drafts import Draft, Drafts
from reviewbot_guess import by_keyword, passed
from reviewbot_targets import Loaded, Unloadable, load
from reviewbot_values import Drained, ascii_text, drained
from reviewbot_wall import Wall

SOLVER_EFFORT = "20000000"
"""Units of z3 for one question (its ``rlimit``): a second or so, but the same in every run."""
DULL_PATHS = 60
"""The search ends after so many paths that show no new code."""
MOST_CANDIDATES = 10
ROOM = 1536 * 1024 * 1024
Say = Callable[[dict[str, Any]], None]


def main(descriptor: int) -> None:
    os.environ["CROSSHAIR_SMT_RLIMIT"] = SOLVER_EFFORT
    with os.fdopen(descriptor, "w", encoding="utf-8") as answers:

        def say(told: dict[str, Any]) -> None:
            answers.write(json.dumps(told) + "\n")
            answers.flush()

        spec = json.loads(sys.stdin.readline())
        sys.path.append(sys.path.pop(0))  # this folder, after everything that the code under test may mean
        try:
            sides = [_Side(target) for target in spec["targets"]]
            say(_Search(spec, sides, say).run())
        except (ImportError, AttributeError, Unloadable) as exc:
            say({"unable": f"{type(exc).__name__}: {ascii_text(exc)}"})
        except BaseException as exc:
            say({"unable": ascii_text(type(exc).__name__)})


class _Side:
    """A target with the modules of its own tree, which are put in place around each call."""

    def __init__(self, target: dict[str, Any]) -> None:
        before, path = dict(sys.modules), list(sys.path)
        self.loaded: Loaded = load(target)
        self._tree = target["tree"]
        self._path = list(sys.path)
        self._modules = {name: module for name, module in sys.modules.items() if _is_below(module, self._tree)}
        for name in self._modules:
            if name not in before:
                del sys.modules[name]
        sys.path[:] = path

    @contextlib.contextmanager
    def in_place(self) -> Iterator[None]:
        path, before = list(sys.path), set(sys.modules)
        sys.modules.update(self._modules)
        sys.path[:] = self._path
        try:
            yield
        finally:
            imported = {name: sys.modules[name] for name in sys.modules.keys() - before - self._modules.keys()}
            self._modules |= {name: module for name, module in imported.items() if _is_below(module, self._tree)}
            for name in self._modules:
                sys.modules.pop(name, None)
            sys.path[:] = path


def _is_below(module: types.ModuleType, tree: str) -> bool:
    file = getattr(module, "__file__", None)
    if not isinstance(file, str):
        return any(str(place).startswith(os.path.realpath(tree)) for place in getattr(module, "__path__", ()))
    return file == "<specification>" or os.path.realpath(file).startswith(os.path.realpath(tree) + os.sep)


class _Search:
    def __init__(self, spec: dict[str, Any], sides: list[_Side], say: Say) -> None:
        import_module("crosshair.core_and_libs")
        self._core = import_module("crosshair.core")
        self._tracers = import_module("crosshair.tracers")
        self._alike = import_module("crosshair.behavior_compare").flexible_equal
        self._spec, self._sides, self._say = spec, sides, say
        self._state = import_module("crosshair.statespace")
        self._found = self._reached = 0
        self._partial = False
        self._seen: set[tuple[str, ...]] = set()
        self._wall = Wall()

    def run(self) -> dict[str, Any]:
        options = import_module("crosshair.options")
        tree = self._state.RootNode()
        seconds = float(self._spec["seconds"])
        settings = options.DEFAULT_OPTIONS.overlay(
            per_condition_timeout=seconds,
            per_path_timeout=max(seconds / 4, 2.0),
            max_iterations=int(self._spec["paths"]),
            max_uninteresting_iterations=DULL_PATHS,
        )
        _limit()
        sys.addaudithook(self._wall)
        began = time.process_time()
        ended = self._core.explore_loop(settings, tree, self._path)
        status = getattr(ended.top_analysis, "verification_status", None)
        exhausted = ended.exhausted and status is self._state.VerificationStatus.CONFIRMED and not self._found
        cut = time.process_time() - began > seconds
        counted = {"explored": ended.iterations, "reached": self._reached}
        return {**counted, "exhausted": bool(exhausted and not self._partial), "cut": cut}

    def _path(self, space: Any) -> Any:
        """One path through the function, or through both."""
        making = Drafts(self._core, space)
        drafts = [making.optional(parameter) for parameter in self._spec["parameters"]]
        self._partial = self._partial or making.partial
        against = False
        with self._core.ExceptionFilter() as outcome, self._tracers.ResumedTracing():
            against = self._speaks_against(drafts)
        if outcome.ignore:
            return self._core.PathOutcome(outcome.analysis)
        if outcome.user_exc:
            return self._core.PathOutcome(self._state.CallAnalysis(self._state.VerificationStatus.UNKNOWN))
        if against:
            self._tell(drafts, space)
        confirmed = self._state.CallAnalysis(self._state.VerificationStatus.CONFIRMED)
        return self._core.PathOutcome(confirmed, self._found >= MOST_CANDIDATES)

    def _tell(self, drafts: list[Draft | None], space: Any) -> None:
        """Let the solver choose values, and hand them over."""
        with self._tracers.ResumedTracing():
            space.detach_path()
        texts = [draft.text() if draft else "" for draft in drafts]
        arguments = passed(self._spec["parameters"], texts)
        if tuple(arguments) not in self._seen:
            self._seen.add(tuple(arguments))
            self._found += 1
            self._say({"arguments": arguments})

    def _speaks_against(self, drafts: list[Draft | None]) -> bool:
        """Whether the condition fails, or the two sides differ; under CrossHair's eyes."""
        ends = [self._ended(side, drafts) for side in self._sides]
        if len(ends) == 1:
            answer = ends[0][0]
            self._reached += not answer.get("skipped") and answer["holds"] is not None
            return answer.get("holds") is not True
        self._reached += 1
        (one, one_raised, one_left), (other, other_raised, other_left) = ends
        if one_raised != other_raised:
            return True
        return not (self._equal(one, other) and self._equal(one_left, other_left))

    def _ended(self, side: _Side, drafts: list[Draft | None]) -> tuple[Any, str, list[Any]]:
        """What a side returned, the exception's name, and what it left behind: its arguments and what it printed."""
        paper, returned = io.StringIO(), None
        with self._tracers.NoTracing():
            names, parameters = side.loaded.names, self._spec["parameters"]
            place = contextlib.ExitStack()
            place.enter_context(side.in_place())
            place.enter_context(contextlib.redirect_stdout(paper))
        try:
            given: list[tuple[Any, Any]] = []
            with self._core.ExceptionFilter() as making:
                given = [(parameter, draft.value(names)) for parameter, draft in zip(parameters, drafts, strict=True) if draft]
            if making.ignore or making.user_exc:  # there are no such objects
                raise import_module("crosshair.util").IgnoreAttempt
            words = {parameter["name"]: value for parameter, value in given if by_keyword(parameter)}
            free = [value for parameter, value in given if not by_keyword(parameter)]
            with self._core.ExceptionFilter() as outcome, self._wall:
                returned = drained(side.loaded.call(*free, **words))
        finally:
            with self._tracers.NoTracing():
                place.close()
        if outcome.ignore:
            raise import_module("crosshair.util").IgnoreAttempt
        raised = type(outcome.user_exc[0]).__qualname__ if outcome.user_exc else ""
        return returned, raised, [paper.getvalue(), *(value for _, value in given)]

    def _equal(self, one: Any, other: Any) -> bool:
        """Equal as far as can be told: objects of two trees by what they hold."""
        if type(one).__qualname__ != type(other).__qualname__:
            return False
        if isinstance(one, Drained) and isinstance(other, Drained):
            return self._equal([one.kind, one.raised, *one.items], [other.kind, other.raised, *other.items])
        if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
            if len(one) != len(other):
                return False
            return all(self._equal(here, there) for here, there in zip(one, other, strict=False))
        held, kept = getattr(one, "__dict__", None), getattr(other, "__dict__", None)
        if type(one) is not type(other) and isinstance(held, dict) and isinstance(kept, dict):
            return held.keys() == kept.keys() and all(self._equal(held[name], kept[name]) for name in held)
        return bool(self._alike(one, other))


def _limit() -> None:
    """As much memory as a symbolic search may take beyond what is loaded."""
    with contextlib.suppress(OSError, ValueError), open("/proc/self/statm", encoding="ascii") as file:
        taken = int(file.read().split()[0]) * resource.getpagesize() + ROOM
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        if soft == resource.RLIM_INFINITY or taken < soft:
            resource.setrlimit(resource.RLIMIT_AS, (taken, hard))


if __name__ == "__main__":
    main(int(sys.argv[1]))
