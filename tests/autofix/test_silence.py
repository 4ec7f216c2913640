"""Marks that silence a tool, and syntax: what a patch may not bring, and what it may."""

from __future__ import annotations

import pytest

from reviewbot.autofix import suppression, syntax
from reviewbot.autofix.content import Texts

MARKS = (
    *(
        "x = 1  # noqa",
        "x = 1  #noqa:E501",
        "x = 1  # NOQA",
        "# ruff: noqa: F401",
        "# flake8: noqa",
        "x = 1  # type: ignore",
        "# type:ignore[x]",
    ),
    *(
        "x  # pyright: ignore",
        "# pyright: basic",
        "# mypy: ignore-errors",
        "# mypy: disable-error-code=x",
        "# pyre-ignore",
        "# ty: ignore",
    ),
    *(
        "# pylint: disable=x",
        "# nosec B101",
        "# nosemgrep",
        "# pragma: no cover",
        "# fmt: off",
        "# fmt: skip",
        "# isort: skip_file",
        "# skipcq",
    ),
    *("@no_type_check", "@typing.no_type_check"),
    *(
        "// eslint-disable-line",
        "/* eslint-disable */",
        "// @ts-ignore",
        "// @ts-expect-error x",
        "// @ts-nocheck",
        "// tslint:disable",
    ),
    *(
        "// biome-ignore lint: x",
        "/* istanbul ignore next */",
        "/* c8 ignore next */",
        "// prettier-ignore",
        "// $FlowFixMe",
        "/* stylelint-disable */",
    ),
    *(
        "x() //nolint",
        "//nolint:errcheck // fine",
        "//lint:ignore SA1000 x",
        "// #nosec G101",
        "int x; // NOLINT",
        "// NOLINTNEXTLINE(x)",
    ),
    *(
        "#[allow(dead_code)]",
        "#![allow(unused)]",
        "#[expect(clippy::all)]",
        "#[cfg_attr(test, allow(x))]",
        "#pragma GCC diagnostic ignored",
    ),
    *(
        '@SuppressWarnings("x")',
        '@Suppress("x")',
        "@file:Suppress(x)",
        "// NOSONAR",
        "// noinspection X",
        "// CHECKSTYLE:OFF",
        "// NOPMD",
    ),
    *("#pragma warning disable CS1", "[SuppressMessage(x)]", "// ReSharper disable All", "# rubocop:disable X", "# :nocov:"),
    *(
        "// phpcs:ignore",
        "// @phpstan-ignore-next-line",
        "/** @psalm-suppress X */",
        "# shellcheck disable=SC2086",
        "# hadolint ignore=DL1",
    ),
    *(
        "# yamllint disable-line",
        "# zizmor: ignore[x]",
        "-- noqa: L001",
        "# gitleaks:allow",
        "// codeql[x]",
        "// swiftlint:disable x",
    ),
    *("#checkov:skip=x", "# tfsec:ignore:x", "# detekt:disable", "// cspell:disable", "# reviewbot: ignore"),
)
PROSE = (
    *(
        "# type: str",
        "# The type is ignored here",
        "x = 'noqa'",
        "# ignore the first line",
        "// disable the button",
        "#include <a>",
    ),
    *(
        "allow(x)",
        "#[derive(Debug)]",
        "#[test]",
        "@Override",
        "suppress(x)",
        "// lint is fun",
        "skip = 1",
        "# no cover charge",
        "fmt.Println(x)",
    ),
    *("eslint is a tool", "// nothing", "# nose", "#pragma once", "# isort sorts", "expected = 1", "pragma: 1"),
)


@pytest.mark.parametrize("line", MARKS)
def test_a_mark_that_silences_a_tool_is_refused_where_it_is_new(line: str):
    assert list(suppression.faults(Texts("a", "one\ntwo\n", f"one\n{line}\ntwo\n")))
    assert list(suppression.faults(Texts("a", None, line)))
    assert not list(suppression.faults(Texts("a", f"one\n{line}\n", f"{line}\nmore\n"))), "it was there before"
    assert list(suppression.faults(Texts("a", f"{line}\n", f"{line}\nagain {line}\n"))), "and is there twice now"


@pytest.mark.parametrize("line", PROSE)
def test_words_that_are_no_such_mark_are_not(line: str):
    assert not list(suppression.faults(Texts("a", "one\n", f"one\n{line}\n")))


def test_in_prose_marks_are_talked_about_but_for_those_of_prose():
    assert not list(suppression.faults(Texts("a.md", "one\n", "one\nwith `# noqa` or `eslint-disable`\n")))
    for mark in (
        "<!-- markdownlint-disable MD013 -->",
        "<!-- vale off -->",
        "<!-- textlint-disable -->",
        "<!-- cspell:disable -->",
    ):
        assert list(suppression.faults(Texts("a.md", "one\n", f"one\n{mark}\n")))


def test_a_mark_may_stay_on_a_line_that_changes_and_not_grow():
    before = "a = f()  # noqa: S1\n"
    assert not list(suppression.faults(Texts("a", before, "a = g()  # noqa: S1\n")))
    assert list(suppression.faults(Texts("a", before, "a = f()  # noqa: S1, S2\n")))
    assert list(suppression.faults(Texts("a", before, "a = f()  # noqa\n")))
    assert not list(suppression.faults(Texts("a", before, "a = f()\n")))


# --- syntax ---------------------------------------------------------------------------------------------------------

GOOD = {
    "a.py": "x = 1\n",
    "a.pyi": "x: int\n",
    "a.json": '{"a": [1]}',
    "a.ipynb": "{}",
    "a.toml": "a.b = 1\n",
    "a.yaml": "a: &x 1\nb: *x\n---\nc: {d: 1, e: [1, {d: 2}]}\n? [k]\n: v\n",
    "a.yml": "- a: 1\n- a: 2\n",
    "a.xml": "<a><b/></a>",
}
BAD = {
    "a.py": "x = (\n",
    "a.pyi": "x: (\n",
    "a.json": '{"a": 1, "a": 2}',
    "a.ipynb": "{",
    "a.toml": "a = 1\na = 2\n",
    "a.yaml": "a: 1\na: 2\n",
    "a.yml": "a: [\n",
    "a.xml": "<a><b></a>",
}


@pytest.mark.parametrize("path", GOOD)
def test_what_could_be_read_must_stay_readable(path: str):
    def said(old: str | None, new: str) -> list[str]:
        return list(syntax.faults(Texts(path, old, new), syntax.unknown))

    assert said(GOOD[path], BAD[path])
    assert said(None, BAD[path])
    assert not said(GOOD[path], GOOD[path])
    assert not said(BAD[path], GOOD[path])
    assert not said(BAD[path], BAD[path] + " "), "it was no better before"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "(" * 100_000),
        ("a.py", "-" * 200_000 + "1"),
        ("a.py", "x = " + "a+" * 100_000 + "a\n"),
        ("a.py", "x = 1\0"),
        ("a.py", "x" * 1_000_001),
        ("a.json", "[" * 100_000),
        ("a.yaml", "[" * 150_000),
        ("a.yaml", "- " * 90_000),
        ("a.yaml", "a: 1\n" * 50_000),
        ("a.toml", "a." * 40_000 + "a = 1"),
        ("a.toml", "a = " + "[" * 40_000),
        ("a.xml", "<a>" * 40_000),
    ],
)
def test_a_text_that_is_made_to_be_costly_is_only_wrong(path: str, text: str):
    assert list(syntax.faults(Texts(path, GOOD[path], text), syntax.unknown))


def test_a_warning_of_the_parser_is_none_of_ours():
    assert syntax.python('x = "\\d" is 1\n') is not None
    assert syntax.python("\ufeffx = 1\n") is not None
