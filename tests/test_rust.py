"""Rust: a crate that is linted and tested once, and what cargo's words mean."""

from __future__ import annotations

import json
import os
import re
import shutil

import pytest
from conftest import Project
from each import each
from msgspec.structs import replace
from test_proofs import run

from reviewbot.checks.evidence import FAILURES
from reviewbot.checks.languages.rust import RUST, read_clippy, read_tests
from reviewbot.checks.run import read
from reviewbot.proofs.proof import Reproduction
from reviewbot.sandbox.job import Completed

LIB = """//! Sums.

/// Adds.
///
/// ```
/// assert_eq!(shop::add(1, 2), 3);
/// ```
pub fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[cfg(test)]
mod tests {
    #[test]
    fn adds() {
        print!("no line ends here: ");
        assert_eq!(super::add(1, 2), 3, "one and two");
    }

    #[test]
    #[ignore = "later"]
    fn later() {}

    #[test]
    #[should_panic(expected = "nothing")]
    fn panics() {
        panic!("nothing");
    }
}
"""
WHOLE = """#[test]
fn whole() -> Result<(), String> {
    if shop::add(2, 2) == 4 { Ok(()) } else { Err("not four".into()) }
}
"""
CRATE = {
    ".gitignore": "target\n",
    "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": LIB,
    "tests/whole.rs": WHOLE,
}
CHANGED = {
    "src/lib.rs": LIB.replace("    a + b", "    let sum = 1;\n    a - b"),
    "src/orphan.rs": "pub fn unknown() {}\n",
}


@pytest.fixture
def crate(project: Project) -> Project:
    project.variables = {name: os.environ[name] for name in ("HOME", "PATH")}
    project.commit("Begin", CRATE)
    project.commit("Change", CHANGED)
    return project


@pytest.mark.skipif(not shutil.which("cargo"), reason="Rust is not installed")
def test_a_crate_is_linted_and_tested(crate: Project) -> None:
    review = crate.review()
    found = {f.title: (f.severity, str(f.location)) for f in review.findings if f.result}
    assert found == {
        "unused variable: `sum`": ("low", "src/lib.rs:9"),
        "adds and 2 more fail: assertion `left == right` failed: one and two left: -1 right: 3": (
            *("high", "src/lib.rs:10"),
        ),
    }
    (gap,) = review.gaps
    assert gap.startswith("src/orphan.rs was only scanned; left out by clippy, and read by no")
    (tests,) = (check for check in review.checks if check.check == "cargo-test")
    assert tests.text == "1 passed, 3 failed, 1 skipped"


@pytest.mark.skipif(not shutil.which("cargo"), reason="Rust is not installed")
def test_a_build_script_is_linted_where_a_lock_file_is_behind(project: Project) -> None:
    project.variables = {name: os.environ[name] for name in ("HOME", "PATH")}
    lock = 'version = 3\n\n[[package]]\nname = "shop"\nversion = "0.0.9"\n'
    files = {"Cargo.toml": CRATE["Cargo.toml"], "Cargo.lock": lock, "src/lib.rs": LIB}
    project.commit("Begin", files)
    project.commit("Build", {"build.rs": "fn main() {\n    let unused = 1;\n}\n"})
    review = project.review()
    found = {f.title: str(f.location) for f in review.findings}
    assert (found, review.gaps) == ({"unused variable: `unused`": "build.rs:2"}, ())


@pytest.mark.skipif(not shutil.which("cargo"), reason="Rust is not installed")
def test_a_crate_that_was_not_fetched_is_looked_for_again(project: Project) -> None:
    project.variables = {name: os.environ[name] for name in ("HOME", "PATH")}
    needs = CRATE["Cargo.toml"] + '[dependencies]\nno-such-crate = "9"\n'
    project.commit("Begin", {"Cargo.toml": needs, "src/lib.rs": ""})
    project.commit("Change", {"src/lib.rs": "pub fn f() {}\n"})
    for _ in range(2):
        said = [gap for gap in project.review().gaps if gap.startswith(("clippy", "cargo"))]
        assert [gap.endswith(": run cargo fetch") for gap in said] == [True, True]
    assert not [event for event in project.events if event.name == "cargo" and event.was_recorded]


@pytest.mark.skipif(not shutil.which("rustup"), reason="rustup is not installed")
def test_what_a_toolchain_file_names_is_not_downloaded(project: Project) -> None:
    """A component that is missing keeps no test from running, and a toolchain is named."""
    project.variables = {name: os.environ[name] for name in ("HOME", "PATH")}
    named = '[toolchain]\ncomponents = ["rust-docs-json", "rust-analyzer"]\n'
    project.commit("Begin", {**CRATE, "rust-toolchain.toml": named})
    project.commit("Change", {"src/lib.rs": LIB.replace("Sums", "Adds")})
    assert project.review().gaps == ()
    project.commit("Pin", {"rust-toolchain.toml": '[toolchain]\nchannel = "1.2.3"\n'})
    project.commit("Change", {"src/lib.rs": LIB})
    for _ in range(2):
        said = [gap for gap in project.review().gaps if gap.startswith(("clippy", "cargo"))]
        step = "is not installed help: run `rustup toolchain install` to install it"
        assert [gap.endswith(step) for gap in said] == [True, True], said
    assert not project.events[-1].was_recorded


@pytest.mark.skipif(not shutil.which("cargo"), reason="Rust is not installed")
def test_a_claim_is_tested(crate: Project) -> None:
    half, double = (
        "pub fn half(a: i64) -> i64 { a / 2 }",
        "pub fn double(a: i64) -> i64 { a * 3 }",
    )
    crate.commit("Before", {"src/lib.rs": LIB + half})
    crate.commit("After", {"src/lib.rs": CHANGED["src/lib.rs"] + double})
    sources = {
        "#[test]\nfn zero() { assert_eq!(shop::add(0, 1), 1); }\n": "proven",
        "#[test]\nfn zero() { shop::subtract(0, 1); }\n": "inconclusive",
        "#[test]\nfn zero() { assert_eq!(shop::double(2), 4); }\n": "only_at_head",
        "#[test]\nfn zero() { assert_eq!(shop::half(4), 2); }\n": "proven",
        '#[test]\nfn first() { std::fs::File::create_new("/tmp/a").unwrap(); }\n': "inconclusive",
    }
    tests = [Reproduction(language="rust", kind="test", source=source) for source in sources]
    proofs = dict(zip(sources, run(crate, *tests, language=RUST), strict=True))
    assert {source: proof.result for source, proof in proofs.items()} == sources


BUILT = """./src/lib.rs:17:    fn adds() {
{"reason":"compiler-artifact","target":{"src_path":"src/lib.rs"},"executable":"target/shop-1f"}

built
     Running unittests src/lib.rs (target/debug/deps/shop-1f)

running 2 tests
"""
PASSED = "test tests::adds ... ok\n"
IGNORED = "test tests::later ... ignored, later\n"
RESULT = """
test result: {}. {} passed; {} failed; {} ignored; 0 measured; 0 filtered out; finished in 0.06s

ended
"""
OK = RESULT.format("ok", 1, 0, 1)
FAILED = """test tests::adds ... FAILED

failures:

---- tests::adds stdout ----
{}

failures:
    tests::adds
""" + RESULT.format("FAILED", 0, 1, 1)
NEW = (
    "thread 'tests::adds' (21887) panicked at src/lib.rs:18:9:\nnothing\n  left: 1\nnote: run with"
)
OLD = "thread 'tests::adds' panicked at 'nothing', src/lib.rs:18:9\nnote: run with"


@each(
    ("text", "failures", "problem"),
    [
        (BUILT + IGNORED + PASSED + OK, {}, ""),
        (BUILT + IGNORED + "test tests::adds ... said\nok\n" + OK, {}, ""),
        (BUILT + IGNORED + FAILED.format(NEW), {"adds": "nothing left: 1"}, ""),
        (BUILT + IGNORED + FAILED.format(OLD), {"adds": "nothing"}, ""),
        (BUILT + IGNORED + FAILED.format('Error: "bad"'), {"adds": 'Error: "bad"'}, ""),
        # A test of trybuild prints the files that it compiles.
        (BUILT + IGNORED + "test tests/ui/a.rs ... ok\n" + PASSED + OK, {}, ""),
        (BUILT + IGNORED + "\nended\n", {}, "1 of 2 tests of src/lib.rs ended"),
        (BUILT + IGNORED + PASSED + OK.replace("1 passed", "2 passed"), {},
         "2 of 2 tests of src/lib.rs ended"),
        ((BUILT + IGNORED + PASSED + OK).removesuffix("ended\n"), {},
         "the run ended before it was done"),
    ],
)  # fmt: skip
def test_what_libtest_says(text: str, failures: dict[str, str], problem: str) -> None:
    report = read_tests(Completed(outcome="ended", report=text.encode()))
    found = {t.id.rpartition("::")[2]: t.message for t in report.tests if t.outcome in FAILURES}
    assert (found, report.problem) == (failures, problem)
    assert all(str(t.location) == "src/lib.rs:17" for t in report.tests if "adds" in t.id)
    frames = [str(frame) for t in report.tests for frame in t.frames]
    assert frames == (["src/lib.rs:18"] if "panicked" in text else [])


@each(
    ("text", "reason"),
    [
        ("error[E0425]: cannot find value\n", "error[E0425]: cannot find value"),
        ("error: no matching package named `x` found\nin offline mode\n", "run cargo fetch"),
        (
            "error: couldn't read `/tmp/.cargo/registry/x/lib.rs`: Permission denied (os error 13)",
            "(os error 13): run chmod -R a+rX ~/.cargo/registry",
        ),
        (
            "error: rustc 1.9 is too old for:\n  x@1 requires 1.96\n",
            "too old for: x@1 requires 1.96",
        ),
        (
            "error: failed to parse manifest at `Cargo.toml`\n\nCaused by:\n  no key\n\n"
            "Caused by:\n  too old\n",
            "at `Cargo.toml` Caused by: no key Caused by: too old",
        ),
        ("error: unclosed table\n --> Cargo.toml:1:9\n", "unclosed table --> Cargo.toml:1:9"),
        ("Compiling shop\n", "the run ended before its tests were built"),
    ],
)
def test_what_cannot_be_built_says_why(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        read_tests(Completed(outcome="ended", report=text.encode()))


def compiler(level: str, code: str | None, path: str = "src/lib.rs") -> str:
    span = {"file_name": path, "line_start": 3, "is_primary": True, "expansion": None}
    message = {"message": "it is so", "level": level, "spans": [span]}
    message["code"] = {"code": code} if code else None
    return json.dumps({"reason": "compiler-message", "message": message}, separators=(",", ":"))


@each(
    ("message", "expected"),
    [
        (compiler("warning", "unused_variables"), [("unused_variables", "low")]),
        (compiler("error", "clippy::eq_op"), [("clippy::eq_op", "medium")]),
        (compiler("error", "E0425"), [("E0425", "high")]),
        (compiler("error", None), [("rustc", "high")]),
        (compiler("warning", "x", "/root/.cargo/registry/y.rs"), []),
        (compiler("warning", "x").replace('"is_primary":true', '"is_primary":false'), []),
    ],
)
def test_what_clippy_says(message: str, expected: list[tuple[str, str]]) -> None:
    text = f"{message}\n{message}\nsrc/lib.rs:\n/root/other.rs:\nended\n"
    report = read_clippy(Completed(outcome="ended", report=text.encode()))
    assert [(found.rule, found.severity) for found in report.diagnostics] == expected
    assert (report.read, report.problem) == ({"src/lib.rs"}, "")
    (clippy,) = (check for check in RUST.checks if check.name == "clippy")
    completed = Completed(outcome="ended", exit_code=0, report=text.encode())
    assert read(replace(clippy, folder="api"), "head", completed)[2].read == {"api/src/lib.rs"}
    for text, problem in (
        ("error: no matching package\nin offline mode\nfailed\nended\n", "run cargo fetch"),
        (f"{message}\nerror: x\noffline mode\nfailed\nended\n", "cargo fetch"),
        ("odd\nfailed\nended\n", "cargo failed"),
        ("", "the run ended before it was done"),
    ):
        report = read_clippy(Completed(outcome="ended", report=text.encode()))
        assert problem in report.problem
