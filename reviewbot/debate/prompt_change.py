"""The change as every seat reads it: code with line numbers, the repository's rules, what the checks said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reviewbot.debate.prompt_fence import cut, indented, one_line, screened
from reviewbot.domain.event import Told
from reviewbot.domain.evidence import CheckRun, Evidence, EvidenceKind, Ledger
from reviewbot.ports import Passage, Related, Removed, Rule

MOST_ITEMS = 60
"""Ledger items in one prompt. A first pass over more than these is a list to copy, not a change to read."""
MOST_EXCERPTS = 12
"""Of the worst items so many show what their tool printed: a change that breaks every test need not be told so line by line."""
MOST_EXCERPT_LINES, MOST_EXCERPT_LINE = 12, 200
MOST_FIELD = 600
MOST_RULE = 12_000
"""Characters of one file of rules: about two pages."""

MOST_TOLD = 8_000
"""Characters of what one source says. Whoever gathers it has capped it before."""

_NOTES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("python", (".py", ".pyi", ".pyx", ".ipynb")),
    ("go", (".go",)),
    ("rust", (".rs",)),
    ("typescript", (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte")),
    ("bash", (".sh", ".bash", ".zsh", ".ksh", ".bats")),
    ("sql", (".sql", ".psql", ".pgsql", ".ddl")),
)
"""Which note is read with which endings of file names."""
_MIGRATIONS = frozenset({"migrations", "migration", "alembic", "migrate"})
"""Folders whose programs change tables, whatever they are written in."""


def code(passages: Iterable[Passage]) -> str:
    """Passages with headings and numbered lines."""
    return "\n\n".join(f"{_heading(passage)}\n{_rows(passage)}" for passage in passages)


def related(items: Iterable[Related]) -> str:
    """Code that the change does not touch, each with what it has to do with the change."""
    return "\n\n".join(
        f"{_heading(item.passage)}: {one_line(item.relation)} of {one_line(item.symbol)}\n{_rows(item.passage)}" for item in items
    )


def rule(item: Rule) -> str:
    """One file of rules."""
    return f"From {one_line(item.source)}:\n{cut(screened(item.text.strip()), MOST_RULE)}"


def intent(title: str, focus: str) -> str:
    """What people said the change is about."""
    lines = [f"{name}: {cut(indented(text), MOST_FIELD)}" for name, text in (("title", title), ("focus", focus)) if text.strip()]
    return "\n".join(lines)


def background(items: Iterable[Told]) -> str:
    """What others said, each under its source. Their lines are indented: they cannot be taken for another source."""
    return "\n".join(f"{one_line(item.who)}:\n  {cut(indented(item.text), MOST_TOLD)}" for item in items)


def evidence(ledger: Ledger, paths: frozenset[str], most: int = MOST_ITEMS) -> str:
    """The checks' states and the new results that concern ``paths``, the worst ``most`` of them in the ledger's order.

    A test that broke concerns everyone: the fault is seldom where the test is.
    """
    here = [item for item in ledger.new() if _concerns(item, paths)]
    worst = sorted(here, key=lambda item: -item.result.severity)[:most]
    kept = {item.id: rank < MOST_EXCERPTS for rank, item in enumerate(worst)}
    lines = [_check(check) for check in sorted(ledger.checks, key=lambda check: check.name)]
    if ledger.tests.passed or ledger.tests.failed:
        lines.append(f"tests at head: {ledger.tests.passed} passed, {ledger.tests.failed} failed")
    lines += [_item(item, excerpt=kept[item.id]) for item in here if item.id in kept]
    if len(here) > len(worst):
        lines.append(f"{len(here) - len(worst)} more new results, none of them more severe, are not shown")
    return "\n".join(lines) or "no check was run"


def languages(paths: Iterable[str]) -> tuple[str, ...]:
    """Names of the notes for files with these paths, sorted."""
    lowered = [path.lower() for path in paths]
    found = {name for path in lowered if (name := _language(path))}
    return tuple(sorted(found | {"sql" for path in lowered if _MIGRATIONS & set(path.split("/")[:-1])}))


def _concerns(item: Evidence, paths: frozenset[str]) -> bool:
    return not item.result.path or item.result.path in paths or item.result.kind is EvidenceKind.TEST


def _language(path: str) -> str | None:
    folder, _, name = path.rpartition("/")
    if folder.endswith(".github/workflows") or name in ("action.yml", "action.yaml"):
        return "github_workflows"
    if name.startswith(("dockerfile", "containerfile")) or name.endswith((".dockerfile", ".containerfile")):
        return "dockerfile"
    return next((note for note, endings in _NOTES if name.endswith(endings)), None)


def _heading(passage: Passage) -> str:
    last = passage.start + len(passage.lines) - 1
    lines = f"lines {passage.start}-{last}" if len(passage.lines) > 1 else f"line {last}" if passage.lines else "nothing is left"
    return f"=== {one_line(passage.path)}, {lines}{f', in {one_line(passage.symbol)}' if passage.symbol else ''}"


def _rows(passage: Passage) -> str:
    """``number``, mark, ``|`` and the line's own text. Removed lines stand where they stood."""
    width = len(str(passage.start + len(passage.lines)))
    gone = _removed(passage)
    rows: list[str] = []
    for number, text in enumerate(passage.lines, passage.start):
        if number in gone:
            rows += gone[number]
        mark = "+" if number in passage.changed else " "
        rows.append(f"{number:>{width}}{mark}|{text}" if "\n" not in text else f"{number:>{width}}{mark}|{one_line(text)}")
    return "\n".join((*rows, *gone.get(passage.start + len(passage.lines), ())))


def _removed(passage: Passage) -> dict[int, list[str]]:
    """Rows of removed lines by the number that they stand before, brought into the passage's reach."""
    width = len(str(passage.start + len(passage.lines)))
    found: dict[int, list[str]] = {}
    for gone in passage.removed:
        place = min(max(gone.before, passage.start), passage.start + len(passage.lines))
        found.setdefault(place, []).append(_gone(gone, width))
    return found


def _gone(removed: Removed, width: int) -> str:
    text = removed.text if "\n" not in removed.text else one_line(removed.text)
    return f"{'':>{width}}-|{text}"


def _check(check: CheckRun) -> str:
    """Whether a check ran, and no seconds: they differ from run to run."""
    state = "ran and failed at head" if check.failed else "ran"
    if not check.ran:
        state = "did not run"
    if check.cut_short:
        state += ", cut short"
    return f"check {one_line(check.name)}: {state}{f' ({cut(one_line(check.reason), MOST_FIELD)})' if check.reason else ''}"


def _item(item: Evidence, *, excerpt: bool) -> str:
    result = item.result
    where = f"{one_line(result.path)}:{result.line}" if result.line else one_line(result.path)
    words = (result.kind.value, one_line(result.tool), one_line(result.rule or ""), where)
    what = f"{item.id}: {' '.join(word for word in words if word)} [{result.severity.label} {result.category.value}]"
    lines = [f"{what} {cut(indented(result.message), MOST_FIELD)}"]
    if item.suppressed:
        lines.append("  the project had silenced this rule on this line before the change")
    lines += [f"  {name}: {value}" for name, value in _details(item)]
    return "\n".join((*lines, *_excerpt(result.excerpt if excerpt else "")))


def _details(item: Evidence) -> Iterator[tuple[str, str]]:
    result = item.result
    for name, value in (("about", result.subject), ("trigger", result.trigger), ("consequence", result.consequence)):
        if value.strip():
            yield name, cut(indented(value), MOST_FIELD).replace("\n", "\n  ")


def _excerpt(text: str) -> list[str]:
    """The end of a tool's output, where a failure says what failed."""
    lines = screened(text.strip("\n")).split("\n") if text.strip() else []
    more = len(lines) - MOST_EXCERPT_LINES
    head = [f"  | … {more} lines left out"] if more > 0 else []
    return head + [f"  | {cut(line, MOST_EXCERPT_LINE)}" for line in lines[-MOST_EXCERPT_LINES:]]
