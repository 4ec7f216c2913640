"""Untrusted XML: a tree of elements, or the one named error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.screen import strict_xml
from reviewbot.screen.strict_xml import InvalidXml, parse

PIECES = st.sampled_from(
    [
        b"<a>",
        b"</a>",
        b"<a b='c'>",
        b"<x:a/>",
        b"<!DOCTYPE a>",
        b'<!DOCTYPE a [<!ENTITY e "e">]>',
        b"&e;",
        b"&lt;",
        b"&#55296;",
        b"<!-- c -->",
        b"<![CDATA[",
        b"]]>",
        b"<?xml version='1.0' encoding='utf8'?>",
        b"<?p?>",
        b"\xff\xfe",
        b"\xc3\xa9",
        b"\x00",
    ]
)


UNITS = st.lists(st.sampled_from([0x3C, 0x61, 0x3E, 0x2F, 0xD800, 0xDC00, 0xFFFE, 0xE9]) | st.integers(0, 0xFFFF), max_size=40)
WIDE = UNITS.map(lambda units: b"\xff\xfe<\0a\0>\0" + b"".join(unit.to_bytes(2, "little") for unit in units) + b"<\0/\0a\0>\0")


@given(st.binary(max_size=200) | st.lists(PIECES, max_size=12).map(b"".join) | WIDE)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        root = parse(data)
    except InvalidXml:
        return
    for element in root.iter():
        text = (element.text or "") + (element.tail or "")
        assert "\x00" not in text.encode().decode()


def test_a_document_is_a_tree_of_elements() -> None:
    root = parse(b"\xef\xbb\xbf<?xml version='1.0'?><a x='1'>hi &lt;&#65;<!-- c --><![CDATA[<!DOCTYPE b>]]><b/>end</a>")
    assert (root.tag, root.attrib, root.text) == ("a", {"x": "1"}, "hi <A<!DOCTYPE b>")
    assert [(child.tag, child.tail) for child in root] == [("b", "end")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_the_encodings_of_reports_are_read(encoding: str) -> None:
    text = f"<?xml version='1.0' encoding='{encoding.upper()}'?><a>é</a>"
    assert parse(text.encode(encoding)).text == "é"


def test_names_stay_as_they_are_written() -> None:
    root = parse(b"<testsuites xmlns='http://example.org' xmlns:n='http://example.org/n'><n:b n:c='1'/></testsuites>")
    assert (root.tag, root[0].tag, root[0].attrib) == ("testsuites", "n:b", {"n:c": "1"})


LAUGHS = b'<!ENTITY l0 "ha">' + b"".join(b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 12))


@pytest.mark.parametrize(
    "data",
    [
        b"<!DOCTYPE a><a/>",
        b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
        b'<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>',
        b"<!DOCTYPE a [" + LAUGHS + b"]><a>&l11;</a>",
        b"<!DOCTYPE a [<!ENTITY % p SYSTEM 'http://127.0.0.1/p'> %p;]><a/>",
    ],
    ids=["bare", "outside", "file", "laughs", "parameter"],
)
def test_a_document_type_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidXml, match="it has a document type"):
        parse(data)


@pytest.mark.parametrize("name", ["rot13", "zlib_codec", "idna", "windows-1252", "utf8", "no-such"])
def test_no_codec_is_asked_for_another_encoding(name: str) -> None:
    with pytest.raises(InvalidXml, match="an encoding other than"):
        parse(f"<?xml version='1.0' encoding='{name}'?><a/>".encode())


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no element found"),
        (b"<a>", "no element found"),
        (b"<a/><b/>", "junk after document element"),
        (b"<a>&e;</a>", "undefined entity"),
        (b"<a>\x00</a>", "not well-formed"),
        (b"<a>\xed\xa0\x80</a>", "not well-formed"),
        ("<a>\udc00</a>".encode("utf-16", "surrogatepass"), "not well-formed"),
        (b"<a b='1' b='2'/>", "duplicate attribute"),
    ],
)
def test_what_is_no_xml_is_one_error(data: bytes, reason: str) -> None:
    with pytest.raises(InvalidXml, match=reason):
        parse(data)


def test_a_document_larger_than_is_read_is_refused() -> None:
    assert parse(b"<aaa/>", max_bytes=6).tag == "aaa"
    with pytest.raises(InvalidXml, match="7 bytes are more than the 6"):
        parse(b"<aaaa/>", max_bytes=6)


def test_depth_has_a_limit() -> None:
    deep = strict_xml.MAX_DEPTH
    assert parse(b"<a>" * deep + b"</a>" * deep).tag == "a"
    with pytest.raises(InvalidXml, match="nested too deeply"):
        parse(b"<a>" * (deep + 1) + b"</a>" * (deep + 1))


def test_elements_have_a_limit() -> None:
    with pytest.raises(InvalidXml, match="elements"):
        parse(b"<a>" + b"<b/>" * strict_xml.MAX_ELEMENTS + b"</a>")


def test_attributes_have_a_limit_in_number_and_length() -> None:
    many = b" ".join(b"b%d=''" % number for number in range(strict_xml.MAX_ATTRIBUTES + 1))
    with pytest.raises(InvalidXml, match="attributes of one element"):
        parse(b"<a " + many + b"/>")
    with pytest.raises(InvalidXml, match="too long"):
        parse(b"<a b='" + b"x" * strict_xml.MAX_ATTRIBUTE_LENGTH + b"'/>")
