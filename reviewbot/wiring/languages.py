"""What a repository is written in, and the programs without which nobody looks at it: a table, and a look at the paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Language:
    """Files by how their paths end or begin, the programs that check them, each with what installs it (any one of them does), and
    what is not done without."""

    name: str
    ends: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()
    programs: tuple[tuple[str, str], ...] = ()
    loss: str = ""

    def holds(self, path: str) -> bool:
        """Is this one of its files? ``Dockerfile`` ends like itself."""
        return path.endswith(self.ends) and (not self.begins or path.startswith(self.begins))


LANGUAGES = (
    Language("Go", (".go",), (), (("go", "sudo apt-get install golang-go"),), "they are neither vetted nor tested"),
    Language(
        "JavaScript and TypeScript",
        (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"),
        (),
        (("node", "sudo apt-get install nodejs npm"),),
        "ESLint, tsc and the test script do not run",
    ),
    Language("shell", (".sh", ".bash"), (), (("shellcheck", "sudo apt-get install shellcheck"),), "only their syntax is checked"),
    Language(
        "SQL",
        (".sql",),
        (),
        (("sqlfluff", "pip install sqlfluff, and write a .sqlfluff: without one it does not run"),),
        "they are not linted",
    ),
    Language(
        "workflow",
        (".yml", ".yaml"),
        (".github/workflows/",),
        (("zizmor", "pip install zizmor"), ("actionlint", "go install github.com/rhysd/actionlint/cmd/actionlint@latest")),
        "they are not linted",
    ),
    Language(
        "container",
        ("Dockerfile", ".dockerfile", "Containerfile"),
        (),
        (("hadolint", "put it on PATH, from https://github.com/hadolint/hadolint/releases"),),
        "they are not linted",
    ),
)

#: Languages without a preset. Their linters are a line of configuration.
OTHERS = (
    Language("Rust", (".rs",)),
    Language("Java and Kotlin", (".java", ".kt", ".kts")),
    Language("C and C++", (".c", ".h", ".cc", ".cpp", ".cxx", ".hpp")),
    Language("C#", (".cs",)),
    Language("Ruby", (".rb",)),
    Language("PHP", (".php",)),
    Language("Swift", (".swift",)),
)

OWN_CHECK = "name your linter or tests under 'checks' in .reviewbot.yml: {name: x, run: [...], parser: sarif}"


def lines(paths: Iterable[str], is_found: Callable[[str], bool], *, has_own: bool) -> Iterator[tuple[str, str, str, str]]:
    """For each language that is here and that nobody checks: name, state, what is missing and why it matters, what mends that.
    ``has_own``: checks are configured, which may be those of a language without a preset."""
    listed = tuple(paths)
    for language in LANGUAGES:
        count = sum(map(language.holds, listed))
        if count and not any(is_found(program) for program, _ in language.programs):
            program, step = language.programs[0]
            text = f"{_files(count, language)}, and {program} is not found: {language.loss}"
            yield "languages", "warn", text, step
    for language in () if has_own else OTHERS:
        if count := sum(map(language.holds, listed)):
            yield "languages", "open", f"{_files(count, language)}: no preset runs a linter or tests of theirs", OWN_CHECK


def _files(count: int, language: Language) -> str:
    return f"{count:,} {language.name} file{'s' if count != 1 else ''}"
