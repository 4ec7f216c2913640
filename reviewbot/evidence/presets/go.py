"""Go: ``go vet``, ``go test`` and golangci-lint, for a module or a workspace at the top of the tree."""

from __future__ import annotations

from reviewbot.evidence.parsers import gnu, go_test, sarif
from reviewbot.evidence.parsers.remark import Grade
from reviewbot.evidence.parsers.trial import Trial
from reviewbot.evidence.suites import Suite
from reviewbot.evidence.tools import BREAKS, DANGER, DEFECT, SMELL, STYLE, Tool
from reviewbot.evidence.view import View
from reviewbot.ports import Outcome

_SOURCES = ("*.go",)
_MODULES = ("go.mod", "go.sum", "go.work")


def _is_module(view: View) -> bool:
    return "go.mod" in view.paths or "go.work" in view.paths


def _uses_golangci(view: View) -> bool:
    return _is_module(view) and any(f".golangci.{end}" in view.names for end in ("yml", "yaml", "toml", "json"))


def read_tests(outcome: Outcome, _: str) -> tuple[Trial, ...]:
    """The tests. Before Go 1.24 what the compiler says is on standard error alone, and belongs to the packages that follow."""
    return go_test.read(outcome.stderr + outcome.stdout)


def _again(trial: Trial) -> tuple[str, ...]:
    package, _, test = trial.id.partition(".Test")
    if not test or trial.is_group:
        return ("go", "test", trial.id)
    pattern = "/".join(f"^{part}$" for part in f"Test{test}".split("/"))
    return ("go", "test", "-count=1", "-run", pattern, package)


VET = Tool(
    "go-vet",
    ("{tool:go}", "vet", "./..."),
    gnu.read,
    _SOURCES,
    wanted=_is_module,
    codes=(0, 1, 2),
    on_stderr=True,
    grades={Grade.NOTE: DEFECT, Grade.WARNING: DEFECT, Grade.ERROR: BREAKS},
)
TEST = Suite(
    "go-test",
    ("{tool:go}", "test", "-json", "-vet=off", "./..."),
    read_tests,
    (*_SOURCES, *_MODULES),
    wanted=_is_module,
    again=_again,
)
GOLANGCI = Tool(
    "golangci-lint",
    ("{tool:golangci-lint}", "run", "--output.sarif.path=stdout", "--show-stats=false", "./..."),
    sarif.read,
    _SOURCES,
    configuration=(".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"),
    wanted=_uses_golangci,
    beliefs={
        "errcheck": DEFECT,
        "govet": DEFECT,
        "staticcheck": DEFECT,
        "typecheck": BREAKS,
        "gosec": DANGER,
        "bodyclose": DEFECT,
    },
    grades={Grade.NOTE: STYLE, Grade.WARNING: SMELL, Grade.ERROR: SMELL},
)
