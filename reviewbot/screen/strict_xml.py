"""XML from untrusted text: bounded, without entities, without a reader that fetches or expands anything.

Refused: more than ``max_bytes``, a document type (only there can entities be declared that grow or point elsewhere), encodings
that expat does not know itself, and nesting, elements or attributes beyond the limits below. NUL and half surrogate pairs are no
XML at all, so texts can be stored. Comments and processing instructions are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

MAX_BYTES = 16_000_000
MAX_DEPTH = 64
MAX_ELEMENTS = 500_000
MAX_ATTRIBUTES = 64
"""Of one element."""
MAX_ATTRIBUTE_LENGTH = 1_000_000
"""Characters, of all attributes of one element together: names and values."""
_PORTION = 1_000_000
"""Bytes. expat reads its portion to the end after an error, and reads an unended token from its beginning at each portion."""
_ENCODINGS = frozenset({"utf-8", "utf-16", "us-ascii", "iso-8859-1"})
"""What expat reads itself; for others it would ask every codec of Python."""


class InvalidXml(ValueError):
    """The text is not XML that can be trusted to be small and to mean one thing."""


@dataclass(slots=True)
class _Gate:
    """Lets into the tree what is within the limits."""

    tree: TreeBuilder = field(default_factory=TreeBuilder)
    depth: int = 0
    elements: int = 0

    def declare(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in _ENCODINGS:
            raise InvalidXml("an encoding other than UTF-8, UTF-16 and Latin-1")

    def refuse(self, _name: str, _system: str | None, _public: str | None, _has_subset: int) -> None:
        """Entities are declared nowhere else."""
        raise InvalidXml("it has a document type")

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self.depth += 1
        self.elements += 1
        if self.depth > MAX_DEPTH:
            raise InvalidXml("nested too deeply")
        if self.elements > MAX_ELEMENTS:
            raise InvalidXml(f"more than {MAX_ELEMENTS} elements")
        if len(attributes) > MAX_ATTRIBUTES:
            raise InvalidXml(f"more than {MAX_ATTRIBUTES} attributes of one element")
        if sum(len(key) + len(value) for key, value in attributes.items()) > MAX_ATTRIBUTE_LENGTH:
            raise InvalidXml("the attributes of one element are too long")
        self.tree.start(name, dict(attributes))

    def end(self, name: str) -> None:
        self.depth -= 1
        self.tree.end(name)


def parse(data: bytes, *, max_bytes: int = MAX_BYTES) -> Element:
    """The root element of ``data``, with names as they are written: a prefix stays, a namespace is not looked up.

    Raises InvalidXml, and nothing else, with the reason in words.
    """
    if len(data) > max_bytes:
        raise InvalidXml(f"{len(data)} bytes are more than the {max_bytes} that are read")
    gate = _Gate()
    parser = _parser(gate)
    try:
        for start in range(0, len(data), _PORTION):
            parser.Parse(data[start : start + _PORTION], False)  # noqa: FBT003
        parser.Parse(b"", True)  # noqa: FBT003
    except expat.ExpatError as exc:
        raise InvalidXml(str(exc)) from exc
    return gate.tree.close()


def _parser(gate: _Gate) -> expat.XMLParserType:
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.XmlDeclHandler = gate.declare
    parser.StartDoctypeDeclHandler = gate.refuse
    parser.StartElementHandler = gate.start
    parser.EndElementHandler = gate.end
    parser.CharacterDataHandler = gate.tree.data
    return parser
