"""Functions and classes of a file, told by its grammar (ast-grep). Import it only where ast-grep-py is installed."""

from __future__ import annotations

import re

from ast_grep_py import Rule, SgNode, SgRoot

from reviewbot.context.blocks import Block
from reviewbot.context.names import declared

LARGEST = 400_000
"""Bytes: parsing so much takes about 50 ms."""

MOST_NODES, DEEPEST = 2_000, 60
"""Functions in a file, and how deep they may lie in each other. A node finds its place and its parent by walking from the top:
15,000 functions in each other, 390 kB, took minutes."""

_SCRIPT = [
    "function_declaration",
    "generator_function_declaration",
    "class_declaration",
    "method_definition",
    "variable_declarator",
]
_TYPED = [*_SCRIPT, "abstract_class_declaration", "interface_declaration", "type_alias_declaration", "enum_declaration"]
_OF_CLASSES = ["method_declaration", "class_declaration", "interface_declaration"]
_KINDS = {
    "python": ["function_definition", "class_definition"],
    "javascript": _SCRIPT,
    "typescript": _TYPED,
    "tsx": _TYPED,
    "go": ["function_declaration", "method_declaration", "type_spec"],
    "rust": ["function_item", "struct_item", "enum_item", "trait_item", "type_item"],
    "java": [*_OF_CLASSES, "constructor_declaration", "enum_declaration", "record_declaration"],
    "c": ["function_definition", "struct_specifier", "enum_specifier"],
    "cpp": ["function_definition", "struct_specifier", "class_specifier", "enum_specifier"],
    "csharp": [*_OF_CLASSES, "constructor_declaration", "struct_declaration", "enum_declaration", "record_declaration"],
    "ruby": ["method", "singleton_method", "class", "module"],
    "php": [*_OF_CLASSES, "function_definition", "trait_declaration"],
    "bash": ["function_definition"],
    "kotlin": ["function_declaration", "class_declaration", "object_declaration"],
    "swift": ["function_declaration", "class_declaration", "protocol_declaration"],
    "scala": ["function_definition", "class_definition", "object_definition", "trait_definition"],
    "lua": ["function_declaration"],
}
"""Every kind was tried: an unknown one raises, an unknown language panics beyond what can be caught."""
_ENDINGS = {
    "py": "python", "pyi": "python", "js": "javascript", "mjs": "javascript", "cjs": "javascript", "jsx": "javascript",
    "ts": "typescript", "mts": "typescript", "cts": "typescript", "tsx": "tsx", "go": "go", "rs": "rust", "java": "java",
    "c": "c", "h": "cpp", "cc": "cpp", "cpp": "cpp", "cxx": "cpp", "hh": "cpp", "hpp": "cpp", "cs": "csharp", "rb": "ruby",
    "php": "php", "sh": "bash", "bash": "bash", "kt": "kotlin", "kts": "kotlin", "swift": "swift", "scala": "scala", "lua": "lua",
}  # fmt: skip
_STRICTER = frozenset({"bash", "c", "cpp"})
"""Grammars that know less than the language: ``$((10#$month))`` in Bash, macros of C."""
_BEFORE_PARENTHESIS = re.compile(r"([A-Za-z_~]\w{0,100})\s{0,4}\(")
_WRAPPERS = ("decorated_definition", "export_statement", "lexical_declaration", "type_declaration")
"""What begins where its function should: a decorator, ``export``, ``const``."""


def parsed(path: str, content: bytes) -> tuple[Block, ...] | None:
    """The Parser of ``blocks``: ``None`` for a language that is not in the table, and for what is too large or too deep."""
    language = _ENDINGS.get(path.rpartition(".")[2].lower())
    if language is None or len(content) > LARGEST:
        return None
    kinds = [Rule(kind=kind) for kind in _KINDS[language]]
    root = SgRoot(content.decode("utf-8", "replace"), language).root()
    try:
        nodes = root.find_all(any=kinds)
    except RuntimeError:  # another version, whose grammar has other kinds
        return None
    if len(nodes) > MOST_NODES or _depth(nodes) > DEEPEST:
        return None
    found = map(_block, nodes)
    return tuple(sorted((block for block in found if block), key=lambda block: (block.start, -block.end)))


def faults(path: str, content: bytes) -> int | None:
    """How many places of a file its grammar cannot read; ``None`` for a language that is not in the table, or whose grammar takes
    exception to what is right, and for what is too large."""
    language = _ENDINGS.get(path.rpartition(".")[2].lower())
    if language is None or language in _STRICTER or len(content) > LARGEST:
        return None
    return len(SgRoot(content.decode("utf-8", "replace"), language).root().find_all(kind="ERROR"))


def _depth(nodes: list[SgNode]) -> int:
    """How many of them lie in each other at most."""
    spans = sorted((whole.start.index, -whole.end.index) for whole in (node.range() for node in nodes))
    open_ends: list[int] = []
    deepest = 0
    for start, end in spans:
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        open_ends.append(-end)
        deepest = max(deepest, len(open_ends))
    return deepest


def _block(node: SgNode) -> Block | None:
    name = _name(node)
    if not name:
        return None
    whole = node.range()
    start = whole.start.line
    parent = node.parent()
    while parent is not None and parent.kind() in _WRAPPERS:
        start = parent.range().start.line
        parent = parent.parent()
    return Block(name, start + 1, whole.end.line + 1)


def _name(node: SgNode) -> str:
    """Its last part, where it has several; empty for a variable that is no function."""
    first = node.text()[:400]
    if node.kind() == "variable_declarator" and "=>" not in first and "function" not in first:
        return ""
    if field := node.field("name"):
        return re.split(r"[.:]+", field.text())[-1]
    if (declarator := node.field("declarator")) and (called := _BEFORE_PARENTHESIS.search(declarator.text()[:400])):
        return called[1]
    return next(iter(declared(first.split("\n", 1)[0])), "")
