"""Python's tests, read from the syntax tree: which there are, what each asserts, and what is said around them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from reviewbot.autofix.syntax import python

_BROAD = frozenset({"Exception", "BaseException", "AssertionError"})
_CASES = frozenset({"parametrize", "expand"})
_ASSERTING = frozenset({"raises", "warns", "deprecated_call", "fail", "expect"})
_OF_MOCKS = ("assert_called", "assert_any", "assert_has", "assert_not_called", "assert_awaited", "assert_not_awaited")
_LOOKING_UP = frozenset({"getattr", "setattr", "delattr", "__getattr__", "attrgetter", "methodcaller", "pop", "get"})
_LITERAL = (ast.List, ast.Tuple, ast.Set)
_ENDING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Suite:
    """What of a test file is compared: functions and classes by their qualified names, how many items the module's tables have,
    and every name that is spoken."""

    functions: dict[str, list[Function]]
    classes: dict[str, Family]
    tables: dict[str, int]
    spoken: Counter[str]
    rebound: Counter[str]

    @classmethod
    def empty(cls) -> Suite:
        """Of a file that is not there."""
        return cls({}, {}, {}, Counter(), Counter())

    @cached_property
    def tests(self) -> dict[str, Function]:
        """The tests that are collected: of several of one name only the last is."""
        return {name: found[-1] for name, found in self.functions.items() if found[-1].is_test}


@dataclass(frozen=True)
class Family:
    """A class: its bases as written, whether it is made with arguments, and its decorators."""

    bases: Counter[str]
    is_built: bool
    decorators: Counter[str]
    cases: int


@dataclass(frozen=True)
class Function:
    """A function of a test file. ``guards``: conditions and loops around its definition."""

    name: str
    node: _Function = field(repr=False)
    guards: int

    @property
    def is_test(self) -> bool:
        """pytest or unittest collects it, by its name and where it stands."""
        return self.name.rpartition(".")[2].startswith("test") and "<locals>" not in self.name

    @cached_property
    def decorators(self) -> Counter[str]:
        """The last names of its decorators."""
        return Counter(_last(one) for one in self.node.decorator_list)

    @cached_property
    def cases(self) -> int:
        """How many sets of arguments it is run with, as far as they are written out."""
        return sum(map(_cases, self.node.decorator_list))

    @cached_property
    def parts(self) -> tuple[ast.AST, ...]:
        """Every node that can be reached in its body, without those of functions inside."""
        return tuple(_reached(self.node.body))

    @cached_property
    def assertions(self) -> int:
        """How many places can make it fail on purpose."""
        return sum(map(_asserts, self.parts))

    @cached_property
    def calls(self) -> int:
        """How many calls it makes."""
        return sum(isinstance(part, ast.Call | ast.Assert) for part in self.parts)

    @cached_property
    def exits(self) -> int:
        """Places that end it early and well, or catch what would make it fail."""
        return sum(isinstance(part, ast.Return) or _is_broad(part) for part in self.parts)

    @cached_property
    def kind(self) -> tuple[bool, bool]:
        """Neither a coroutine nor a generator is run by a plain runner."""
        yields = any(isinstance(part, ast.Yield | ast.YieldFrom) for part in self.parts)
        return isinstance(self.node, ast.AsyncFunctionDef), yields


def read(text: str) -> Suite | None:
    """The tests of a file, ``None`` where it cannot be parsed."""
    tree = python(text)
    if tree is None:
        return None
    functions: dict[str, list[Function]] = {}
    classes: dict[str, Family] = {}
    try:
        for name, node, guards in _definitions(tree.body):
            if isinstance(node, ast.ClassDef):
                classes[name] = _family(node)
            else:
                functions.setdefault(name, []).append(Function(name, node, guards))
        for found in functions.values():
            found.sort(key=lambda function: function.node.lineno)
        return Suite(functions, classes, dict(_tables(tree.body)), Counter(_spoken(tree)), Counter(_rebound(tree)))
    except RecursionError:
        return None


def _definitions(top: list[ast.stmt]) -> Iterator[tuple[str, _Function | ast.ClassDef, int]]:
    """Every function and class with its qualified name, and how many statements it stands under that may not run it."""
    waiting: list[tuple[Sequence[ast.AST], str, int]] = [(top, "", 0)]
    while waiting:
        nodes, prefix, guards = waiting.pop()
        for node in nodes:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield prefix + node.name, node, guards
                inside = "." if isinstance(node, ast.ClassDef) else ".<locals>."
                waiting.append((node.body, f"{prefix}{node.name}{inside}", guards))
            elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
                waiting.append((tuple(ast.iter_child_nodes(node)), prefix, guards + isinstance(node, ast.stmt)))


def _tables(body: list[ast.stmt]) -> Iterator[tuple[str, int]]:
    """Lists and the like that a module writes out, by name: cases of tests often stand there."""
    for node in body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        size = len(value.elts) if isinstance(value, _LITERAL) else len(value.keys) if isinstance(value, ast.Dict) else -1
        yield from ((target.id, size) for target in targets if isinstance(target, ast.Name) and size >= 0)


def _family(node: ast.ClassDef) -> Family:
    built = any(isinstance(item, _FUNCTIONS) and item.name in ("__init__", "__new__") for item in node.body)
    bases = Counter(_written(base) for base in (*node.bases, *node.keywords))
    return Family(bases, built, Counter(map(_last, node.decorator_list)), sum(map(_cases, node.decorator_list)))


def _reached(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of statements up to the first that ends their block; nothing of a branch that is never taken."""
    for statement in body:
        if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
            continue
        yield statement
        blocks = {id(part) for block in _blocks(statement) for part in block}
        for child in ast.iter_child_nodes(statement):
            if id(child) not in blocks and not isinstance(child, ast.ExceptHandler | ast.match_case):
                yield from ast.walk(child)
        for block in _taken(statement):
            yield from _reached(block)
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.ExceptHandler | ast.match_case):
                yield child
                yield from _reached(child.body)
        if isinstance(statement, _ENDING):
            return


def _blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    return [block for name in ("body", "orelse", "finalbody") if isinstance(block := getattr(statement, name, None), list)]


def _taken(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks of a statement that are not plainly dead."""
    if isinstance(statement, ast.If | ast.While) and isinstance(statement.test, ast.Constant):
        yield statement.body if statement.test.value else statement.orelse
    elif (
        isinstance(statement, ast.For) and isinstance(statement.iter, ast.List | ast.Tuple | ast.Set) and not statement.iter.elts
    ):
        yield statement.orelse
    else:
        yield from _blocks(statement)


def _asserts(part: ast.AST) -> bool:
    """It can fail, whatever else holds."""
    if isinstance(part, ast.Assert):
        return not _is_vacuous(part.test)
    if not isinstance(part, ast.Call):
        return False
    name = _last(part)
    if not name.lower().startswith("assert"):
        return name in _ASSERTING
    told = [*part.args, *(keyword.value for keyword in part.keywords)]
    if not told or name.startswith(_OF_MOCKS):
        return True
    same = len(told) > 1 and "not" not in name.lower() and _written(told[0]) == _written(told[1])
    return not same and not all(isinstance(one, ast.Constant) for one in told)


def _is_vacuous(test: ast.expr) -> bool:
    """It holds whatever the code under test does."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return any(map(_is_vacuous, test.values))
    if isinstance(test, ast.BoolOp):
        return all(map(_is_vacuous, test.values))
    if isinstance(test, ast.Tuple):
        return bool(test.elts)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        same = isinstance(test.ops[0], ast.Eq | ast.Is | ast.LtE | ast.GtE)
        if same and _written(test.left) == _written(test.comparators[0]):
            return True
    return not any(isinstance(part, ast.Name | ast.Call | ast.Attribute) for part in ast.walk(test))


def _is_broad(part: ast.AST) -> bool:
    if not isinstance(part, ast.ExceptHandler):
        return False
    return part.type is None or any(_last(one) in _BROAD for one in ast.walk(part.type) if isinstance(one, ast.expr))


def _cases(decorator: ast.expr) -> int:
    """Sets of arguments that a decorator writes out."""
    if not isinstance(decorator, ast.Call) or _last(decorator) not in _CASES:
        return 0
    named = [keyword.value for keyword in decorator.keywords if keyword.arg == "argvalues"]
    values = [*decorator.args[_last(decorator) == "parametrize" :][:1], *named]
    return sum(len(one.elts) for one in values if isinstance(one, _LITERAL))


def _written(node: ast.AST) -> str:
    """An expression without its place; one that is too deep to be compared is equal to no other."""
    try:
        return ast.dump(node)
    except RecursionError:
        return f"{id(node)}"


def _last(node: ast.expr) -> str:
    """The last name of what is called or named."""
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else "an expression"


def _spoken(tree: ast.Module) -> Iterator[str]:
    """Every name that is used, also as a word by which something is looked up."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.alias(name=name):
                yield name.rpartition(".")[2]
        yield from _looked_up(node)


def _rebound(tree: ast.Module) -> Iterator[str]:
    """Names that are assigned, deleted or imported, or looked up to be so."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.alias(name=name, asname=other):
                yield other or name
        yield from _looked_up(node)


def _looked_up(node: ast.AST) -> Iterator[str]:
    """``getattr(pytest, "skip")`` and ``globals()["test_x"]`` name what they mean in a string."""
    words: list[ast.expr] = []
    if isinstance(node, ast.Call) and _last(node) in _LOOKING_UP:
        words = node.args
    elif isinstance(node, ast.Subscript):
        words = [node.slice]
    for word in words:
        if isinstance(word, ast.Constant) and isinstance(word.value, str):
            yield word.value
