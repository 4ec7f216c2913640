"""Secrets, hidden characters, line ends, neutral text, and classes of files.

The samples of secrets are put together here, so that this file holds none.
"""

from __future__ import annotations

import re
import time

from each import each
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from reviewbot.text import markdown
from reviewbot.text.files import classify, language_of
from reviewbot.text.hidden import find_hidden, find_line_ends, visible
from reviewbot.text.plain import plain, without_commands
from reviewbot.text.secrets import FORMATS, find_secrets, redact

A = "a1B2c3D4e5F6g7H8i9J0"
HEX = "0123456789abcdef"
PEM = "-----BEGIN RSA PRIVATE " + "KEY-----\n" + (A * 3 + "\n") * 4
SECRETS = {
    "aws-access-key": "AKIA" + "QWERTYUIOPASDFGH",
    "aws-secret-key": 'aws_secret_access_key = "'
    + "wJalrXUtnFEMI/K7MDENG/bPxRfiCYabcdefghij"
    + '"',
    "github-token": "ghp_" + A + A,
    "gitlab-token": "glpat-" + A,
    "anthropic-key": "sk-ant-" + "api03-" + A,
    "openrouter-key": "sk-or-v1-" + HEX * 4,
    "openai-key": "sk-proj-" + A + A,
    "groq-key": "gsk_" + A * 2 + A[:12],
    "google-api-key": "AIza" + "SyA1234567890abcdefghijklmnopqrstuv",
    "google-oauth-secret": "GOCSPX-" + A + A[:8],
    "stripe-key": "sk_live_" + A,
    "stripe-webhook-secret": "whsec_" + A + A,
    "slack-token": "xoxb-" + "123456789012-" + A,
    "slack-webhook": "https://hooks.slack.com/services/" + "T01234567/B01234567/" + A,
    "shopify-token": "shpat_" + HEX * 2,
    "npm-token": "npm_" + A + A[:16],
    "pypi-token": "pypi-AgE" + "IcHlwaS5vcmc" + A * 4,
    "huggingface-token": "hf_" + A + A[:14],
    "sendgrid-key": "SG." + A + "ab." + A + A + "abc",
    "twilio-key": "SK" + HEX * 2,
    "digitalocean-token": "dop_v1_" + HEX * 4,
    "azure-storage-key": "AccountKey=" + A * 4 + "abcdef" + "==",
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9." + "eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0." + A,
    "private-key": PEM + "-----END RSA PRIVATE " + "KEY-----",
    "url-password": "postgres://app:" + "correct-horse" + "@db.example.org/app",
}
# Forms beside these, one for each other anchor of a format.
MORE = [
    ("aws-access-key", "ASIA" + "QWERTYUIOPASDFGH"),
    ("github-token", "github_pat_" + A + "ab_" + A * 3),
    ("openai-key", "sk-" + A + "T3Blbk" + "FJ" + A),
    *(("github-token", f"gh{letter}_" + A + A) for letter in "ousr"),
    *(("openai-key", f"sk-{kind}-" + A) for kind in ("svcacct", "admin")),
    *(("stripe-key", f"{kind}_" + A) for kind in ("rk_live", "sk_test")),
    *(("shopify-token", f"shp{kind}_" + HEX * 2) for kind in ("ca", "pa", "ss")),
    *(("digitalocean-token", f"do{kind}_v1_" + HEX * 4) for kind in "or"),
    *(
        ("aws-secret-key", f"{key}: " + SECRETS["aws-secret-key"].partition("= ")[2])
        for key in ["AWS_KEY", "AwsKey", "aws.key", "secret_access_key", "SecretAccessKey"]
    ),
]


def test_a_secret_is_redacted_and_the_lines_stay() -> None:
    assert list(SECRETS) == list(dict.fromkeys(form.name for form in FORMATS))
    for name, secret in (*SECRETS.items(), *MORE):
        text = f"before {secret} after\n"
        shown, count = redact(text)
        assert (count, shown.count("\n")) == (1, text.count("\n")), name
        assert re.fullmatch(rf"before .*«secret:{name}».* after\n", shown, re.DOTALL), shown
        assert A not in shown, name
    for form in FORMATS:
        known = [text for name, text in (*SECRETS.items(), *MORE) if name == form.name]
        assert any(re.search(form.pattern, text) for text in known), form.anchors


@each("glue", ["x{}", "_{}", "-{}", "{}_", "{}-", "{}/", '"{}"', "({})"])
def test_a_secret_that_is_glued_to_a_word_is_found(glue: str) -> None:
    for name, secret in SECRETS.items():
        (found,) = find_secrets(glue.format(secret))
        assert found.name == name


@each(
    "text",
    [
        "key = os.environ['AWS_SECRET_ACCESS_KEY']",
        'if "-----BEGIN PRIVATE ' + 'KEY-----" in text:',
        "-----BEGIN PRIVATE " + "KEY-----\nMIIE...\n-----END PRIVATE " + "KEY-----",
        *["postgres://user:password@localhost/db", "postgres://postgres:postgres@localhost/db"],
        "https://{user}:{password}@host/ https://$USER:$TOKEN@host/ https://%s:%s@host/",
        "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        *["aws_commit = 4b825dc642cb6eb9a060e54bf8d69288fbee4904", "http://localhost:8080/a@b"],
        "sk-learn-contrib and sk_live and AKIA and TASK" + HEX * 2,
        "AKIA" + "IOSFODNN7EXAMPLE",
        "ghp_" + "x" * 40,
        "sk-ant-" + "your-key-goes-here-please",
        "A" * 50 + "AKIA" + "QWERTYUIOPASDFGH" + "A" * 50,
    ],
)
def test_ordinary_code_and_placeholders_are_no_secrets(text: str) -> None:
    assert redact(text) == (text, 0)


def test_a_private_key_without_its_end_is_redacted() -> None:
    shown, count = redact(PEM + "def after(): pass\n")
    assert (count, A in shown, shown.count("\n")) == (1, False, 6)
    assert shown.endswith("def after(): pass\n")


def test_secrets_that_overlap_are_one_and_those_that_touch_are_two() -> None:
    text = SECRETS["github-token"] + SECRETS["jwt"]
    (found,) = find_secrets(text)
    assert (found.start, found.end) == (0, len(text))
    text = SECRETS["aws-access-key"] + SECRETS["google-oauth-secret"]
    assert redact(text) == ("«secret:aws-access-key»«secret:google-oauth-secret»", 2)


PIECES = [*SECRETS.values(), *(piece for form in FORMATS for piece in form.anchors.split())]


@settings(max_examples=50)
@given(st.lists(st.sampled_from([*PIECES, " ", "\n", "x", "_", "-", '"', "@h", ":"]), max_size=12))
@example(["sk-or-v1-" + HEX * 3 + "0" * 16, "AKIA" + "QWERTYUIOPASDFGH"])
@example([f"https://{SECRETS['github-token']}@example.org"])
def test_redacting_twice_changes_nothing_and_keeps_the_lines(pieces: list[str]) -> None:
    text = "".join(pieces)
    shown, _ = redact(text)
    assert redact(shown) == (shown, 0)
    assert shown.count("\n") == text.count("\n")


@each(
    "piece",
    [
        *("eyJ", "eyJaaaaaaaaaa.", "://a:", "aws", "aws_secret", "AccountKey=", "sk-ant-", "AIza"),
        *("xoxb-1-", "github_pat_", "A" * 99, "AKIA", "secretAccessKey"),
        *(SECRETS[name] for name in ("npm-token", "twilio-key", "aws-access-key", "jwt")),
        "-----BEGIN PRIVATE " + "KEY-----",
    ],
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    started = time.process_time()
    redact(piece * (100_000 // len(piece)))
    assert time.process_time() - started < 0.25


# --- hidden characters


@each(
    ("text", "kind", "name"),
    [
        ("a\u202eb", "bidi", "RIGHT-TO-LEFT OVERRIDE"),
        ("a\u2066b", "bidi", "LEFT-TO-RIGHT ISOLATE"),
        ("a\u200bb", "zero_width", "ZERO WIDTH SPACE"),
        ("a\ufeffb", "zero_width", "ZERO WIDTH NO-BREAK SPACE"),
        ("a\U000e0041b", "tag", "TAG LATIN CAPITAL LETTER A"),
        ("a\U000e0080b", "tag", "UNNAMED CHARACTER"),
        ("a\U000e01f0b", "tag", "UNNAMED CHARACTER"),
        ("a\U000e0100b", "zero_width", "VARIATION SELECTOR-17"),
        ("a\U0001d173b", "zero_width", "MUSICAL SYMBOL BEGIN BEAM"),
        *[("a\u3164b", "filler", "HANGUL FILLER"), ("a\x1bb", "control", "ESCAPE")],
        *[("a\u2028b", "control", "LINE SEPARATOR"), ("a\udcffb", "control", "UNDECODABLE BYTE")],
        *[("a\rb", "control", "CARRIAGE RETURN"), ("x\u200d👩", "zero_width", "ZERO WIDTH JOINER")],
        ("👩\u200dx", "zero_width", "ZERO WIDTH JOINER"),
        ("x\ufe0f", "zero_width", "VARIATION SELECTOR-16"),
        ("❤\ufe00", "zero_width", "VARIATION SELECTOR-1"),
    ],
)
def test_a_hidden_character_is_found_and_shown(text: str, kind: str, name: str) -> None:
    (hidden,) = find_hidden(text)
    assert (hidden.kind, hidden.name, hidden.offset) == (kind, name, 1)
    assert visible(text) == f"{text[0]}⟨U+{hidden.codepoint:04X}⟩{text[2:]}"


@each(
    "text",
    [
        *("tab\tand line\n", "crlf\r\n", "x\r", "日本語 ñ é", "\ufeffstart"),
        *("👩\u200d💻", "❤\ufe0f", "❤\ufe0f\u200d🔥", "1\ufe0f\u20e3", "👁\ufe0f\u200d🗨\ufe0f"),
        *["🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "می\u200cشود"],
        *["क्\u200dष", "שלום\u200f!", "ថ្ងៃ\u200bនេះ\u200b\u200bថ្ងៃ"],
    ],
)
def test_writing_is_left_alone(text: str) -> None:
    assert visible(text) == text


def test_more_than_two_in_a_row_are_hidden_text_and_so_are_other_tags_of_a_flag() -> None:
    for run in ("\ufe0f" * 3, "\u200d\u200c\u200d", "\ufe0e\ufe0f\U000e0100"):
        for before in "❤ش":
            assert len(list(find_hidden(f"{before}{run}👩"))) == 3
    assert len(list(find_hidden("🏴\U000e0067\U000e0062\U000e0041\U000e007f"))) == 4


@settings(max_examples=50)
@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_visible_text_hides_nothing_and_keeps_its_lines(text: str) -> None:
    shown = visible(text)
    assert list(find_hidden(shown)) == []
    assert shown.count("\n") == text.count("\n")


# --- line ends


@each(
    ("path", "text"),
    [
        *[
            *[("a.py", "# hi\rimport os\n"), ("a.yml", "# hi\revil: true\n")],
            ("a.c", "// hi\revil();\n"),
        ],
        *[("a.js", f"// hi{end}evil()\n") for end in "\u2028\r"],
        ("a.ts", "// hi\u2029evil()\n"),
        *[("A.java", f"// hi{end}evil();\n") for end in ("\r", " \\u000a ", " \\uuu000D ")],
        ("a.py", "# coding: utf-7\n"),
        ("a.py", "#!/usr/bin/python\n# -*- coding: unicode_escape -*-\n"),
        # Of these, Python passes over the first.
        *[
            ("a.py", f"# {no} coding: utf-7\n")
            for no in ("CODING: utf-8", "coding: \u017fjis", "coding:")
        ],
    ],
)
def test_a_line_end_that_git_does_not_show_is_found(path: str, text: str) -> None:
    ((line, message),) = find_line_ends(path, text)
    assert line == text.count("\n")
    if text == "# hi\rimport os\n":
        assert message == "U+000D ends the line for python, so what follows it is code"


@each(
    ("path", "text"),
    [
        *[("a.py", "# hi\r\nx = 1\r\n"), ("a.py", "# hi" + "\r" * 100 + "\n")],
        ("a.py", "# hi\u2028x = 1\n"),
        ("a.py", "# coding: latin-1\n# vim: set fileencoding=utf-8 :\n"),
        ("a.py", "# coding: utf-8, not coding: utf-7\n"),  # Python reads the first
        *[("a.py", "\n\n# coding: utf-7\n"), ("a.go", "// hi\rx\n"), ("a.sh", "# hi\rx\n")],
        *[("A.java", '// "\\\\u000a" is text\n'), ("A.java", "// ends with \\u000a\n")],
        ("a.md", "hi\rx\n"),
    ],
)
def test_what_ends_no_line_of_the_language_is_not_reported(path: str, text: str) -> None:
    assert list(find_line_ends(path, text)) == []


def test_long_lines_are_read_in_linear_time() -> None:
    started = time.process_time()
    for path, text in (("A.java", "//" * 10_000), ("a.py", "# " + "coding:utf-8 " * 2_000)):
        assert list(find_line_ends(path, text)) == []
    without_commands("\n" * 20_000)
    assert time.process_time() - started < 0.25


# --- terminal and Markdown


@each(
    ("text", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m \x1b]0;title\x07words", "red words"),
        *[("a\u202eb\x07", "a⟨U+202E⟩b⟨U+0007⟩"), ("two\nlines\r\n", "two lines")],
        *[("good\revil", "good⟨U+000D⟩evil"), ("a\tb", "a   b"), ("::error::x", ": :error::x")],
        *[("  ::error::x", "  : :error::x"), ("std::vector", "std::vector")],
        ("x ##[error]y ##vso[z]", "x ## [error]y ## vso[z]"),
    ],
)
def test_a_line_for_a_terminal(text: str, shown: str) -> None:
    assert plain(text) == shown


@each(
    ("text", "safe"),
    [
        ("plain words, `code` and snake_case", "plain words, `code` and snake_case"),
        ("ask @user, fixes #1.", "ask `@user`, fixes `#1`."),
        ("a **bold** word", "a \\*\\*bold\\*\\* word"),
        ("call __init__ of list[int]", "call \\_\\_init\\_\\_ of list\\[int\\]"),
        ("see https://evil.example.", "see `https://evil.example`."),
        ("[bait](https://evil.example)", "\\[bait\\](`https://evil.example`)"),
        *[("/debate fix", "`/debate` fix"), ("a/b and /etc/passwd", "a/b and /etc/passwd")],
        ("('@a.') calls f('#1;') (see g('&#9;'))", "('`@a`.') calls `f('#1;')` (see `g('&#9;')`)"),
        ("<!-- x --> &lt;", "\\<!-- x --> \\&lt;"),
        *[("-1 is less than 2.5", "-1 is less than 2.5"), ("1. x", "1\\. x"), ("# x", "\\# x")],
        *[("x`code`@user", "x`code` `@user`"), ("> x", "\\> x"), ("::error::x", "\\::error::x")],
        *[("x | y", "x &#124; y"), ("two\n\nlines", "two lines"), ("a\u202eb", "a⟨U+202E⟩b")],
        ("", ""),
    ],
)
def test_a_line_of_markdown(text: str, safe: str) -> None:
    assert markdown.inline(text) == safe


TRICKS = (
    r"""
@everyone @acme/team &#64;user &commat;user \@user @**user** **@**user [@](x)user `@user`x @user`
fixes~#1 closes~acme/shop#3 #\1 &num;1 GH-12 /debate /lgtm <https://evil.example> www.evil.example
https://evil.example/x http&#58;//evil.example https:\//evil.example a@evil.example <a@evil.example>
[x](https://evil.example~'title') ![x](https://evil.example/p.png) [^1] [x]: <b>x</b> <!--~x~-->
<script>alert(1)</script> <details> ::error::x ##[error]x #\#[error]x ` `` ``` ~~~ * ** _ __ \ | > #
1. 1) - + --- === - [~] $x$ $`x`$ `a`@b ``a`@b`` word é x`code`@user \` \\ (@user) '#1'
""".replace("~~~", "TILDES")
    .replace("~", " ")
    .replace("TILDES", "~~~")
    .split("\n")
)
WORDS = [word for line in TRICKS for word in (*line.split(), "\n", "\n\n", " ", "\t", "    ")]
HOSTILE = st.lists(
    st.sampled_from(WORDS) | st.text("ab `*_[]()<>@#/:!&;\\\n-+.1~|\"'$", max_size=6), max_size=12
).map("".join) | st.text(max_size=40)
GITHUB = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def tokens(text: str) -> list[Token]:
    return [inner for token in GITHUB.parse(text) for inner in (token.children or [token])]


@settings(max_examples=50)
@given(HOSTILE)
@example("x`code`@user")
@example("`a``b` ``c``")
@example("@everyone` `")
@example("\\`x`#1`")
@example("@` `a`b`")
@example("1GH-12")
@example("| a | @x |")
def test_no_inline_text_is_live(text: str) -> None:
    line = markdown.inline(text)
    assert "\n" not in line
    assert not re.match(r"\s*(::|/[A-Za-z])", line)
    assert "##[" not in line
    for place in (f"{line}\n", f"before {line} after\n", f"- {line}\n"):
        for token in tokens(place):
            assert token.type in {
                *("paragraph_open", "paragraph_close", "text", "text_special", "code_inline"),
                *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
                "inline",
            }
        rendered = re.sub(r"<code>.*?</code>", "<code>", GITHUB.render(place), flags=re.DOTALL)
        assert not re.search(r"@\w|#\d|://|www\.|gh-\d", rendered, re.IGNORECASE)
    row = GITHUB.render("| a | b |\n|---|---|\n| {} | end |\n".format(line.replace("|", r"\|")))
    assert "<td>end</td>" in row


@settings(max_examples=50)
@given(HOSTILE, st.sampled_from(["", "python", "suggestion", "x`\n@user"]))
@example("/lgtm\n```\n::error::x", "sh")
def test_a_block_is_one_fence(text: str, language: str) -> None:
    written = markdown.block(text, language)
    (fence,) = GITHUB.parse(written)
    assert fence.type == "fence"
    assert fence.info in ("", "python", "suggestion", "sh")
    assert not re.search(r"^(/[a-z]|\s*::)|##\[", written, re.MULTILINE)


@settings(max_examples=50)
@given(HOSTILE)
def test_a_code_span_is_code(text: str) -> None:
    written = markdown.code(text)
    kinds = [token.type for token in tokens(written) if not token.type.startswith("paragraph")]
    assert kinds == (["code_inline"] if written else [])


# --- classes of files


CLASSES = {
    "source": "src/app.py=python src/data/load.py=python src/latest.java=java compose.x.yaml=yaml"
    " Dockerfile.dev=dockerfile CMakeLists.txt=cmake docs/conf.py=python changes.py=python"
    " .github/workflows/ci.yml=yaml bin/run= .envrc=shell src/licenses/parser.zig=",
    "test": "shop/tests.py=python test.js=javascript tests/test_app.py=python"
    " src/app.test.ts=typescript pkg/app_test.go=go"
    " src/AppTest.java=java src/data/tests/test_a.py=python",
    "fixture": "tests/data/broken.py=python pkg/testdata/x.go=go src/__snapshots__/a.js=javascript"
    " {{a.b}}/c/d.py=python {%if_a%}d{%endif%}.py=python",
    "documentation": "README.md=markdown LICENSE= LICENSES/MIT= .changelog/48.fixed="
    " LICENSES/old/GPL-3.0-only= newsfragments/7.bugfix=",
    "data": "requirements.txt= config/app.yml=yaml .gitignore= logo.svg=xml uv.lock="
    " Gemfile.lock=ruby web/package-lock.json=json",
    "generated": "api/app_pb2.py=python static/app.min.js=javascript",
    "vendored": "vendor/lib/a.go=go",
}


def test_classes_of_files() -> None:
    for kind, files in CLASSES.items():
        for path, _, language in (file.partition("=") for file in files.split()):
            assert (classify(path), language_of(path) or "") == (kind, language), path
