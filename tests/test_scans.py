"""Checks that read added lines for known patterns, and syntax errors."""

from __future__ import annotations

import time
from collections.abc import Collection

from each import each
from msgspec.structs import replace
from test_compare import change_of, changed

from reviewbot.checks.compare import compare
from reviewbot.checks.project import Project
from reviewbot.checks.scans import check_syntax, run_scans

TOKEN = "ghp_" + "a1B2" * 9
KEY = (
    "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA" * 4 + "\n-----END RSA PRIVATE KEY-----"
)


def scan(
    before: str, after: str, path: str = "a.py", tree: Collection[str] = ()
) -> list[tuple[str, str, str]]:
    """(rule, place, severity) of each result."""
    status = "modified" if before else "added"
    change = change_of(replace(changed(before, after, path=path), status=status))
    return [
        (found.rule, str(found.location), found.severity)
        for run in run_scans(change, Project(head_files=frozenset(tree)))
        for found in run.report.diagnostics
    ]


@each(
    ("after", "path", "expected"),
    [
        (f"x = 1\ntoken = '{TOKEN}'", "a.py", [("secret-github-token", "a.py:2", "critical")]),
        (f"x\n{KEY}", "a.pem", [("secret-private-key", "a.pem:2", "critical")]),
        ("x = 1 # \u202e hidden", "a.py", [("hidden-bidi", "a.py:1", "high")]),
        ("x = 1 # \U000e0041\U000e0042", "a.py", [("hidden-tag", "a.py:1", "high")]),
        ("a\u200bb", "README.md", [("hidden-zero-width", "README.md:1", "high")]),
        ("\u200f%d", "he.po", [("hidden-bidi", "he.po:1", "low")]),
        ("\u200f%d \u202e", "he.po", [("hidden-bidi", "he.po:1", "high")]),
        ("a\u200cb", "mail.html", [("hidden-zero-width", "mail.html:1", "low")]),
        ("a\ufe01b", "mail.html", [("hidden-zero-width", "mail.html:1", "high")]),
        ("a\u202eb", "mail.html", [("hidden-bidi", "mail.html:1", "high")]),
        ("\u200f%d", "a.py", [("hidden-bidi", "a.py:1", "high")]),
        ("x = 1 # a\rimport os", "a.py", [("hidden-line-end", "a.py:1", "high")]),
        ("# coding: utf-7\nx", "a.py", [("hidden-line-end", "a.py:1", "high")]),
        ("<<<<<<< H\na\n=======\nb\n>>>>>>> b", "a.c", [("conflict-marker", "a.c:1", "critical")]),
        ("Title\n=======", "a.rst", []),
        ("x = 1\r\n\x0cclass A: pass", "a.py", []),
        ("x = 1", "a\u202eb.py", [("hidden-file-name", "a\u202eb.py:0", "high")]),
        ("x = 1", f"{TOKEN}.py", [("secret-github-token", "None", "critical")]),  # it is not shown
        ("x = 1", r"caf\xe9.py", [("file-name-encoding", r"caf\xe9.py:0", "medium")]),
        ("x = 1", "u\u0308.py", [("hidden-file-name", "u\u0308.py:0", "high")]),
    ],
)  # fmt: skip
def test_what_is_found(after: str, path: str, expected: list[tuple[str, str, str]]) -> None:
    assert scan("", after, path) == expected


def test_only_what_the_change_adds_is_reported() -> None:
    assert scan(f"a = '{TOKEN}'\nb = 1", f"a = '{TOKEN}'\nb = 2") == []
    assert [state for state, *_ in syntax("a.js", "f(;\na", "f(;\nb")] == ["existing"]


def test_a_secret_is_not_part_of_what_is_reported() -> None:
    for run in run_scans(change_of(changed("", f"x = '{TOKEN}'", path=f"{TOKEN}.py")), Project()):
        for found in run.report.diagnostics:
            assert TOKEN not in found.message


def test_a_new_name_differs_in_more_than_its_case() -> None:
    twin = ("file-name-twin", "Makefile:0", "medium")
    assert scan("", "x = 1", "Makefile", {"makefile", "b"}) == [twin]
    assert scan("", "x = 1", "src/a.py", {"src/a.py", "a.py", "A.py"}) == []


def syntax(path: str, before: str | None, after: str) -> list[tuple[str, str, str]]:
    """(state, place, severity) of each result; nothing before is a new file."""
    change = change_of(changed(before or "", after, path=path))
    base = {} if before is None else {path: before}
    project = Project(base_texts=base, head_texts={path: after})
    evidence = compare(change, check_syntax(change, project), project)
    return [(r.state, str(r.location), r.severity) for r in evidence.results]


HELM = """kind: A
metadata:
  name: {{ include "x.name" . }}
  labels: {{- /* {{ b }} */}}
    {{- include "x.labels" . | nindent 4 }}
data:
"""


@each(
    ("path", "before", "after", "expected"),
    [
        ("a.js", "f();", "f(;", [("new", "a.js:1", "critical")]),
        ("a.js", "", 'const a = () => <p class="x">y</p>;', []),
        ("a.tsx", "const a = <p>x</p>", "const a = <p>x</p>;\nconst b: number = 1", []),
        ("A.java", "class A {}", "class A { int x = 1 }", [("new", "A.java:1", "critical")]),
        ("a.json", '{"a": 1}', '{"a": 1e+22}', []),
        ("a.json", '{"a": 1}', '{"a": 1', [("new", "a.json:1", "high")]),
        # The parser puts in what is missing
        ("a.json", '{"a": 1}', '{"a": }', [("new", "a.json:1", "high")]),
        ("a.go", "package a", "package a\nfunc f() { x := }", [("new", "a.go:2", "critical")]),
        ("a.js", "f()", "if () {}", [("new", "a.js:1", "critical")]),
        ("a.rs", "fn f() {}", "fn f() { 1 + ; }", [("new", "a.rs:1", "critical")]),
        ("a.sh", "true", "if true; then\n", [("new", "a.sh:1", "high")]),
        ("a.sh", "true", "cat <<E\n\nE\ntrue", []),
        ("tests/data/a.js", "f();", "f(;", []),
        ("a.txt", "f(", "f((", []),
        ("a.py", "f()", "f(", []),  # left to ruff
        # A grammar that is older than the file
        ("a.rs", None, 'trait A = B +\n  C;\n', [("new", "a.rs:1", "high")]),
        ("a.js", "opaque type A = B;", "opaque type A = B;\nf(;", [("existing", "a.js:1", "medium"),
                                                                 ("new", "a.js:2", "medium")]),
        ("a.zsh", "true", "for f (*.txt) print $f", []),
        ("dot.zshrc", "true", "for f (*.txt) print $f", []),
        # What cannot be read begins above what is wrong
        ("a.yml", "a: 1\nb:\n  c: 2\n", "a: 1\nb:\n  c: 2\n: }{ [\n", [("new", "a.yml:4", "high")]),
        # Templates
        ("d.yaml", HELM, HELM + "  {{- with .b }}\n  b: {{ . }}\n  {{- end }}\n", []),
        ("d.yaml", None, HELM, []),
        ("w.yml", None, "a: ${{ x }}\nb: [", [("new", "w.yml:1", "high")]),
        ("p.json", None, '{"a": "{{ a }}",\n {% if b %}"b": {{ b }},{% endif %}\n"c": 1}', []),
        ("p.json", None, '{"a": {{"b": 1}}}', [("new", "p.json:1", "high")]),
        ("{{ a }}/p.json", None, "{{ x }} {% y %}", []),
        ("a.jsx", "f()", "a = <p style={{ b: 1 }} />;\nf(;", [("new", "a.jsx:2", "critical")]),
        # With comments, as editors and compilers read it
        ("tsconfig.json", None, '{\n // a\n "b": {"c": true,},\n}', []),
        (".vscode/settings.json", None, "{\n // a\n}", []),
        ("a.json5", None, "{a: 'b', /* c */ d: +.5,}", []),
        ("a.jsonc", None, "[1,", [("new", "a.jsonc:1", "high")]),
        ("package.json", None, '{"a": 1,}', [("new", "package.json:1", "high")]),
    ],
)  # fmt: skip
def test_syntax_errors(path: str, before: str | None, after: str, expected: list[object]) -> None:
    assert syntax(path, before, after) == expected


# What the grammars do not know, and neighbours that they do.
VALID = {
    "a.ts": """
class A extends B<<T>() => T> {}
const a = foo<<T>(x: T) => T>(y), b = c << d, e = f satisfies G;
class C { accessor x = 1; static accessor y = 2; static [k: string]: D; #p = 1 }
@dec() class E { @log m() {} constructor(@inject(X) private a: A) {} static { init(); } }
await using x = f(); for (using y of z) {} f(using);
function g<const T extends readonly unknown[]>(using: T, abstract: any): keyof readonly T {}
interface H<in T, out U, in out V = {}> { abstract: boolean; in?: T }
interface I {\n  <A, B>(x: A): B\n  /** A */\n  <A extends B>(x: A): B\n}
type J = import("./a").B<string> | import("./b", { with: { "resolution-mode": "import" } }).C;
const k = sql<{ a: Array<string> }>`select ${1}`, l = m<n>?.();
export default function (): string; export = function f(): void;
export type * as N from "./a"; export { o } from "./p.json" with { type: "json" };
import p from "./p.json" with { type: "json" }; export import q = require("q");
declare module "r" { global { var x: number } } import defer * as t from "t";
""",
    "a.tsx": """
const a = <T,>(x: T) => <A<T> b="?c=1&d=2">Q & A &amp; R&D {x && y}</A>;
""",
    "a.js": """
import source x from "y"; import z from "./z.json" with { type: "json" };
class A { static #p = 1; static { using b = c; } } for (await using d of e) {}
""",
    "a.go": """package a
func f[K comparable](s iter.Seq[K]) { for i := range 10 { g(i) }; for range s { _ = new(h(1, 2)) } }
var a, b, c = new("a"), new(T[int]), make(map[string]int, 1)
var d = func(make func(int) int) int { return make(1 - 2) }(nil)""",
    "a.rs": """
fn f() { if let Some(x) = a && x > 1 { g(async || 1); } let y = &raw const z; }
unsafe extern "C" { safe fn f(); pub safe static X: i32; unsafe fn g(); }
macro_rules! m { ($a:ident, $) => { json!({ "a": ~ }) }; }
fn h() -> impl Iterator<Item = u8> + use<'_> { r#try!(1); c"x" }
""",
    "A.java": """
import module java.base;
record P(int x, Object y) { P { if (x < 0) throw new E(); } P(int z) { check(z); this(z, 1); } }
sealed interface S permits T {} class T { int f(Object o) { return switch (o) {
  case P(int x, var _) when x > 1 -> 1; case null, default -> { yield 2; } }; } }
""",
    "a.sh": """
day=$(( 10#$(date +%d) )); x=$(( 10#$x + 1 )); case "$1" in a|b) echo ;; *) [[ $a =~ ^b$ ]] ;; esac
""",
    "a.php": """<p><?php if ($a): ?>
<b><?= $b ?></b><?php foreach ($c as $d): ?>d<?php endforeach ?>
<?php else: ?>e<?php endif; enum E: string { case A = 'a'; }
$f = match(true) { default => g(...) }; ?>
</p>
""",
    "a.css": """
@import url("a.css") layer(b); @source "./c"; @layer d, e; @page :first { margin: 1in }
a { b: url(../c.png); --d: ; --e: { f }; &:hover { g: var(--h,) } .i & { j: k; ; *zoom: 1 } }
@media (400px <= width < 800px) { a:nth-child(5n - 3) { b: c } } a[b="c" i] { d: e }
@container f (min-width: 1px) { @keyframes g { 50.5% { h: i } } } @utility j-* { k: l }
""",
    "a.cs": """
static class A { extension(string s) { public int L => s.Length; } }
class B<T> where T : allows ref struct { int[] x = [1, ..y]; void f() { a?.b = c; } }
""",
    "a.kt": """
context(a: A)
fun f() { (x as MutableState<Any?>).value = y }
fun interface B {
    fun g(content: @Composable () -> Unit)
}
""",
    "a.swift": """
@Test func `emit: no payload`(_ x: borrowing T, y: sending U, z: isolated A? = #isolation) {}
#if os(iOS) || os(tvOS)
func g(@B<C> @_implicitSelfCapture _ d: () -> sending E) -> [F] { return [~d] }
#endif
func h() -> String { nonisolated(unsafe) let i = j; return k["l"] as? String ?? "" }
""",
}


@each("path", VALID)
def test_code_of_today_has_no_syntax_error_until_a_bracket_is_missing(path: str) -> None:
    text = VALID[path]
    assert syntax(path, None, text) == []
    for at in (text.index(")"), text.rindex(")")):
        assert syntax(path, None, text[:at] + text[at + 1 :])


CONFLICT = "<<<<<<< HEAD\nf(\n=======\nf()\n>>>>>>> topic\n"


@each(
    ("text", "expected"),
    [
        ("f(;\n\ng(;\n\nh(;\n", [("syntax-error", 1)]),
        (f"f()\n{CONFLICT}function a() {{\n{CONFLICT}}}\n",
         [("conflict-marker", 2), ("conflict-marker", 8)]),
        (f"let = = 1;\n\n{CONFLICT}", [("conflict-marker", 3), ("syntax-error", 1)]),
        # Each secret has to be revoked, whether or not a parser can read the file.
        (f"f(;\na('{TOKEN}')\nb('{TOKEN}')\n",
         [("secret-github-token", 2), ("secret-github-token", 3), ("syntax-error", 1)]),
    ],
)  # fmt: skip
def test_what_cannot_be_parsed_for_one_reason_is_one_finding(
    text: str, expected: list[tuple[str, int]]
) -> None:
    change = change_of(changed("", text, path="a.js"))
    project = Project(base_texts={"a.js": ""}, head_texts={"a.js": text})
    found = compare(change, run_scans(change, project), project).new_results
    assert [(r.name, r.location and r.location.line) for r in found] == expected


def test_scans_can_be_turned_off() -> None:
    change = change_of(changed("", "f(;\u202e\n", path="a.js"))
    project = Project(base_texts={"a.js": ""}, head_texts={"a.js": "f(;\u202e\n"})
    for off, found in (((), ["hidden-characters", "syntax"]), (("syntax",), ["hidden-characters"])):
        results = compare(change, run_scans(change, project, off), project).results
        assert [result.check for result in results] == found


@each(
    ("path", "text"),
    [("a.ts", "/*" + "a\n/*" * 400 + "*/ f(;"), ("a.css", "a { b: " + f"{'1' * 19_000}\n" * 4)],
)
def test_what_is_newer_than_a_grammar_is_looked_for_in_no_time(path: str, text: str) -> None:
    started = time.monotonic()
    assert syntax(path, None, text)
    assert time.monotonic() - started < 3


@each("text", ["f(" * 20_000, "{a\n" * 20_000, "}\n" * 20_000 + "{a\n" * 600, "a\n/*" * 600])
def test_long_lines_and_deep_brackets_are_not_parsed(text: str) -> None:
    change = change_of(changed("", text, path="a.js"))
    base, head = check_syntax(change, Project(base_texts={"a.js": ""}, head_texts={"a.js": text}))
    assert (base.files, head.files) == (("a.js",), ())
