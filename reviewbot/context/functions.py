"""Functions, classes and imports of a file, by its grammar."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from reviewbot.text.files import language_of

if TYPE_CHECKING:
    from ast_grep_py import Rule, SgNode

MAX_LENGTH = 400_000
# ast-grep finds the place of a node from the top: 15,000 functions inside each other take 3 s.
MAX_NODES = 5_000
MAX_HEAD = 5
# By language, kinds of nodes: functions; classes and what holds methods like one; imports. An
# unknown kind is an error, and so is an unknown language.
KINDS = """
python: function_definition | class_definition | import_statement import_from_statement
javascript: SCRIPT | class_declaration | import_statement lexical_declaration
typescript: SCRIPT | class_declaration abstract_class_declaration interface_declaration | \
    import_statement
tsx: SCRIPT | class_declaration abstract_class_declaration interface_declaration | import_statement
go: function_declaration method_declaration | | import_declaration
rust: function_item | impl_item trait_item | use_declaration
java: method_declaration constructor_declaration | class_declaration interface_declaration \
    enum_declaration record_declaration | import_declaration
c: function_definition | | preproc_include
cpp: function_definition | class_specifier struct_specifier | preproc_include using_declaration
ruby: method singleton_method do_block | class module | call
php: function_definition method_declaration | class_declaration interface_declaration \
    trait_declaration | namespace_use_declaration
csharp: method_declaration constructor_declaration | class_declaration struct_declaration \
    interface_declaration record_declaration | using_directive
kotlin: function_declaration secondary_constructor | class_declaration object_declaration | \
    import_header
""".replace(
    "SCRIPT",
    "function_declaration generator_function_declaration method_definition arrow_function"
    " function_expression",
)
KINDS_OF = {
    language: [kinds.split() for kinds in row.split("|")]
    for language, _, row in (line.partition(":") for line in KINDS.strip().split("\n"))
}
# Patterns of imports, for the kinds that much else is as well.
IMPORT = {"call": "^require", "lexical_declaration": r"^[^\n]*\brequire\("}
CONSTRUCTORS = frozenset({"__init__", "constructor", "initialize", "__construct", "init", "new"})
# What begins where its function should: a decorator, `export`, `const`, a test with its name.
WRAPPERS = frozenset(
    {
        *("decorated_definition", "export_statement", "lexical_declaration", "pair"),
        *("variable_declaration", "variable_declarator", "assignment_expression"),
        *("expression_statement", "field_definition", "public_field_definition"),
        *("arguments", "call_expression", "call", "template_declaration"),
    }
)
BEFORE_PARENTHESIS = re.compile(r"([\w~]+)\s*\(")
# Lines above a function that are about it: comments, and attributes of Rust and C#.
ABOVE = re.compile(r"\s*(?:#[\s\[]|//|/\*|\*|\[\w)")


class Block(Struct, frozen=True):
    """A function or class.

    Attributes:
        name: empty for a closure.
        start: the first of the comments, attributes and decorators above it.
        head_end: the line of its name.
    """

    name: str
    start: int
    head_end: int
    end: int

    @property
    def lines(self) -> range:
        return range(self.start, self.end + 1)

    @property
    def head(self) -> range:
        """The lines up to the name, at most MAX_HEAD."""
        return range(max(self.start, self.head_end - MAX_HEAD + 1), self.head_end + 1)

    def contains(self, place: float) -> bool:
        return self.start <= place <= self.end


class Outline(Struct, frozen=True):
    """The blocks of a file, outer ones first, and the first and last line of each import."""

    functions: tuple[Block, ...] = ()
    classes: tuple[Block, ...] = ()
    imports: tuple[tuple[int, int], ...] = ()

    def constructor_of(self, class_: Block) -> Block | None:
        own = (
            function
            for function in self.functions
            if class_.contains(function.start)
            if innermost(self.classes, function.start) == class_
            if function.name in CONSTRUCTORS or function.name == class_.name
        )
        return next(own, None)


def innermost(blocks: Sequence[Block], place: float) -> Block | None:
    """The last of the blocks that contain a place: they are in order, outer ones first."""
    return next((block for block in reversed(blocks) if block.contains(place)), None)


def parse(path: str, text: str) -> Outline:
    """The outline of a file; empty for other languages and what is too large.

    Blocks with errors are left out: where they end is not certain.
    """
    # A header may be of C++, whose grammar reads C as well.
    special = {".tsx": "tsx", ".h": "cpp"}
    language = special.get(path[path.rfind(".") :], language_of(path) or "")
    if language not in KINDS_OF or len(text) > MAX_LENGTH:
        return Outline()
    from ast_grep_py import SgRoot

    functions, classes, imports = KINDS_OF[language]
    rules: list[Rule] = [{"kind": kind} for kind in (*functions, *classes)]
    rules += [{"kind": kind, "regex": IMPORT.get(kind, "")} for kind in imports]
    root = SgRoot(text, language).root()
    nodes, broken = root.find_all(any=rules), root.find_all(kind="ERROR")
    if len(nodes) + len(broken) > MAX_NODES:
        return Outline()
    errors = [_span(node) for node in broken]
    lines = text.split("\n")
    blocks, imported = [], []
    for node in nodes:
        start, end = _span(node)
        if node.kind() in imports:
            imported.append((start, end))
        elif not any(first <= end and start <= last for first, last in errors):
            blocks.append((_block(node, lines), node.kind() in classes))
    blocks.sort(key=lambda pair: (pair[0].start, -pair[0].end))
    found = tuple(block for block, is_class in blocks if not is_class)
    return Outline(
        found,
        tuple(block for block, is_class in blocks if is_class),
        tuple(span for span in sorted(imported) if not any(f.contains(span[0]) for f in found)),
    )


def _span(node: SgNode) -> tuple[int, int]:
    """The first and last line. A node that ends with a line feed ends on the line before."""
    span = node.range()
    end = span.end.line + (1 if span.end.column or span.end.line == span.start.line else 0)
    return span.start.line + 1, end


def _block(node: SgNode, lines: Sequence[str]) -> Block:
    (start, end), name = _span(node), _name_of(node)
    parent = node.parent()
    while parent is not None and parent.kind() in WRAPPERS:
        start, end = _span(parent)[0], max(end, _span(parent)[1])
        name, parent = name or _name_of(parent), parent.parent()
    head_end = name.range().start.line + 1 if name else start
    while start > 1 and ABOVE.match(lines[start - 2]):
        start -= 1
    # Of `int Shop::total(int x)`, `total`.
    text = name.text()[:200] if name else ""
    called = BEFORE_PARENTHESIS.search(text)
    words = re.findall(r"\w+[?!]?", called[1] if called else text.partition("<")[0])
    return Block(words[-1] if words else "", start, max(start, head_end), end)


def _name_of(node: SgNode) -> SgNode | None:
    fields = ("name", "declarator", "left", "key", "property")
    for field in ("type",) if node.kind() == "impl_item" else fields:
        if found := node.field(field):
            return found
    kinds = ("simple_identifier", "type_identifier")  # of Kotlin and Swift, without a field
    return next((child for child in node.children() if child.kind() in kinds), None)
