"""Go: a module in which everything happens, tested once, and what a comparison makes of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest
from conftest import Project
from each import each
from test_compare import NOTHING_KNOWN, change_of, changed

from reviewbot.checks.check import probe
from reviewbot.checks.compare import compare
from reviewbot.checks.evidence import FAILURES, CheckRun, Evidence, Report
from reviewbot.checks.languages.go import GO, PACKAGES, PROGRAM, read_go, read_golangci, read_vet
from reviewbot.checks.run import job_of_test
from reviewbot.git.change import Side
from reviewbot.sandbox.job import COMMAND_NOT_FOUND, Completed

TESTED = 'package {0}\n\nimport "testing"\n\nfunc Test{1}(t *testing.T) {{ {1}({2}) }}\n'
MODULE = {
    "go.mod": "module example.org/shop\n\ngo 1.21\n",
    "shop.go": """package shop

func Total(prices []int) int {
	total := 0
	for _, price := range prices {
		total += price
	}
	return total
}

func Mean(prices []int) int {
	if len(prices) == 0 {
		return 0
	}
	return Total(prices) / 2
}
""",
    "shop_test.go": """package shop

import "testing"

func TestTotal(t *testing.T) {
	t.Run("two", func(t *testing.T) { equal(t, Total([]int{1, 2}), 3) })
}

func TestMean(t *testing.T) {
	t.Run("three", func(t *testing.T) {
		equal(t, Mean([]int{3, 3, 3}), 3)
	})
}

func TestLater(t *testing.T) { t.Skip("later") }

func equal(t *testing.T, found, wanted int) {
	if found != wanted {
		t.Errorf("found %d, not %d", found, wanted)
	}
}
""",
    "boom/boom.go": "package boom\n\nfunc First(a []int) int {\n\treturn a[0]\n}\n",
    "boom/boom_test.go": TESTED.format("boom", "First", "nil"),
    "broken/broken.go": "package broken\n\nfunc F() int {\n\treturn nowhere\n}\n",
    "broken/broken_test.go": TESTED.format("broken", "F", ""),
    "away/away.go": 'package away\n\nimport "example.org/away"\n\nfunc F() { away.F() }\n',
    "away/away_test.go": TESTED.format("away", "F", ""),
    "go.work": "go 1.21\n\nuse .\n",
    "tool/go.mod": "module example.org/tool\n\ngo 1.21\n",
    "tool/in/in.go": "package in\n\nfunc F() {}\n\nfunc G() {}\n",
    "tool/in/in_test.go": TESTED.format("in", "F", ""),
    "_examples/go.mod": "module example.org/examples\n\ngo 1.99\n",
    "tool/say/say.go": 'package say\n\nimport "fmt"\n\nfunc F() { fmt.Printf("%d", "one") }\n',
    "tool/say/say_windows.go": "package say\n\nfunc G() {}\n",
}


@cache
def go_variables() -> dict[str, str]:
    """Those of a user who compiled what checks use of Go itself, which jobs would do each time.

    A cache of the tests is small: of that of the user, each job would link all files.
    """
    module = Path(tempfile.mkdtemp())
    # Beside that of Go, where a later clone finds it: to compile the standard library takes 30 s.
    cache_ = {"GOCACHE": str(Path.home() / ".cache/go-build-of-reviewbot-tests")}
    for path, text in MODULE.items():
        if path.startswith("tool/"):
            (module / path).parent.mkdir(parents=True, exist_ok=True)
            (module / path).write_text(text)
    test = ("test", "-vet=off", "-coverprofile=/dev/null", "-run=^$", "./...")
    for command in (test, ("vet", "./in")):
        environment = {**os.environ, **cache_}
        subprocess.run(("go", *command), check=True, cwd=module / "tool", env=environment)
    return {**{name: os.environ[name] for name in ("HOME", "PATH")}, **cache_}


@pytest.mark.skipif(not shutil.which("go"), reason="Go is not installed")
def test_a_module_is_tested(project: Project) -> None:
    project.variables = go_variables()
    project.commit("Begin", MODULE)
    review = project.review(target="", kind="all")
    found = {finding.title: finding.result for finding in review.findings}
    assert {title: str(result.location) for title, result in found.items() if result} == {
        "TestMean/three fails: found 4, not 3": "shop_test.go:9",
        "TestFirst fails: runtime error: index out of range [0] with length 0": (
            "boom/boom_test.go:5"
        ),
        "broken/broken_test.go cannot be loaded: undefined: nowhere": "broken/broken_test.go:1",
        'fmt.Printf format %d has arg "one" of wrong type string': "tool/say/say.go:5",
        "no required module provides package example.org/away": "away/away.go:3",
    }
    (unvetted,) = (gap for gap in review.gaps if gap.startswith("go-vet"))
    assert "no required module provides package example.org/away" in unvetted
    (gap,) = (gap for gap in review.gaps if gap.startswith("go-test"))
    assert "no required module provides package example.org/away" in gap
    assert "example.org/away: run go mod tidy (3 passed, 3 failed, 1 skipped)" in gap
    (unknown,) = (gap for gap in review.gaps if "no linter reads such files" in gap)
    assert unknown.startswith("go.work was only scanned; ")
    lines = {c.path: (c.executed, c.statements) for c in review.coverage if c.statements}
    assert lines == {
        **{"shop.go": (9, 11), "shop_test.go": (8, 9), "boom/boom_test.go": (1, 1)},
        **{"tool/in/in.go": (1, 2), "tool/in/in_test.go": (1, 1), "tool/say/say.go": (0, 1)},
    }


@pytest.mark.skipif(not shutil.which("go"), reason="Go is not installed")
def test_a_module_that_was_not_downloaded_is_looked_for_again(project: Project) -> None:
    project.variables = go_variables()
    sums = "".join(f"example.org/x v1.0.0{what} h1:{'A' * 43}=\n" for what in ("", "/go.mod"))
    needs = "module m\n\ngo 1.21\n\nrequire example.org/x v1.0.0\n"
    files = {"lib/go.mod": needs, "lib/go.sum": sums, "a/go.sum": sums}
    uses = needs.replace("module m", "module a") + "require m v0.0.0\n\nreplace m => ../lib\n"
    files |= {"a/go.mod": uses, "a/a.go": 'package a\n\nimport _ "m"\n'}  # which runs later
    project.commit("Begin", {**files, "lib/a.go": 'package m\n\nimport _ "example.org/x"\n'})
    after = 'package m\n\nimport "example.org/x"\n\nvar X = x.X\n'
    project.commit("Change", {"lib/a.go": after})
    for _ in range(2):
        said = [gap for gap in project.review().gaps if gap.startswith("go-")]
        assert [gap.endswith(": run go mod download in lib") for gap in said] == [True, True]
    assert not [event for event in project.events if event.name == "go" and event.was_recorded]


PRICE = "package price\n\nfunc Of(n int) int { return n * 2 }\n"
USES = """package cart

import (
	"flag"
	"strings"
	"testing"

	"example.org/price"
)

func TestOf(t *testing.T) {
	if price.Of(2) != 4 {
		t.Fatal("it costs more")
	}
}

func TestFlaky(t *testing.T) {
	t.Run("a part ::1", func(t *testing.T) {
		if price.Of(2) != 4 && flag.Lookup("test.run").Value.String() == "" {
			t.Fatal("all tests run")
		}
	})
}

func TestThird(t *testing.T) {
	run := flag.Lookup("test.run").Value.String()
	if price.Of(2) != 4 && (run == "" || strings.Contains(run, "Flaky")) {
		t.Fatal("it runs beside the other")
	}
}
"""


CALLS = """package cart

import (
	"testing"

	"example.org/price"
)

func TestOf(t *testing.T) { price.Of(2) }
"""


@pytest.mark.skipif(not shutil.which("go"), reason="Go is not installed")
def test_modules_that_use_the_one_at_the_top_or_a_workspace_are_tested(project: Project) -> None:
    """A flaky test is no finding, and tests that fail run again by themselves, twice."""
    project.variables = go_variables()
    head = "module example.org/{}\n\ngo 1.21\n"
    needs = "\nrequire example.org/price v0.0.0\n\nreplace example.org/price => {}\n"
    files = {"go.mod": head.format("price"), "price.go": PRICE, "in/cart_test.go": USES}
    files |= {"in/go.mod": head.format("cart") + needs.format("../")}
    files |= {"other/go.mod": head.format("other"), "other/f.go": "package other\n\nfunc F() {}\n"}
    files |= {"other/other_test.go": TESTED.format("other", "F", "")}
    project.commit("Begin", files)
    project.commit("Change", {"price.go": PRICE.replace("2", "3")})
    review = project.review()
    (finding,) = review.reported
    assert str(finding.location) == "price.go:3"
    tests = [check.text for check in review.checks if check.check == "go-test"]
    project.commit("Use", {"go.work": "go 1.21\n\nuse ./other\n"})
    tests += [check.text for check in project.review().checks if check.check == "go-test"]
    assert tests == [
        "0 passed, 1 failed, 2 flaky",
        "1 passed, 3 failed before as well; before: TestOf fails: it costs more",
    ]


@pytest.mark.skipif(not shutil.which("go"), reason="Go is not installed")
def test_modules_that_import_one_that_changes_are_tested(project: Project) -> None:
    """By a path; and those that import none are not. A file that moves changes two packages."""
    project.variables = go_variables()
    needs = "\nrequire example.org/price v0.0.0\n\nreplace example.org/price => ../price\n"
    head = "module example.org/{}\n\ngo 1.21\n"
    files = {f"{name}/go.mod": head.format(name) + needs for name in ("cart", "other")}
    files |= {"price/go.mod": head.format("price"), "price/price.go": PRICE}
    files |= {"cart/cart_test.go": CALLS, "cart/alone/alone_test.go": "package alone\n\nno\n"}
    files |= {"kept/go.mod": head.format("kept"), "kept/kept.go": "package kept\n"}
    files |= {"kept/more.go": "package kept\n\nfunc F() {}\n"}
    files |= dict.fromkeys(("kept/f_test.go", "kept/in/f_test.go"), TESTED.format("kept", "F", ""))
    files |= {"other/other_test.go": TESTED.format("other", "F", "")}
    project.commit("Begin", files | {"other/f.go": "package other\n\nfunc F() {}\n"})
    changed = {"price/price.go": PRICE.replace("2", "2 + 0"), 'a"b.txt': ""}
    moved = {"kept/more.go": None, "kept/in/more.go": files["kept/more.go"]}
    project.commit("Change", changed | moved)
    review = project.review()
    (tests,) = (check.text for check in review.checks if check.check == "go-test")
    assert tests == "2 passed, 1 failed"
    (finding,) = (f for f in review.reported if f.result and f.result.tests)
    assert finding.title == "kept/f_test.go cannot be loaded: undefined: F"


@pytest.mark.skipif(not shutil.which("go"), reason="Go is not installed")
def test_packages_are_tested_that_a_change_may_break(tmp_path: Path) -> None:
    """What changes, and packages in which something does / others that import one of them.

    By each awk that is installed: those of images differ.
    """
    used = 'package {0}\n\nimport _ "m/{1}"\n'
    files = {
        "go.mod": "module m\n\ngo 1.21\n",
        **{"a/a.go": "package a\n", "a/a_test.go": "package a\n"},
        **{"b/b.go": used.format("b", "a"), "c/c_test.go": used.format("c_test", "b")},
        **{"e/e.go": "package e\n", "e/in/e.go": "package in\n", "e/in/e_test.go": "package in\n"},
        **{"alone/f.go": used.format("main", "gone"), "none/f.go": "package none\n"},
    }
    (listed,) = re.findall("(?m)^listed=.*", probe(PROGRAM)[PROGRAM])
    awks = [a for a in ("awk", "gawk", "busybox awk") if shutil.which(a.split()[0])]
    for name, content in {**files, "packages.awk": probe(PACKAGES)[PACKAGES]}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    line = f'{listed}; go list -e -deps -test -f "$listed" ./... >packages'
    subprocess.run(line, shell=True, cwd=tmp_path, check=True)
    for names, chosen in {
        "a/a.go": "a / b c",
        "a/one.s": "a / b c",
        "e/e.go e/in/e_test.go": "e e/in",
        "e/testdata/deep/x.json": "e e/in",
        "e/in/words.txt": "e e/in",
        "c/c_test.go README.md": "c",
        "c/c_test.go gone/gone.go": "c / alone",
        "none/f.go none/f_test.go": "none",  # which has a test in the other tree
        "c/c_test.go in/go.mod": "all",
        **dict.fromkeys(("go.mod", "none/f.go", "go.work.sum"), "all"),
        "testdata/x": "a alone b c e e/in none",
    }.items():
        (tmp_path / "files").write_text("".join(f"{tmp_path}/{name}\n" for name in names.split()))
        wanted = ["./..."] if chosen == "all" else chosen.split(" / ")
        for awk in awks:
            line = f"{awk} -v files=files -v module=$PWD -v path=m -f packages.awk packages"
            ended = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True)
            lines = ended.stdout.replace("m/", "").splitlines()
            assert [*filter(None, map(str.strip, lines))] == wanted, (awk, names, ended)


BASE = """module . example.org/shop
./in/shop_test.go:5:func TestTotal(t *testing.T) {
./in/shop_test.go:9:func helper() {
{"Action":"output","Package":"example.org/shop/in","Test":"TestTotal/a","Output":"quiet\\n"}
{"Action":"pass","Package":"example.org/shop/in","Test":"TestTotal/a","Elapsed":0}
{"Action":"pass","Package":"example.org/shop/in","Test":"TestTotal","Elapsed":0}
{"Action":"pass","Package":"example.org/shop/in","Elapsed":0.004}
mode: set
example.org/shop/in/shop.go:1.30,4.2 1 1
ended
"""
FAILS = BASE.replace("quiet", r"    shop_test.go:6: found 4, not 3").replace('"pass"', '"fail"')
PANICS = BASE.replace(
    "quiet",
    r"panic: none\n\ngoroutine 7 [running]:\npanic({0x1?})\n\t/usr/go/src/runtime/panic.go:9 +0x3\n"
    r"example.org/shop/in.Total(...)\n\tin/shop.go:3 +0x1\n"
    r"example.org/shop/in.TestTotal(0xc0)\n\tin/shop_test.go:6 +0x2",
).replace('"pass"', '"fail"')
BUILD = (
    '{"ImportPath":"example.org/shop/in [example.org/shop/in.test]","Action":"build-output",'
    '"Output":"in/shop.go:2:9: %s\\n"}\n'
    '{"Action":"fail","Package":"example.org/shop/in",'
    '"FailedBuild":"example.org/shop/in [example.org/shop/in.test]"}\nended\n'
)
LOCKED = "open /go/pkg/mod/cache/download/golang.org/x/y/@v/v1.2.0.lock: read-only file system"
UNBUILT = BASE[: BASE.index('{"')] + BUILD


def compared(head: Report) -> Evidence:
    """With what the tests of BASE say before."""
    base = read_go(Completed(outcome="ended", report=BASE.encode()))
    sides: dict[Side, Report] = {"base": base, "head": head}
    runs = [
        CheckRun(check="go-test", kind="test", side=side, outcome="ended", report=report)
        for side, report in sides.items()
    ]
    change = change_of(changed("a\nb\nc\nd", "a\nb\nC\nd", "in/shop.go"))
    return compare(change, runs, NOTHING_KNOWN)


@each(
    ("head", "title", "place", "reason"),
    [
        (BASE, "", "", ""),
        (FAILS, "TestTotal/a fails: found 4, not 3", "in/shop.go:3", ""),
        (PANICS, "TestTotal/a fails: none", "in/shop.go:3", ""),
        (UNBUILT % "undefined: y", "in/shop_test.go cannot be loaded: undefined: y",
         "in/shop.go:3", ""),
        (UNBUILT % "no required module provides package y", "", "", "run go mod tidy"),
        (UNBUILT % "missing go.sum entry for module providing package y", "", "",
         "run go mod tidy"),
        (UNBUILT % LOCKED, "", "", "run go mod download"),
        (BASE.removesuffix("ended\n"), "", "", "the run ended before its tests did"),
        (BASE.replace("TestTotal/a", "TestTotal/b"), "", "", ""),  # parts of a test may go
    ],
)  # fmt: skip
def test_what_a_change_breaks(head: str, title: str, place: str, reason: str) -> None:
    report = read_go(Completed(outcome="ended", report=head.encode()))
    evidence = compared(report)
    found = [(result.message, str(result.location)) for result in evidence.new_results]
    assert found == ([(title, place)] if title else [])
    assert (reason in report.problem, bool(reason)) == (True, bool(report.problem))
    assert reason or evidence.runs[-1].outcome == "ended"
    assert not any("runtime/panic.go" in test.output for test in report.tests)


OUTPUT = '{"Action":"output","Package":"example.org/shop/%s","Test":"%s","Output":"%s\\n"}\n'
LOGGED = "".join(
    OUTPUT % ("in", f"TestTotal/{part}", f"    shop_test.go:6: {said}")
    for part, said in (("a", "ready"), ("b", "ready"), ("b", "found 4"), ("a", "done"))
)
END = '{"Action":"%s","Package":"example.org/shop/in","Test":"%s"}\n'
TOTAL_FAILS = END % ("fail", "TestTotal")
LOGGED += END % ("pass", "TestTotal/a") + END % ("fail", "TestTotal/b") + TOTAL_FAILS
FAILS_WITHOUT_TEST = '{"Action":"fail","Package":"example.org/shop/%s"}\n'
TESTIFY = (
    r"    shop_test.go:6: \n        \tError Trace:\t/in/shop_test.go:6\n"
    r"        \tError:      \tNot equal: \n        \t            \texpected: 1\n"
    r"        \t            \tactual  : 2\n        \tTest:       \tTestTotal"
)
DIFF = r"    shop_test.go:6: ready\n        shop_test.go:7:   int(\n            - \t3,\n"
DIFF += r"            + \t4,\n              )\n        --- FAIL: TestTotal"
GOTEST_TOOLS = r"    shop_test.go:6: assertion failed: \n        --- expected\n        +++ out\n"
GOTEST_TOOLS += r"        @@ -1 +1 @@\n        -3\n        +4\n    --- FAIL: TestTotal (0.00s)"
TOTAL = "in/shop_test.go::TestTotal"


def not_built(package: str, why: str) -> str:
    """As Go before 1.24 says it."""
    compiler = f"# example.org/shop/in [example.org/shop/in.test]\nin/shop.go:2:9: {why}\n"
    return compiler + OUTPUT % (package, "", "FAIL [build failed]") + FAILS_WITHOUT_TEST % package


COVER = BUILD.replace("shop/in", "shop/by").replace(
    "in/shop", "2026/01/02 03:04:05 cover: x: in/shop"
)


@each(
    ("text", "failures", "problem"),
    [
        (LOGGED, {f"{TOTAL}/b": "found 4"}, ""),
        (OUTPUT % ("in", "TestTotal", TESTIFY) + TOTAL_FAILS,
         {TOTAL: "Not equal: expected: 1 actual : 2"}, ""),
        (OUTPUT % ("in", "TestTotal", DIFF) + TOTAL_FAILS, {TOTAL: "int( - 3, + 4, )"}, ""),
        (OUTPUT % ("in", "TestTotal", GOTEST_TOOLS) + TOTAL_FAILS,
         {TOTAL: "assertion failed: --- expected +++ out @@ -1 +1 @@ -3 +4"}, ""),
        # os.Exit in a test
        (OUTPUT % ("in", "TestTotal", "no file") + FAILS_WITHOUT_TEST % "in",
         {TOTAL: "no file"}, ""),
        # A package without tests
        (BUILD.replace("shop/in", "shop/by") % "undefined: y", {"in/shop.go": "undefined: y"}, ""),
        (not_built("in", "undefined: y"), {"in/shop_test.go": "undefined: y"}, ""),
        (not_built("by", "undefined: y"), {"in/shop.go": "undefined: y"}, ""),
        # Where coverage is measured, a file that cannot be parsed
        (COVER % "expected operand", {"in/shop.go": "expected operand"}, ""),
        (not_built("in", "GOPROXY=off"), {}, "in/shop.go:2:9: GOPROXY=off: run go mod download"),
        ("go: go.mod requires go >= 1.99\n", {}, "go: go.mod requires go >= 1.99"),
        ("go: cannot read a:\n\tgo.mod:1: no\n", {}, "go: cannot read a: go.mod:1: no"),
    ],
)  # fmt: skip
def test_why_tests_fail(text: str, failures: dict[str, str], problem: str) -> None:
    text = BASE[: BASE.index('{"')] + f"{text}ended\n"
    report = read_go(Completed(outcome="ended", report=text.encode()))
    failed = {test.id: test for test in report.tests if test.outcome in FAILURES}
    assert ({id: test.message for id, test in failed.items()}, report.problem) == (
        failures,
        problem,
    )
    if "in/shop.go" in failed:  # what does not compile is reported at its line
        assert str(failed["in/shop.go"].location) == "in/shop.go:2"


VETTED = """module . example.org/shop
read in/shop.go
# example.org/shop/in
# [example.org/shop/in]
in/shop.go:3:2: unreachable code
%svet failed
ended
"""


@each(
    ("more", "problem"),
    [
        ("", ""),
        ('cgo: C compiler "gcc" not found\n', 'cgo: C compiler "gcc" not found'),
        ("vet: in/b.go:4:9: undefined: nowhere\n", "vet: in/b.go:4:9: undefined: nowhere"),
        ("a.go:3:8: no required module provides package x; to add it:\n\tgo get x\n",
         "a.go:3:8: no required module provides package x: run go mod tidy"),
        ("go: errors parsing go.mod:\ngo.mod:1: no\n", "go: errors parsing go.mod: go.mod:1: no"),
        (f"{LOCKED}\n{LOCKED.replace('/y', '/!z')}\n",
         "golang.org/x/y is not downloaded: run go mod download golang.org/x/Z@v1.2.0"
         " golang.org/x/y@v1.2.0"),
        (f"{LOCKED.replace('/y/@v/v1.2.0.lock', '')}\n",
         "golang.org/x is not downloaded: run go mod download"),
        ("".join(f"{LOCKED.replace('/y', f'/{n}')}\n" for n in range(9)),
         "golang.org/x/0 is not downloaded: run go mod download"),
        (f"a.go:3:8: missing go.sum entry for module x\n{LOCKED}\n",
         "a.go:3:8: missing go.sum entry for module x: run go mod tidy"),
        (f"{LOCKED.replace('/y', '/y $(id)')}\n",
         f"{LOCKED.replace('/y', '/y $(id)')}: run go mod download"),
    ],
)  # fmt: skip
def test_what_vet_says_of_what_it_reads(more: str, problem: str) -> None:
    report = read_vet(Completed(outcome="ended", report=(VETTED % more).encode()))
    found = {str(d.location): d.message for d in report.diagnostics}
    missing = {"a.go:3": "no required module provides package x"} if "no required" in more else {}
    assert found == {"in/shop.go:3": "unreachable code"} | missing
    assert report.read == {"in/shop.go"}
    assert report.problem.startswith(problem)
    assert "to add it" not in report.problem
    assert not problem.endswith(("download", "tidy")) or report.problem == problem
    assert bool(report.problem) is bool(problem)
    silent = b"module . example.org/shop\nvet failed\nended\n"
    assert read_vet(Completed(outcome="ended", report=silent)).problem == "vet failed"


@each(
    ("text", "found", "problem"),
    [
        ("sub/s.go:9:11: Error return value of `os.Remove` is not checked (errcheck)\n1 issues:\n",
         ("errcheck", "sub/s.go:9", "medium"), ""),
        ("s.go:4:2: SA4006: this value of x is never used (staticcheck)\n",
         ("staticcheck", "sub/s.go:4", "medium"), ""),
        ("s.go:5: S1002: should omit it (staticcheck)\n", ("staticcheck", "sub/s.go:5", "low"), ""),
        ("s.go:13:14: printf: fmt.Printf format %d is wrong (govet)\n0 issues.\n", None, ""),
        ("s.go:1: : # example.org/sub\n./s.go:1:2: undefined: x (typecheck)\n", None,
         "./s.go:1:2: undefined: x (typecheck)"),
        ("s.go:1:2: could not import x (s.go:1:2: no required module provides package x; to add it:"
         "\n\tgo get x) (typecheck)\n", None,
         "s.go:1:2: could not import x (s.go:1:2: no required module provides package x: run go mod"
         " tidy in sub"),
        ("Error: unknown linters: 'x'\nThe command is terminated.\n", None,
         "Error: unknown linters: 'x'"),
        ('level=error msg="[linters_context] no such file"\n0 issues.\n', None,
         'level=error msg="[linters_context] no such file"'),
    ],
)  # fmt: skip
def test_what_golangci_lint_says(
    text: str, found: tuple[str, str, str] | None, problem: str
) -> None:
    said = f"module ./sub example.org/sub\nread sub/s.go\n{text}ended\n"
    report = read_golangci(Completed(outcome="ended", report=said.encode()))
    shown = [(each.rule, str(each.location), each.severity) for each in report.diagnostics]
    assert (shown, report.problem) == ([found] if found else [], problem)
    assert report.read == {"sub/s.go"}


GOLANGCI_LINT = """#!/bin/sh
! grep -q Crash s.go || exit 3
[ -w "$GOCACHE/ab/x-a" ] || exit 4
case "$*" in
version) echo "golangci-lint has version {version} built with go1.26.8" ;;
*{option}*--issues-exit-code=0*./...) ! grep -q Remove s.go ||
    echo "$(basename "$PWD")/s.go:6:2: Error return value is not checked (errcheck)" ;;
esac
"""


@pytest.mark.parametrize(
    ("version", "option"),
    [("2.15.0", "--output.text.path=stdout"), ("v1.64.8", "--out-format=line-number")],
)
@pytest.mark.skipif(not shutil.which("go"), reason="Go is not installed")
def test_golangci_lint_runs_in_each_module_that_changes(
    project: Project, tmp_path_factory: pytest.TempPathFactory, version: str, option: str
) -> None:
    gopath = tmp_path_factory.mktemp("gopath")
    program = gopath / "bin/golangci-lint"
    program.parent.mkdir(parents=True)
    program.write_text(GOLANGCI_LINT.format(version=version, option=option))
    program.chmod(0o755)
    (gopath / "cache/ab").mkdir(parents=True)
    (gopath / "cache/ab/x-a").touch()
    variables = {"GOPATH": str(gopath), "GOCACHE": str(gopath / "cache")}
    project.variables = {"PATH": os.environ["PATH"], **variables}
    off = "checks: [{name: go-vet, off: true}, {name: go-test, off: true}]\n"
    files = {".golangci.yml": 'version: "2"\n', ".reviewbot.yml": off}
    files |= {"sub/go.mod": "module example.org/sub\n", "sub/s.go": "package sub\n"}
    project.commit("Begin", files | {"go.mod": "module example.org/top\n", "s.go": "package top\n"})
    after = 'package sub\n\nimport "os"\n\nfunc F() {\n\tos.Remove("x")\n}\n'
    project.commit("Change", {"sub/s.go": after, "s.go": "package top\n\n// Crash\n"})
    review = project.review()
    (finding,) = review.findings
    assert (finding.title, str(finding.location)) == (
        "Error return value is not checked",
        "sub/s.go:6",
    )
    gaps = [gap for gap in review.gaps if "golangci" in gap]
    assert gaps[-1] == "golangci-lint is incomplete: Error: it ended with exit code 3"


def test_a_test_for_a_claim_is_a_package_of_its_own() -> None:
    job = job_of_test(GO, "package x", "tree", "tool")
    assert (job.command[2:], job.folder) == (("test", "./reviewbot_reproduction"), "tool")
    assert job.extra_files == {"tool/reviewbot_reproduction/reproduction_test.go": "package x"}
    assert GO.is_missing_name("undefined: shop.Mean")
    assert not GO.is_missing_name("found 4, not 3")
    # Where Go is not installed, nothing runs.
    script = probe(PROGRAM)[PROGRAM]
    ended = subprocess.run(("/bin/sh", "-c", script), env={"PATH": ""}, check=False)
    assert ended.returncode == COMMAND_NOT_FOUND
