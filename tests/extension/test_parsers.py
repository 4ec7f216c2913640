"""Parsers of other packages: whatever they do with a report, the review goes on and says whose fault it was."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.adapters import parse_apart
from reviewbot.evidence.parsers.outside import RemarkParser, TrialParser
from reviewbot.evidence.parsers.remark import Grade, Remark, Unreadable
from reviewbot.evidence.parsers.trial import TestOutcome, Trial
from reviewbot.wiring import outside
from tests.extension.stock import lay

pytestmark = pytest.mark.matrix(parts=1)

REPORT = b'level=error file=a.py line=3 rule=H1 msg="it is \xc3\xa4, not a"\nfile=b.py msg=short\n'
HEAD = """\
import os, signal, sys, time
from reviewbot.evidence.parsers.outside import RemarkParser, TrialParser
from reviewbot.evidence.parsers.remark import Grade, Remark, Unreadable
from reviewbot.evidence.parsers.trial import TestOutcome, Trial
"""


@pytest.fixture
def parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], RemarkParser | TrialParser]:
    """The parser of a package with this body of ``read(data)``."""

    def made(body: str, kind: str = "RemarkParser") -> RemarkParser | TrialParser:
        source = f"{HEAD}def read(data):\n    {body}\nP = {kind}(read)\n"
        monkeypatch.delitem(sys.modules, "some_package", raising=False)
        monkeypatch.syspath_prepend(str(lay(tmp_path / "some", "some-package", source, {"parser": {"some": "P"}})))
        return outside.parser("some")

    return made


def test_a_report_is_read_as_by_one_of_ours(example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(example))
    found = outside.parser("logfmt")
    assert isinstance(found, RemarkParser)
    assert found.of == "reviewbot-example 1.0"
    assert found.read(REPORT) == (
        Remark("a.py", 3, "it is ä, not a", "H1", Grade.ERROR),
        Remark("b.py", 0, "short"),
    )
    assert found.read(b"") == ()
    with pytest.raises(
        Unreadable, match=r"^the parser 'logfmt' of reviewbot-example 1\.0: this is no logfmt with file and msg: no$"
    ):
        found.read(b"no")


def test_tests_are_read_too(parser: Callable[..., TrialParser]) -> None:
    found = parser("return [Trial('t::a', TestOutcome.FAILED, 'a.py', 2, 'no', 'no at all')]", "TrialParser")
    assert isinstance(found, TrialParser)
    assert found.read(b"x") == (Trial("t::a", TestOutcome.FAILED, "a.py", 2, "no", "no at all"),)


WRONG = {
    "raise KeyError('level')": "KeyError: 'level'",
    "raise Unreadable('cut off')": "cut off",
    "sys.exit(0)": "SystemExit: 0",
    "os._exit(0)": "what it made cannot be carried over",
    "os._exit(7)": "it ended with 7",
    "os.kill(os.getpid(), signal.SIGSEGV)": "it was ended by signal 11",
    "return read(data)": "RecursionError",
    "bytearray(4 * 1024**3); return ()": "MemoryError",
    "return None": "TypeError",
    "return ['a.py:3']": "it made str, which is no remark and no trial",
    "return [Remark]": "which is no remark",
    "return [Remark(b'a.py', 1, 'm')]": "not JSON serializable",
    "return [Remark('a.py', '1', 'm')]": "made something else than it says",
    "return [Remark('a.py', -1, 'm')]": "made something else than it says",
    "return [Remark('a.py', 1, 'm' * 20_000) for _ in range(1_000)]": f"it made is larger than {parse_apart.MOST_BYTES} bytes",
    "os.write(3, b'x' * 10**8); return ()": "it ended with 1 and made nothing",
    "return [Remark('a.py', 10**40, 'm')]": "cannot be carried over",
    "return [Remark('a.py', 1, 'm', grade=9)]": "made something else than it says",
    "return [Remark('a.py', 1, 'm', rule=1)]": "made something else than it says",
    "return [Remark('a\\ud800', 1, 'm')]": "cannot be carried over",
    "return [Trial('t', TestOutcome.PASSED)]": "made something else than it says",
}


@pytest.mark.parametrize("body", WRONG)
def test_whatever_it_does_the_report_is_unreadable_and_its_name_is_said(parser: Callable[..., RemarkParser], body: str) -> None:
    with pytest.raises(Unreadable) as caught:
        parser(body).read(REPORT)
    assert str(caught.value).startswith("the parser 'some' of some-package 1.0")
    assert WRONG[body] in str(caught.value)


def test_one_that_never_ends_is_ended(parser: Callable[..., RemarkParser], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parse_apart, "SECONDS", 0.5)
    with pytest.raises(Unreadable, match=r"it took longer than 0\.5 s"):
        parser("while True: time.sleep(60)").read(REPORT)


def test_it_has_no_environment_and_what_it_prints_is_dropped(
    parser: Callable[..., RemarkParser], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-tests")
    body = "print('{}'); return [Remark('a.py', 1, repr(sorted(set(os.environ) - {'LC_CTYPE'})) + os.getcwd())]"
    assert parser(body).read(REPORT)[0].message == "[]/"
    assert os.environ["ANTHROPIC_API_KEY"]


def test_what_a_program_prints_that_it_calls_is_dropped_too(parser: Callable[..., RemarkParser]) -> None:
    assert parser("os.system('echo hello'); os.write(1, b'x' * 10**8); return [Remark('a.py', 1, 'm')]").read(REPORT)


def test_what_it_leaves_running_keeps_nobody_waiting(
    parser: Callable[..., RemarkParser], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parse_apart, "SECONDS", 5.0)
    assert parser("os.system('sleep 10 &'); return [Remark('a.py', 1, 'm')]").read(REPORT)


def test_what_it_makes_is_bounded(parser: Callable[..., RemarkParser]) -> None:
    found = parser("return (Remark('a.py', n, 'm' * 30_000 if n == 1 else 'm') for n in range(10**9))").read(REPORT)
    assert len(found) == parse_apart.MOST_ITEMS
    assert len(found[1].message) == parse_apart.LONGEST


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(report=st.binary() | st.text(st.sampled_from('file=msg" \\\n3é')).map(str.encode))
def test_the_examples_parser_reads_anything_or_says_that_it_cannot(
    report: bytes, example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(example))
    from reviewbot_example.logfmt import read

    try:
        found = read(report)
    except Unreadable:
        return
    assert all(isinstance(one, Remark) for one in found)
