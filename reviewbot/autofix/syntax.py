"""Whether a file can be read by what reads such files. A patch must leave readable what was readable."""

from __future__ import annotations

import ast
import re
import tomllib
import warnings
from collections.abc import Callable, Iterator

import yaml

from reviewbot.autofix.content import Texts
from reviewbot.screen import strict_json, strict_xml

Parser = Callable[[str, bytes], int | None]
"""How many places of a file its grammar cannot read; ``None`` where no grammar is known for a file of this name."""

MOST_PYTHON, MOST_TOML, MOST_YAML = 1_000_000, 100_000, 200_000
"""Characters that are parsed: of YAML a second's work where libyaml is missing, of TOML because its keys cost their square."""
DEEPEST = 64
"""YAML in YAML. libyaml takes 50 s for 200,000 brackets, and is asked no further once there are so many open."""
_LONG_KEY = re.compile(r"""(?:(?:[\w-]{1,64}+|"[^"\n]{0,64}"|'[^'\n]{0,64}')[ \t]*+\.[ \t]*+){16}""")
"""``tomllib`` takes 20 s for one key of 30,000 parts."""
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_OPENING = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
_CLOSING = (yaml.MappingEndEvent, yaml.SequenceEndEvent)


def unknown(_path: str, _content: bytes) -> int | None:
    """The parser that knows no language."""
    return None


def python(text: str) -> ast.Module | None:
    """A Python file's syntax tree, ``None`` where it has none."""
    if len(text) > MOST_PYTHON:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def faults(texts: Texts, parser: Parser) -> Iterator[str]:
    """Why a file can be read less well than before."""
    reads = _READERS.get(texts.path.rpartition(".")[2].lower())
    if reads is not None:
        if not reads(texts.new) and (texts.old is None or reads(texts.old)):
            yield "its syntax is wrong" if texts.old is None else "its syntax is wrong, and was right before"
        return
    now = parser(texts.path, texts.new.encode("utf-8"))
    before = 0 if texts.old is None else parser(texts.path, texts.old.encode("utf-8"))
    if now is None and texts.old is not None and before is not None:
        yield "its syntax cannot be checked any more: it has become too large"
    elif now is not None and before is not None and now > before:
        yield f"its syntax is wrong in {now - before} places more than before"


def _is_python(text: str) -> bool:
    return python(text) is not None


def _is_json(text: str) -> bool:
    try:
        strict_json.loads(text)
    except strict_json.InvalidJson:
        return False
    return True


def _is_xml(text: str) -> bool:
    try:
        strict_xml.parse(text.encode("utf-8"))
    except strict_xml.InvalidXml:
        return False
    return True


def _is_toml(text: str) -> bool:
    if len(text) > MOST_TOML or _LONG_KEY.search(text):
        return False
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_yaml(text: str) -> bool:
    """Nothing is constructed, so no alias is followed; a key that is given twice is one of which a reader sees only the last."""
    if len(text) > MOST_YAML:
        return False
    try:
        return not any(_flaws(yaml.parse(text, Loader=_LOADER)))
    except (yaml.YAMLError, ValueError, RecursionError):
        return False


def _flaws(events: Iterator[yaml.Event]) -> Iterator[str]:
    """Keys that stand twice in one mapping, and depth. ``open_nodes`` are the keys so far of each mapping around, ``None`` for a
    list; ``expects_key``: whether the next node of each is a key."""
    open_nodes: list[set[str] | None] = []
    expects_key: list[bool] = []
    for event in events:
        if isinstance(event, _CLOSING):
            open_nodes.pop()
            expects_key.pop()
            continue
        is_key = bool(expects_key) and expects_key[-1]
        if isinstance(event, (yaml.ScalarEvent, yaml.AliasEvent, *_OPENING)) and open_nodes and open_nodes[-1] is not None:
            expects_key[-1] = not is_key
            if is_key and isinstance(event, yaml.ScalarEvent) and event.value != "<<":
                if event.value in open_nodes[-1]:
                    yield event.value
                open_nodes[-1].add(event.value)
        if isinstance(event, _OPENING):
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            if len(open_nodes) == DEEPEST:
                yield "nested too deeply"
            open_nodes.append(set() if is_mapping else None)
            expects_key.append(is_mapping)


_READERS: dict[str, Callable[[str], bool]] = {
    "py": _is_python,
    "pyi": _is_python,
    "json": _is_json,
    "ipynb": _is_json,
    "toml": _is_toml,
    "yml": _is_yaml,
    "yaml": _is_yaml,
    "xml": _is_xml,
}
