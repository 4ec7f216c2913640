"""What the checks look at, and how far they may go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType

from reviewbot.domain.change import ChangeSet, Contents, FileChange, FileKind, is_test_path
from reviewbot.domain.evidence import CheckRun
from reviewbot.evidence.parsers.outside import OutsideParser
from reviewbot.ports import Job

NO_CONTENTS = Contents(None, None)

SETTINGS = (
    *("pyproject.toml", "setup.cfg", "tox.ini", "requirements.txt", "package.json", "go.mod", "Cargo.toml", "Gemfile"),
    *("docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml"),
)
"""Files at the top of a project that say which tools and databases it uses."""


@dataclass(frozen=True, slots=True)
class View:
    """A change with everything that its checks may read.

    ``files`` are those in scope; ``contents`` maps their ``path`` to both sides' bytes. ``paths`` names every file of the
    head tree, empty where there is no repository. ``tests`` holds the Python test code of the head tree (``test_*.py``,
    ``*_test.py``) by path, for finding out which tests import what. ``settings`` are the base's files of ``SETTINGS``, and its
    migrations. ``sandbox`` is the level of the sandbox that will run the plan, ``sandbox_notes`` why it is that.
    """

    change: ChangeSet
    files: tuple[FileChange, ...]
    contents: Mapping[str, Contents] = field(default_factory=lambda: MappingProxyType({}))
    paths: tuple[str, ...] = ()
    tests: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))
    settings: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))
    sandbox: str = "none"
    sandbox_notes: tuple[str, ...] = ()

    @property
    def has_trees(self) -> bool:
        """Both ends can be exported, so that code of the project can run."""
        return self.change.revisions.base_tree is not None and self.change.revisions.head_tree is not None

    @property
    def is_audit(self) -> bool:
        """The whole tree is looked at for itself: no base to run anything at, and what is silenced was so by the project."""
        return self.change.revisions.is_audit

    @property
    def names(self) -> frozenset[str]:
        """Every file of either end: a configuration that the change takes away still says what the project uses."""
        return frozenset(self.paths) | {file.base_path for file in self.change.files if file.base_path}

    def contents_of(self, file: FileChange) -> Contents:
        """Both sides of a file, or neither."""
        return self.contents.get(file.path, NO_CONTENTS)

    def says(self, name: str, words: bytes) -> bool:
        """A settings file of the base holds these words."""
        return words in self.settings.get(name, b"")

    def python(self) -> tuple[FileChange, ...]:
        """The Python source files in scope."""
        return tuple(file for file in self.files if file.kind is FileKind.TEXT and file.path.endswith((".py", ".pyi")))


@dataclass(frozen=True, slots=True)
class Custom:
    """A check of the user's own: ``run`` is its argv, ``{files}`` in it stands for the changed files that ``files`` names.

    ``parser`` reads its report: standard output, or the file ``report`` of the scratch folder (``{scratch}`` in ``run``);
    ``pattern`` is the expression of the parser ``regex``; ``outside`` is the parser where another package adds it.
    """

    name: str
    run: tuple[str, ...]
    parser: str = "exit-code"
    pattern: str = ""
    report: str = ""
    files: tuple[str, ...] = ("*",)
    outside: OutsideParser | None = None


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A command that measures: ``parser`` reads what it prints, or the file ``report`` of the scratch folder.

    ``profile`` is a command that profiles the same work, and prints ``go tool pprof -top`` (``pprof``) or collapsed stacks, as
    py-spy's raw format (``stacks``), or writes them into the file ``profile_report``.
    """

    name: str
    run: tuple[str, ...]
    parser: str
    report: str = ""
    profile: tuple[str, ...] = ()
    profile_format: str = "stacks"
    profile_report: str = ""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """``execute`` false: nothing of the change runs. ``presets`` are names of the table of presets. ``seconds`` bounds each job.

    ``required`` names checks whose absence makes the review incomplete. ``max_items`` bounds what is kept of either
    existing or fixed results, ``max_tests`` how many test files are run. ``is_trial``: the change
    is a candidate, after which all that passed must pass, whatever it lacks. ``custom`` and ``benchmarks`` are the user's own.
    ``staged``: what is about to be committed is read by analysers and linters of our own alone, and no tree is needed.
    """

    execute: bool = True
    presets: tuple[str, ...] = ("ruff", "pytest")
    custom: tuple[Custom, ...] = ()
    benchmarks: tuple[Benchmark, ...] = ()
    seconds: float = 60.0
    required: tuple[str, ...] = ()
    max_items: int = 200
    max_tests: int = 60
    is_trial: bool = False
    staged: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """The jobs to run, and the checks that will not be run with the reason of each."""

    jobs: tuple[Job, ...] = ()
    skipped: tuple[CheckRun, ...] = ()
    notes: tuple[str, ...] = ()


def is_python_test(path: str) -> bool:
    """The file is one that pytest collects by its default names."""
    name = path.rsplit("/", 1)[-1]
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def is_library(path: str) -> bool:
    """The file is Python that others run: not a test, not the support of tests."""
    return path.endswith((".py", ".pyi")) and not is_test_path(path)


def is_inside(path: str) -> bool:
    """The path stays inside the tree, and out of git's own folder."""
    parts = path.split("/")
    return bool(path) and path.isprintable() and not {"", ".", "..", ".git"} & {part.lower() for part in parts}


def named(path: str, patterns: tuple[str, ...]) -> bool:
    """A path is meant by one of the patterns: by its last part where the pattern has no slash, else as a whole. ``*`` stands for
    anything, slashes too (``fnmatch``)."""
    last = path.rpartition("/")[2]
    return any(fnmatchcase(path if "/" in pattern else last, pattern) for pattern in patterns)
