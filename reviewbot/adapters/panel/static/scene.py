"""Facts about the place of a claim, read off the code that was shown and off the ledger. Each fact cites what it rests on."""

from __future__ import annotations

import ast
import re
import sys
import textwrap
import unicodedata
from dataclasses import dataclass

from reviewbot.adapters.panel.static import usage
from reviewbot.domain.change import is_test_path
from reviewbot.domain.evidence import Evidence, EvidenceKind, EvidenceStatus, Ledger
from reviewbot.ports import Packet, Passage

_FUNCTION = re.compile(r"\s*(?:async\s+)?def\s")
_LOOP = re.compile(r"\s*(?:async\s+)?for\s")
_OF_REGIONS = (EvidenceKind.COVERAGE, EvidenceKind.COMPLEXITY)
"""Checks whose results are about many lines at once: they second nothing that is said of one of them."""
_CLOSING = (")", "]", "}")
_SUPPRESSION = re.compile(
    r"#\s*(noqa|nosec|type:\s*ignore|pragma:\s*no cover|pylint:\s*disable)|//\s*(eslint-disable|nolint)", re.I
)
_PLACEHOLDER = re.compile(r"example|dummy|placeholder|changeme|fake|xxxx|your[-_ ]", re.IGNORECASE)
_OUTSIDE_INPUT = re.compile(
    r"\binput\(|\brequest\b|\bsys\.argv\b|\bargv\b|\.(?:args|form|json|body|params|query)\b|\bos\.environ\b"
)


LONGEST_LINE = 2_000
"""Characters of a line that are searched."""
BESIDE = 20
"""Lines before and after a line in no function that count as its own."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One claim's surroundings."""

    packet: Packet
    passages: tuple[Passage, ...]
    ledger: Ledger

    @property
    def here(self) -> str:
        """The citation of the claim's own line."""
        return f"{self.packet.path}:{self.packet.line}"

    @property
    def items(self) -> tuple[Evidence, ...]:
        """The ledger items that the claim rests on."""
        return tuple(item for name in self.packet.evidence if (item := self.ledger.item(name)))

    @property
    def line(self) -> str:
        """The text of the claim's line as shown."""
        return next((text for passage in self.passages if (text := passage.text(self.packet.line)) is not None), "")

    @property
    def in_tests(self) -> bool:
        """The place is test code."""
        return is_test_path(self.packet.path)

    @property
    def suppressed_by_project(self) -> bool:
        """The project had silenced the rule here before the change."""
        return any(item.suppressed for item in self.items)

    @property
    def suppressed_by_author(self) -> bool:
        """The change itself silences the rule on this line: the author's opposition, nothing more."""
        return bool(_SUPPRESSION.search(self.line)) and not self.suppressed_by_project

    @property
    def is_placeholder(self) -> bool:
        """The line looks like an example and not like the real thing."""
        return bool(_PLACEHOLDER.search(self.line))

    def breaking_tests(self) -> tuple[str, ...]:
        """Ids of the tests that the change broke at this very place."""
        return tuple(
            item.id
            for item in self.ledger.new()
            if item.result.kind is EvidenceKind.TEST and item.result.path == self.packet.path and self._covers(item)
        )

    def corroboration(self) -> tuple[str, ...]:
        """Ids of new results of other checks on the same lines."""
        tools = {(item.result.tool, item.result.rule) for item in self.items}
        return tuple(
            item.id
            for item in self.ledger.new()
            if item.id not in self.packet.evidence
            and item.result.path == self.packet.path
            and self._covers(item)
            and item.result.kind not in _OF_REGIONS
            and (item.result.tool, item.result.rule) not in tools
        )

    def old_company(self) -> tuple[str, ...]:
        """Ids of results of the same rule that stood in this file before the change: the project lives with it."""
        rules = {item.result.rule for item in self.items if item.result.rule}
        return tuple(
            item.id
            for item in self.ledger.items
            if item.status is EvidenceStatus.EXISTING and item.result.path == self.packet.path and item.result.rule in rules
        )[:3]

    def executed(self) -> bool | None:
        """Tests executed the line; ``None`` where that was not measured."""
        if not self.ledger.tests.measured:
            return None
        return (self.packet.path, self.packet.line) in self.ledger.tests.executed

    def uncovered(self) -> tuple[str, ...]:
        """Ids of the results that say no test reaches this line."""
        return tuple(
            item.id
            for item in self.ledger.new()
            if item.result.kind is EvidenceKind.COVERAGE and item.result.path == self.packet.path and self._covers(item)
        )

    def outside_input(self) -> str | None:
        """The citation of the line where input from outside enters the claim's own function, ``None`` where none is seen."""
        for passage in self.passages:
            if passage.text(self.packet.line) is not None:
                for index in _own_function(passage, self.packet.line):
                    if _OUTSIDE_INPUT.search(passage.lines[index][:LONGEST_LINE]):
                        return f"{passage.path}:{passage.start + index}"
        return None

    def loop_over(self) -> tuple[str, str] | None:
        """The innermost loop around the line: ``bounded`` (over a literal or a constant range), ``parameter`` (over what the
        caller hands in) or ``unknown``, and the citation of its head. Python only; ``None`` where there is no loop to be seen."""
        for passage in self.passages:
            if passage.text(self.packet.line) is not None and (loop := _innermost_loop(passage, self.packet.line)):
                kind, line = loop
                return kind, f"{passage.path}:{line}"
        return None

    def default_use(self) -> tuple[bool, str] | None:
        """What becomes of the mutable default on the claim's line: whether its function changes it or lets it out, and the
        citation of that line (else of the head). Python only; ``None`` where there is no such default to be seen."""
        for passage in self.passages:
            if passage.text(self.packet.line) is None:
                continue
            tree, offset = _parsed(passage, self.packet.line + 1)
            function = tree.body[0] if tree and tree.body else None
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and (names := usage.mutable_defaults(function)):
                used = [line for name in names if (line := usage.changed_or_kept(function, name)) is not None]
                line = min(used, default=function.lineno) + offset
                return bool(used), f"{passage.path}:{line}"
        return None

    def writes_right_to_left(self) -> bool:
        """The line holds letters of a script that runs from right to left."""
        return any(unicodedata.bidirectional(character) in ("R", "AL") for character in self.line)

    def argument_is_constant(self) -> bool:
        """Every call on the line is given constants only: nothing from outside can reach it. Python only."""
        try:
            tree = ast.parse(self.line.strip())
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        return bool(calls) and all(isinstance(value, ast.Constant) for call in calls for value in call.args)

    def _covers(self, item: Evidence) -> bool:
        first, last = item.result.line, max(item.result.end_line, item.result.line)
        return first <= self.packet.line and self.packet.start_line <= last


def _innermost_loop(passage: Passage, line: int) -> tuple[str, int] | None:
    tree, offset = _parsed(passage, line)
    if tree is None:
        return None
    loops = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.For | ast.AsyncFor) and node.lineno + offset < line <= (node.end_lineno or node.lineno) + offset
    ]
    if not loops:
        return None
    loop = max(loops, key=lambda node: node.lineno)
    parameters = {argument.arg for node in ast.walk(tree) if isinstance(node, ast.arguments) for argument in _every(node)}
    return _extent(loop.iter, parameters), loop.lineno + offset


def _parsed(passage: Passage, line: int) -> tuple[ast.Module | None, int]:
    """The function (else the outermost loop) around ``line`` as far as it was shown, and what to add to its line numbers."""
    first = _head(passage, line, _FUNCTION)
    if first is None:
        first = _head(passage, line, _LOOP)
    if first is None:
        return None, 0
    block = passage.lines[first : _end_of_block(passage, first)]
    try:
        return ast.parse(textwrap.dedent("\n".join(block))), passage.start + first - 1
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None, 0


def _own_function(passage: Passage, line: int) -> range:
    """The indices of the function around ``line``; where none is seen, of the lines beside it."""
    first = _head(passage, line, _FUNCTION)
    if first is not None:
        return range(first, _end_of_block(passage, first))
    at = line - passage.start
    return range(max(at - BESIDE, 0), min(at + BESIDE + 1, len(passage.lines)))


def _end_of_block(passage: Passage, first: int) -> int:
    """The index behind the block that the line at ``first`` opens."""
    indent = _indent(passage.lines[first])
    for index, text in enumerate(passage.lines[first + 1 :], first + 1):
        if text.strip() and _indent(text) <= indent and not text.lstrip().startswith(_CLOSING):
            return index
    return len(passage.lines)


def _head(passage: Passage, line: int, opening: re.Pattern[str]) -> int | None:
    """The index of the outermost line that opens a block around ``line`` and matches."""
    found, indent = None, sys.maxsize
    for index in range(min(line - passage.start, len(passage.lines) - 1), -1, -1):
        text = passage.lines[index]
        if not text.strip() or text.lstrip().startswith(_CLOSING) or _indent(text) >= indent:
            continue
        indent = _indent(text)
        if index < line - passage.start and opening.match(text):
            found = index
            if opening is _FUNCTION:
                return found
    return found


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _every(arguments: ast.arguments) -> list[ast.arg]:
    extra = [argument for argument in (arguments.vararg, arguments.kwarg) if argument]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra]


def _extent(iterated: ast.expr, parameters: set[str]) -> str:
    if isinstance(iterated, ast.Tuple | ast.List | ast.Set | ast.Constant):
        return "bounded"
    if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name):
        values = [value for value in iterated.args if isinstance(value, ast.Constant)]
        if iterated.func.id == "range" and len(values) == len(iterated.args):
            return "bounded"
    names = {node.id for node in ast.walk(iterated) if isinstance(node, ast.Name)}
    return "parameter" if names & parameters else "unknown"
