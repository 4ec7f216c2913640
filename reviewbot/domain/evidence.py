"""Evidence: what an executed check said, at which revision, and whether the change caused it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Severity(IntEnum):
    """How bad it is if true. Ordered, so that medians and floors are comparisons."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3
    CRITICAL = 4

    @property
    def label(self) -> str:
        """The word used in documents."""
        return self.name.lower()


class Category(StrEnum):
    """What kind of harm."""

    CORRECTNESS = "correctness"
    SECURITY = "security"
    PERFORMANCE = "performance"
    MAINTAINABILITY = "maintainability"
    TESTS = "tests"
    DOCUMENTATION = "documentation"


class EvidenceKind(StrEnum):
    """What sort of check spoke."""

    TEST = "test"
    LINT = "lint"
    COVERAGE = "coverage"
    API = "api"
    SECRET = "secret"
    UNICODE = "unicode"
    MARKER = "marker"
    COMPLEXITY = "complexity"
    PERFORMANCE = "performance"


class EvidenceStatus(StrEnum):
    """Whose it is: results of base and head are matched by content, not by line number."""

    NEW = "new"
    EXISTING = "existing"
    FIXED = "fixed"


class Side(StrEnum):
    """One end of a change."""

    BASE = "base"
    HEAD = "head"


class Precision(StrEnum):
    """How far a result of this rule can be believed without reading the code. Judgement per rule, not yet calibrated.

    ``certain``: the language's semantics make it a defect; ``likely``: nearly always one; ``heuristic``: a reason to look,
    to be argued.
    """

    CERTAIN = "certain"
    LIKELY = "likely"
    HEURISTIC = "heuristic"


@dataclass(frozen=True, slots=True)
class Result:
    """One thing that a check said at one revision, before base and head are compared.

    ``path`` is the name at that revision, ``line`` 1-based or 0 where the result concerns the whole file.
    ``anchor`` is the text of the line, which identifies the result when lines move.
    ``consequence`` says what happens to a user if the result is right, ``trigger`` what brings it about.
    """

    kind: EvidenceKind
    tool: str
    rule: str | None
    path: str
    line: int
    message: str
    category: Category
    severity: Severity
    precision: Precision
    end_line: int = 0
    anchor: str = ""
    trigger: str = ""
    consequence: str = ""
    excerpt: str = ""
    command: tuple[str, ...] = ()
    exit_code: int | None = None
    subject: str = ""
    """What the result is about where that is not a line: a test's id, a function's name."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """An immutable item of the ledger: a result with an id, the revision at which it was seen, and whose it is.

    ``suppressed`` says that the project had already silenced this rule on this line at base.
    """

    id: str
    status: EvidenceStatus
    revision: Side
    result: Result
    suppressed: bool = False

    @property
    def is_executed_proof(self) -> bool:
        """A test that the change broke: it failed at head and passed at base. One that never passed is heuristic."""
        broke = self.status is EvidenceStatus.NEW and self.result.kind is EvidenceKind.TEST
        return broke and self.result.precision is not Precision.HEURISTIC


ANALYSERS, API = "analysers", "api"
"""The names of the checks that only read the change: they always have something to read."""


NO_TESTS, NOTHING_FOR_IT, NOT_WANTED = "no test file was found", "nothing in the change is for it", "it was not wanted"
"""Why a check that is there has nothing to do."""


@dataclass(frozen=True, slots=True)
class CheckRun:
    """One check as it was run, or ``ran`` false with a ``reason``. ``required`` by configuration."""

    name: str
    ran: bool
    reason: str = ""
    seconds: float = 0.0
    required: bool = False
    failed: bool = False
    """It ran and said that something is wrong, at head."""
    cut_short: bool = False
    """It was begun and says less of the head than it should, whoever is to blame: nothing may be approved on its word."""

    @property
    def is_gap(self) -> bool:
        """It had something to do, and did not do it, or not to its end."""
        return self.cut_short or not (self.ran or self.reason in (NO_TESTS, NOTHING_FOR_IT, NOT_WANTED))


@dataclass(frozen=True, slots=True)
class TestRun:
    """Which of the changed lines (head numbering, ``(path, line)``) the tests executed, and whether all of them passed.

    ``measured`` is false where no coverage could be taken."""

    __test__ = False

    passed: int = 0
    failed: int = 0
    measured: bool = False
    executed: frozenset[tuple[str, int]] = frozenset()

    def __add__(self, other: TestRun) -> TestRun:
        """Both together: suites of several languages."""
        return TestRun(
            self.passed + other.passed,
            self.failed + other.failed,
            measured=self.measured or other.measured,
            executed=self.executed | other.executed,
        )

    @property
    def green(self) -> bool:
        """Tests ran and none failed."""
        return self.passed > 0 and self.failed == 0


@dataclass(frozen=True, slots=True)
class Ledger:
    """All evidence of a review in id order, with the checks that were run and the sandbox they ran in."""

    items: tuple[Evidence, ...] = ()
    checks: tuple[CheckRun, ...] = ()
    tests: TestRun = TestRun()
    sandbox: str = "none"
    notes: tuple[str, ...] = ()

    @property
    def executed(self) -> bool:
        """Linters or tests ran behind a wall, and nothing that was begun was cut short; reading alone is no execution."""
        tools = any(check.ran for check in self.checks if check.name not in (ANALYSERS, API))
        return tools and self.sandbox != "none" and not any(check.cut_short for check in self.checks)

    @property
    def turned_red(self) -> bool:
        """A test fails at head that did not fail at base, whatever is said of its cause."""
        return any(item.result.kind is EvidenceKind.TEST for item in self.new())

    def new(self) -> tuple[Evidence, ...]:
        """What the change brought."""
        return tuple(item for item in self.items if item.status is EvidenceStatus.NEW)

    def item(self, evidence_id: str) -> Evidence | None:
        """The item with this id."""
        return next((item for item in self.items if item.id == evidence_id), None)
