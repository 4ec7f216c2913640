"""Names that packages add: found where one is written, refused with the nearest where nobody adds it, and never looked for else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reviewbot.adapters import installed
from reviewbot.adapters.installed import Extension
from reviewbot.adapters.panel.vendors import known_vendor, open_provider
from reviewbot.adapters.tools import outside as outside_tool
from reviewbot.config import Source, load
from reviewbot.errors import ConfigError
from reviewbot.ports import Account
from reviewbot.wiring import diagnosis, outside
from tests.extension.conftest import Workplace, seated
from tests.extension.gateway import Gateway
from tests.extension.stock import lay

USE: dict[str, Callable[[str], object]] = {
    "provider": known_vendor,
    "tool": lambda name: outside_tool.offered(outside_tool.named(name), None),  # type: ignore[arg-type]
    "pattern": outside.pattern,
    "parser": outside.parser,
}
"""How each kind is taken by its name."""

NAMES = {"provider": "gateway", "tool": "owners", "pattern": "relay", "parser": "logfmt"}
NEAR = {"tool": "owner", "pattern": "relai", "parser": "logfmtt"}


@pytest.fixture
def seen(example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example, installed for this process."""
    monkeypatch.syspath_prepend(str(example))


@pytest.fixture
def laid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Lays a package down and has this process see it."""

    def lay_here(package: str, source: str, points: dict[str, dict[str, str]], version: str = "1.0") -> Path:
        monkeypatch.delitem(sys.modules, package.replace("-", "_"), raising=False)
        folder = lay(tmp_path / package, package, source, points, version)
        monkeypatch.syspath_prepend(str(folder))
        return folder

    return lay_here


def test_everything_that_is_added_is_listed_and_nothing_of_it_imported(laid: Callable[..., Path]) -> None:
    laid("loud-package", "raise SystemExit('imported')", {kind: {"loud": "X"} for kind in USE})
    found = [one for one in outside.extensions() if one.package == "loud-package"]
    assert [(one.kind, one.name, one.origin) for one in found] == [(kind, "loud", "loud-package 1.0") for kind in sorted(USE)]


@pytest.mark.parametrize("kind", NEAR)
def test_a_name_that_is_nearly_one_is_an_error_with_the_nearest(seen: None, kind: str) -> None:
    with pytest.raises(ConfigError) as caught:
        USE[kind](NEAR[kind])
    assert caught.value.message == f"there is no {kind} {NEAR[kind]!r}"
    assert caught.value.hint == f"did you mean {NAMES[kind]!r}?"


SAYS = {
    "it cannot be found": ("", "no_such_module_anywhere:X", "ModuleNotFoundError: No module named 'no_such_module_anywhere'"),
    "it lacks the name": ("Y = 1", "X", "AttributeError"),
    "it raises": ("raise RuntimeError('not on a Tuesday')", "X", "RuntimeError: not on a Tuesday"),
    "it ends the program": ("import sys; sys.exit(3)", "X", "SystemExit: 3"),
    "it is no Python": ("def (", "X", "SyntaxError"),
    "it tells a secret": (f"raise RuntimeError('AKIA{'Q5TZ7WXN3J2KDVB4'}')", "X", "«secret:aws-access-key»"),
    "it is something else": ("X = 1", "X", ""),
}


@pytest.mark.parametrize("how", SAYS)
@pytest.mark.parametrize("kind", USE)
def test_a_broken_package_is_one_error_that_names_it(laid: Callable[..., Path], kind: str, how: str) -> None:
    source, value, words = SAYS[how]
    laid("broken-package", source, {kind: {"bad": value}}, version="0.3")
    with pytest.raises(ConfigError) as caught:
        USE[kind]("bad")
    assert caught.value.message.startswith(f"the {kind} 'bad' of broken-package 0.3 ")
    assert words.lower() in str(caught.value).lower()
    assert "AKIA" not in str(caught.value)
    assert caught.value.hint == installed.UPDATE


@pytest.mark.parametrize("broken", ["entry_points.txt", "METADATA"])
def test_a_package_that_says_nothing_legible_of_itself_is_one_error(laid: Callable[..., Path], broken: str) -> None:
    folder = laid("odd-package", "X = 1", {"parser": {"odd": "X"}})
    (folder / "odd_package-1.0.dist-info" / broken).write_bytes(
        b"[console_scripts]\nnothing\n" if broken != "METADATA" else b"\xff"
    )
    for look in (outside.extensions, lambda: outside.parser("odd")):
        with pytest.raises(ConfigError, match="what an installed package says of itself cannot be read"):
            look()


def test_a_package_without_a_name_is_listed_by_its_module(laid: Callable[..., Path]) -> None:
    (laid("odd-package", "X = 1", {"parser": {"odd": "X"}}) / "odd_package-1.0.dist-info" / "METADATA").unlink()
    assert "odd_package:X" in [one.origin for one in outside.extensions()]


@pytest.mark.parametrize("kind", USE)
def test_a_name_that_two_packages_add_is_nobodys(laid: Callable[..., Path], kind: str) -> None:
    laid("first-package", "raise SystemExit", {kind: {"same": "X"}})
    laid("second-package", "raise SystemExit", {kind: {"same": "X"}}, version="2.1")
    with pytest.raises(ConfigError) as caught:
        USE[kind]("same")
    assert caught.value.message == f"the {kind} 'same' is added by first-package 1.0 and second-package 2.1"
    assert caught.value.hint == "remove all of these packages but one"


def test_doctor_warns_of_a_name_that_two_packages_add() -> None:
    both = [Extension("tool", "same", package, "1.0", "m:X") for package in ("first", "second")]
    *_, (_, state, text, step) = diagnosis._extensions(both)
    assert (state, text) == ("warn", "the tool same is added by first 1.0 and second 1.0")
    assert step == "remove all of them but one"


def test_names_of_reviewbots_own_cannot_be_taken(laid: Callable[..., Path]) -> None:
    laid(
        "greedy-package", "raise SystemExit", {"provider": {"openai": "X"}, "pattern": {"consult": "X"}, "tool": {"search": "X"}}
    )
    vendor = known_vendor("openai")
    assert vendor is not None
    assert vendor.outside is None
    assert outside.pattern("consult")[1] == ""
    with pytest.raises(ConfigError, match=r"tools\.extra names 'search', which is reviewbot's own"):
        outside_tool.named("search")


def test_what_is_printed_when_it_is_imported_goes_to_standard_error(
    laid: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    laid("chatty-package", "print('hello')\ndef talk(*_): yield", {"pattern": {"chatty": "talk"}})
    outside.pattern("chatty")
    assert capsys.readouterr() == ("", "hello\n")


def test_a_provider_that_cannot_be_made_says_whose_it_is(laid: Callable[..., Path]) -> None:
    source = (
        "from reviewbot.adapters.panel.vendors import Vendor\n"
        "class P:\n    vendor = Vendor('x', '', '')\n    def __init__(self, account): raise OSError('no socket')\n"
    )
    laid("broken-maker", source, {"provider": {"maker": "P"}})
    vendor = known_vendor("maker")
    assert vendor is not None
    with pytest.raises(ConfigError, match=r"the provider 'maker' of broken-maker 1\.0 cannot be used: OSError: no socket"):
        open_provider(vendor, Account("maker"))


def configured(parser: str) -> object:
    text = f"version: 1\nchecks:\n  - {{name: a, run: [a], parser: {parser}}}\n"
    return load(repository=(Source(".reviewbot.yml", text.encode()),)).records("checks")[0]["parser"]


def test_a_repository_may_name_a_parser_that_is_installed(seen: None) -> None:
    assert configured("logfmt") == "logfmt"


@pytest.mark.parametrize(("said", "meant"), [("sariff", "sarif"), ("logfm", "logfmt")])
def test_a_parser_that_nobody_adds_is_refused_at_its_place(seen: None, said: str, meant: str) -> None:
    with pytest.raises(ConfigError) as caught:
        configured(said)
    assert caught.value.message == f"checks[0].parser is {said!r} (.reviewbot.yml line 3)"
    assert caught.value.hint == f"did you mean {meant!r}?"


@pytest.mark.parametrize("said", ["'a b'", "[logfmt]", "1", "''", "''logfmt''"])
def test_what_is_no_name_is_refused(seen: None, said: str) -> None:
    with pytest.raises(ConfigError):
        configured(said)


def test_a_repository_may_not_choose_tools(seen: None) -> None:
    with pytest.raises(ConfigError, match=r"tools\.extra is an operator key"):
        load(repository=(Source(".reviewbot.yml", b"tools: {extra: [owners]}"),))


# From outside

USES = {
    "provider": ("review HEAD --model gateway:house-1", "names the provider 'gateway', which is not known"),
    "pattern": ("ask Why? HEAD --pattern consul", "there is no pattern 'consul'; did you mean 'consult'?"),
    "parser": ("review HEAD --panel static", "checks[0].parser is 'logfmt'"),
}


@pytest.mark.parametrize("kind", USES)
def test_what_is_not_installed_is_one_line(place: Workplace, kind: str) -> None:
    command, words = USES[kind]
    place.configure({"checks": [{"name": "a", "run": ["a"], "parser": "logfmt"}]} if kind == "parser" else {})
    ran = place.run(*command.split())
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert words in ran.err


def test_a_tool_that_is_not_installed_is_one_line(place: Workplace, example: Path, gateway: Gateway) -> None:
    place.packages = (example,)
    place.configure(seated(gateway, tools={"extra": ["owner"]}))
    ran = place.run("review", "HEAD", "--no-exec")
    assert (ran.code, ran.err) == (2, "reviewbot: error: there is no tool 'owner'; did you mean 'owners'?\n")
    assert gateway.bodies == []


def test_a_provider_that_raises_when_it_is_imported_is_one_line(place: Workplace, tmp_path: Path) -> None:
    place.packages = (lay(tmp_path / "bad", "bad-package", "raise KeyError('x')", {"provider": {"bad": "X"}}),)
    ran = place.run("review", "HEAD", "--model", "bad:m")
    said = (
        "reviewbot: error: the provider 'bad' of bad-package 1.0 cannot be loaded: KeyError: 'x'; update or remove that package\n"
    )
    assert (ran.code, ran.err) == (2, said)


def test_nobody_looks_for_packages_whose_names_nobody_wrote(place: Workplace, tmp_path: Path) -> None:
    """Who looks meets a file that cannot be read: that is an error of its own."""
    folder = lay(tmp_path / "trap", "trap-package", "raise SystemExit", {})
    points = folder / "trap_package-1.0.dist-info" / "entry_points.txt"
    points.unlink()
    points.symlink_to(points)
    place.packages = (folder,)
    place.configure({"providers": {"gpu": {"base_url": "http://127.0.0.1:1/v1"}}})
    assert place.run("--version").code == 0
    assert place.run("review", "HEAD", "--no-exec", "--panel", "static").code == 0
    ran = place.run("ask", "Why?", "HEAD", "--pattern", "relay")
    assert ran.code == 2
    assert "what an installed package says of itself cannot be read" in ran.err


def test_the_version_is_told_without_the_library_that_finds_packages() -> None:
    code = "import sys; from reviewbot.cli import main; main(['--version']); print('importlib.metadata' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path[:] = {sys.path!r}; {code}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.splitlines()[-1] == "False"
