"""Texts of people, programs and models that want to be more than text, through every report.

Each text stands in every field that is free. What comes out is read as GitHub reads it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec
import pytest
from conftest import Project
from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec.structs import replace
from test_reports import ALL, BROKEN, INTENDED, LINT, PROVEN, QUESTION, filled

from reviewbot.debate.case import Position
from reviewbot.debate.judge import Consultation
from reviewbot.debate.panel import Absence
from reviewbot.github.job import Runner
from reviewbot.reports import FORMATS, render
from reviewbot.reports.markdown import (
    MAX_BYTES,
    Page,
    annotations,
    audit,
    check_title,
    comment,
    consultation,
    explanation,
    fixes,
    review_body,
    summary,
)
from reviewbot.reports.words import Style, redacted
from reviewbot.tasks.task import TaskResult
from reviewbot.text.hidden import find_hidden
from reviewbot.text.plain import dead
from reviewbot.verdict.document import Memory, Remembered, Review

MENTIONS = r"""
@octocat ¦ @octo/everyone ¦ cc:@octocat ¦ **@octocat** ¦ "@octocat", ¦ a@evil.example
\@octocat ¦ &#64;octocat ¦ &#x40;octocat ¦ @<b></b>octocat ¦ [@octocat](x) ¦ `x`@octocat
x/@octocat
"""
REFERENCES = r"""
#1 ¦ fixes #1 ¦ resolves octo/app#1 ¦ fix https://github.com/octo/app/issues/1
close GH-1 ¦ `x`#1 ¦ \#1 ¦ &#35;1 ¦ fixed:#1,#2;#3
octo/app@0123456789abcdef0123456789abcdef01234567 ¦ octo/app#1 ¦ Closes: #1 ¦ implements GH-1
0123456789abcdef0123456789abcdef01234567 ¦ x~#1
"""
LINKS = r"""
https://evil.example ¦ HTTPS://EVIL.EXAMPLE ¦ ftp://evil.example ¦ www.evil.example
mailto:a@evil.example ¦ xmpp:a@evil.example/x ¦ <https://evil.example>
<a@evil.example> ¦ <javascript:alert(1)> ¦ [c](https://evil.example/l)
[c](//evil.example) ¦ [c](javascript:alert(1)) ¦ [c][r] ¦ [c]: https://evil.example ¦ [r][] ¦ [^1]
[^1]: https://evil.example ¦ [x] ¦ ![p](https://evil.example/p.png) ¦ ![r][r]
[![b](https://evil.example/b.svg)](https://evil.example) ¦ `code`(https://evil.example)
<https://github.com/octo/app/pull/1> ¦ [x]: <https://evil.example> "t" ¦ [x](<//evil.example>)
![p][] ¦ [c](data:text/html,x) ¦ [c](https://evil.example "title") ¦ git@evil.example:x.git
[`code`](https://evil.example) ¦ ](https://evil.example) ¦ \[c](x) ¦ [c](x\)
"""
HTML = r"""
<img src=https://evil.example/q.png> ¦ <script>alert(1)</script>
<iframe src=x></iframe> ¦ <br> ¦ </details></details><h1>Approved</h1> ¦ </summary>
<details><summary>@octocat</summary> ¦ <!-- not closed ¦ --> ¦ <?php echo 1 ?>
<svg onload=alert(1)> ¦ <picture><source srcset=x></picture> ¦ <a href="//evil.example">x</a>
<!DOCTYPE html> ¦ <input type=checkbox> ¦ <imgsrc=x> ¦ &lt;b&gt;
<!-- comment --> ¦ <b>bold</b> ¦ <![CDATA[ x ]]> ¦ &lt;img src=x&gt; ¦ \<img src=x> ¦ <x ¦ <a@b
"""
MARKERS = r"""
<!-- reviewbot:summary --> ¦ <!-- reviewbot:state eJwrSy0qzszPAwAK1AK5 -->
<!-- reviewbot:finding 0123 F1 0123456789 -->
<!-- reviewbot:review sha=0123 event=APPROVE --> ¦ <!-- reviewbot:answer comment=1 -->
« secret:jwt » ¦ «secret:jwt» ¦ ⟨U+202E⟩
"""
COMMANDS = r"""
/debate fix ¦ /approve ¦ /hold cancel ¦ @dependabot merge ¦ > /debate fix ¦ /debate⏎/debate fix
 ␠␠/approve ¦ ␉/approve ¦ `/approve` ¦ \/approve
x⏎/approve ¦ x␍/approve ¦ x⏎⏎/approve ¦ ::error file=x::owned
␠␠::set-output name=verdict::approve ¦ ##[error]owned
##vso[task.setvariable variable=x]y ¦ x ##[error]owned ¦ x⏎::error::owned
x%0A::error::owned ¦ %0D%0A::error::owned ¦ ,title=x::owned ¦ file=x,line=1
"""
BLOCKS = r"""
# Approved ¦ Approved⏎=== ¦ Approved⏎--- ¦ --- ¦ - - - ¦ * item ¦ 1. item ¦ -␉item
- a⏎  - b⏎    - c ¦ - [ ] task ¦ - [x] task ¦ > quote ¦ > [!NOTE]⏎> fine
| a | b |⏎|---|---|⏎| 1 | 2 | ¦ | ¦ \| ¦ a \| b ¦ ``` ⏎x ¦ ```⏎x⏎```
```suggestion⏎import os⏎``` ¦ ~~~suggestion⏎import os⏎~~~
```mermaid⏎click A "https://evil.example"⏎``` ¦ suggestion ¦ Mermaid
```geojson⏎{}⏎``` ¦ ```math⏎x⏎``` ¦ > [!WARNING]⏎> x ¦ 1. [ ] task ¦ geojson x
```` ¦ ` ¦ ` ` ¦ `` ` ``
`a``b` ¦ `a ¦ x `@octocat` `#1 ¦ $x$ ¦ $`x`$ ¦ \(x\) ¦ **bold** ¦ __strong__ ¦ ~~gone~~
+ item ¦ 1) item ¦ *** ¦ _em_ ¦ ~~~ ¦ a | b
a*b*c ¦ :smile: ¦ :octocat: ¦ ␠␠␠␠indented ¦ line  ⏎break ¦ line\⏎break ¦ \\ ¦ &copy;
"""
CHARACTERS = [
    *("\x1b[31mred\x1b[0m", "\x1b]8;;https://evil.example\x1b\\x\x1b]8;;\x1b\\", "\x9b2J"),
    *("\u202etxt.exe", "\u2066x\u2069", "@\u200boctocat", "#\u00ad1", "/\u200bapprove"),
    *("<\u200bimg src=x>", "\ufeff/approve", "\ufeff::error::x", "\u2800"),
    *("\U000e0041\U000e0042", "\x00", "\x7f\x08\x08", "\udc80@octocat", "a\u2028b\u2029c"),
    *("a\x85b", "a\rb\r\nc", "\x0b\x0c", "é\u0301" * 50, "", " ", "\n\n\n"),
    *("x" * 2_000, "<" * 1_200, "\u202e" * 150, "@a " * 200, "|" * 600),
    *(sign.join("`" * count for count in range(1, 20)) for sign in "\n "),
]
# Between texts of a line, there is a broken bar.
SIGNS = str.maketrans({"⏎": "\n", "␍": "\r", "␉": "\t", "␠": " "})
TABLES = (MENTIONS, REFERENCES, LINKS, HTML, MARKERS, COMMANDS, BLOCKS)
TEXTS = [text.translate(SIGNS) for text in re.split(r" ¦ |\n+", "".join(TABLES).strip("\n"))]
TEXTS += CHARACTERS

URL = "https://github.com/octo/app/pull/1#discussion_r1"
RUN = "https://github.com/octo/app/actions/runs/1"
# Each field of a review once.
FINDINGS = (
    replace(
        PROVEN,
        result=BROKEN.result,
        positions=QUESTION.positions[1:],
        intentions=INTENDED.intentions[:1],
        opposed_by_author="callers round",
        carried="its lines did not change",
    ),
    replace(INTENDED, result=LINT.result, blocks=True),
)
REVIEW = replace(
    ALL,
    verdict="request_changes",
    findings=FINDINGS,
    gaps=ALL.gaps[:2],
    coverage=ALL.coverage[-1:],
    checks=ALL.checks[-1:],
    panel=ALL.panel[:1],
)
BUILTINS = msgspec.to_builtins(REVIEW)

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
PARSER.disable("text_join")  # what is escaped stays apart
BLOCK_TOKENS = {
    *("paragraph", "bullet_list", "list_item", "heading", "table", "thead", "tbody", "tr", "th"),
    *("td", "hr"),
}
ACTIVE = ("suggestion", "mermaid", "geojson", "topojson", "stl", "math")
OWN_HTML = re.compile(r"<details>\n<summary>[A-Za-z0-9 :,()]+</summary>\n|</details>\n?")
OWN_BOLD = re.compile(
    r"(Changes requested \(incomplete\)|Proven:|Question:|No longer found:|Dismissed:"
    r"|Not complete:|Notes:)\Z"
)
ALIVE = re.compile(
    r"@\w|#\d|://|www\.|mailto:|xmpp:|\bgh-\d|(?<!:):(?:[+-]1|100|[a-z_]+):(?!:)"
    r"|\b(?=[a-f]*\d)[0-9a-f]{7,40}\b",
    re.IGNORECASE,
)
RUNNER = re.compile(r"^\s*::|##\[|##vso\[", re.MULTILINE)
BOT = re.compile(r"^/[A-Za-z]", re.MULTILINE)


@cache
def hostile(text: str) -> tuple[Review, Page]:
    """A review and a page with the text in every field, apart from their own addresses."""
    endless = (text for _ in range(10_000))
    review = msgspec.convert(filled(BUILTINS, endless), Review)
    first = replace(review.findings[0], id="F1")
    about: Any = {"severity": "low", "status": "agreed", "dismissed": text, "dismissed_by": text}
    known = Remembered(id=text, key=text, title=text, reason=text, **about)
    page = Page(
        links={"F1": URL, text: f"{URL}) {text}"},
        fixed=(known,) * 2,
        dismissed=(known,),
        run_url=RUN,
    )
    return replace(review, findings=(first, *review.findings[1:])), page


def dangers(shown: str, *, links: Iterable[str] = (), is_comment: bool = False) -> list[str]:
    """What would be more than text on GitHub."""
    found = [f"hidden character {hidden.name}" for hidden in find_hidden(shown)]
    found += [f"command {match[0]!r}" for one in (RUNNER, BOT) for match in one.finditer(shown)]
    if shown.startswith(("<", "/")):
        found.append("the first line")
    depth = 0
    for token in PARSER.parse(shown):
        kind = re.sub("_(open|close)$", "", token.type)
        depth += token.nesting if kind == "bullet_list" else 0
        if kind == "html_block":
            found += [] if OWN_HTML.fullmatch(token.content) else [f"HTML {token.content!r}"]
        elif kind == "fence":
            if token.info.lower() in ACTIVE or not re.fullmatch(
                r"(?:[a-zA-Z][\w+-]*#?)?", token.info
            ):
                found.append(f"a block of {token.info}")
        elif kind == "inline":
            found += dangers_inline(token.children or [], links, is_comment)
        elif kind not in BLOCK_TOKENS or depth > 1 or (kind == "heading" and token.tag != "h3"):
            found.append(token.type)
    return found


def dangers_inline(tokens: list[Token], links: Iterable[str], is_comment: bool) -> list[str]:
    found, prose, bold = [], "", ""
    is_bold = False
    for token in tokens:
        match token.type:
            case "text":
                found += [f"unescaped {sign}" for sign in "$[]<~`" if sign in token.content]
                prose += token.content
            case "text_special":
                prose += token.content
            case "code_inline":
                prose += "\0"
            case "strong_open" | "strong_close":
                is_bold = token.type == "strong_open"
                if not is_bold and not is_comment and not OWN_BOLD.match(bold):
                    found.append(f"bold {bold!r}")
                bold = ""
                continue
            case "link_open":
                if token.attrGet("href") not in links:
                    found.append(f"a link to {token.attrGet('href')}")
            case "link_close" | "softbreak":
                prose += " "
            case _:
                found.append(f"{token.type} {token.content!r}")
        bold += token.content if is_bold else ""
    return found + [f"live {match[0]!r}" for match in ALIVE.finditer(prose)]


def check(results: Iterable[tuple[str, list[str]]]) -> None:
    failed = {text[:80]: found[:3] for text, found in results if found}
    assert failed == {}


def test_nothing_in_a_summary_and_in_the_body_of_a_review_is_live() -> None:
    pages = ((text, summary(*hostile(text))) for text in TEXTS)
    check((text, dangers(shown, links=(URL, RUN))) for text, shown in pages)
    check((text, dangers(review_body(hostile(text)[0]))) for text in TEXTS)


def test_nothing_in_a_comment_is_live() -> None:
    for number in range(len(FINDINGS)):
        comments = ((text, comment(hostile(text)[0].findings[number])) for text in TEXTS)
        check((text, dangers(shown, is_comment=True)) for text, shown in comments)


def answers(text: str) -> Iterable[str]:
    """What commands are answered with, and an audit says, with the text in every field."""
    review, page = hostile(text)
    said = Consultation((text,), (Position(text, 1, "real", text, (text, text)),), ())
    said = replace(said, absences=(Absence(text, text, text),))
    yield from (consultation(said, about_claim=about_claim) for about_claim in (False, True))
    yield from map(explanation, review.findings)
    named = {"title": text, "author": text, "diff": text, "explanation": text}
    lists = dict.fromkeys(("findings", "facts", "reasons", "dissent"), (text,))
    results = [
        TaskResult(kind="fix", outcome=outcome, **named, **lists)  # type: ignore[arg-type]
        for outcome in ("fixed", "suggested", "failed")
    ]
    yield from (fixes(found, (text,), text) for found in (results, ()))
    yield audit(review, Memory(findings=page.fixed), page, 12_000)


def test_nothing_in_an_answer_and_in_an_audit_is_live() -> None:
    assert len(set(TEXTS)) >= 200
    for text in TEXTS:  # which stands below a marker of ours
        shown = (dangers(f"-\n\n{s}", links=(URL, RUN), is_comment=True) for s in answers(text))
        check((text, found) for found in shown)


def test_a_suggestion_is_what_was_proven_or_nothing() -> None:
    offered = {}
    for text in TEXTS:
        shown = comment(PROVEN, suggestion=text)
        fences = [token for token in PARSER.parse(shown) if token.type == "fence"]
        buttons = [token.content for token in fences if token.info == "suggestion"]
        assert buttons in ([], [f"{text}\n"], [text]), text
        offered[text] = bool(buttons)
    assert offered["@octocat"]
    assert offered["```\nx\n```"]
    assert not offered["/approve"]
    assert not offered["«secret:jwt»"]
    assert not offered["\u202etxt.exe"]


def test_there_is_room_for_whatever_is_said() -> None:
    for text in ("\u202e" * 1_000, *(text for text in TEXTS if len(text) > 100)):
        for room in (100, 12_000):
            assert len(summary(*hostile(text), room).encode()) <= room, text
        for finding in hostile(text)[0].findings:
            assert len(comment(finding).encode()) <= MAX_BYTES, text


def test_nothing_in_the_message_of_a_commit_is_live() -> None:
    live = re.compile(r"[@#]\w|\w://\w|\bgh-\d|\[(?:[a-z]+ )?(?:ci|actions)\b", re.IGNORECASE)
    check((text, live.findall(dead(text))) for text in TEXTS)


def test_a_check_run_is_plain_and_its_title_short() -> None:
    for text in TEXTS:
        title = check_title(hostile(text)[0])
        assert not list(find_hidden(title)), text
        assert "\n" not in title, text
        assert len(title.encode()) <= 255, text
        for note in annotations(hostile(text)[0]):
            note.path.encode()
            assert not RUNNER.search(f"{note.title}\n{note.message}"), text
            assert not list(find_hidden(note.title + note.message)), text
            assert "\n" not in note.title, text


def test_each_line_for_the_runner_is_one_command_of_ours() -> None:
    own = re.compile(
        r"::(?:error|warning|notice) (?:file=[^:,\r\n]+,(?:line=\d+,endLine=\d+,)?)?"
        r"title=[^:,\r\n]+::.*"
    )
    for text in TEXTS:
        lines = render(hostile(text)[0], "github").split("\n")
        assert len(lines) == len(FINDINGS) + 2, text
        for line in lines:
            assert own.fullmatch(line), text
            assert not re.search(r"##\[|##vso\[", line), text
            assert not re.search(r"%0[AD]", line.split("::")[1]), text
            assert not list(find_hidden(line)), text


def test_nothing_in_the_log_of_a_job_is_live(capsys: pytest.CaptureFixture[str]) -> None:
    for text in TEXTS:
        for level, start in ((None, ""), ("error", "::error title=reviewbot::")):
            Runner({}).say(text, level)
            (line,) = capsys.readouterr().out.splitlines()
            assert line.startswith(start), text
            assert RUNNER.search(line.removeprefix(start)) is None, text
            assert "\x1b" not in line, text


def test_nothing_in_the_other_formats_is_live() -> None:
    for text in TEXTS:
        review = redacted(hostile(text)[0])
        names = ("text", "concise", "markdown", "json", "sarif")
        shown = {name: FORMATS[name](review, Style(verbose=True)) for name in names}
        assert dangers(shown["markdown"]) == [], text
        for name in ("text", "concise", "json", "sarif"):
            assert not list(find_hidden(shown[name])), (name, text)
        for name in ("text", "concise"):
            assert not RUNNER.search(shown[name]), (name, text)
        for result in json.loads(shown["sarif"])["runs"][0]["results"]:
            assert "](" not in result["message"]["text"], text


def test_no_file_keeps_a_review_busy(project: Project) -> None:
    """Each of these once took minutes, or hours, and no limit of time ended it."""
    project.commit("Before", {"README.md": "x\n"})
    files = {
        "a.js": "// eslint" + " " * 50_000 + "x off\n",
        "b.py": "x = 1\n" + "#" * 50_000 + " reviewbot:\n",
        "c.js": "->\n" * 4_000,
        "d.yml": "".join(" " * depth + "a:\n" for depth in range(300)),  # this ended the process
    }
    project.commit("After", files)
    started = time.process_time()
    review = project.review({"critic/first_pass": '{"claims": []}'})
    assert time.process_time() - started < 5
    assert len(review.coverage) == len(files)
