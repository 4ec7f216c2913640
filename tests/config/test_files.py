"""Files of configuration: what is understood, and how everything else is refused, with its line."""

from __future__ import annotations

import contextlib
import json
import time

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from reviewbot.config import Source, load
from reviewbot.config.node import MAX_BYTES, Entries, Items, Node, Scalar
from reviewbot.config.read_toml import read_toml
from reviewbot.config.read_yaml import read_yaml
from reviewbot.errors import ConfigError

DOCUMENTED = b"""\
version: 1
panel:
  critic:    {model: "anthropic:claude-sonnet-5"}
  reviewer:  {model: "openai:gpt-5.6"}
  optimizer: {model: "ollama:qwen3-coder:30b", context_window: 32768}
moderator:   {model: "gemini:gemini-3-pro"}
debate:
  criteria: {correctness: 5, security: 5, performance: 3, maintainability: 3, tests: 2}
  rounds: 2                 # per disputed claim
  round_seconds: 120
  max_disputes: 6
  posting: balanced
review:
  fail_on: high
  min_severity: low
  max_comments: 10
  ignore: ["**/*.lock", "vendor/**"]
  instructions: ["AGENTS.md"]
  path_rules: [{path: "db/**", instructions: "look twice"}]
checks:
  - preset: ruff
  - preset: pytest
  - {name: golangci, run: [golangci-lint, run, --output.sarif.path=stdout], parser: sarif}
fix: {mode: off, attempts: 2}
limits: {cost_usd: 0.50, seconds: 300, tokens: 400000}
"""


def plain(node: Node | None) -> object:
    """A tree as the Python values that a full YAML reader would give."""
    if isinstance(node, Entries):
        return {name: plain(inner) for name, _, inner in node.entries}
    if isinstance(node, Items):
        return [plain(item) for item in node.items]
    return node.value if isinstance(node, Scalar) else None


def of(text: str | bytes, name: str = ".reviewbot.yml"):
    data = text.encode() if isinstance(text, str) else text
    return load(repository=(Source(name, data),))


def test_the_documented_example_is_understood():
    held = of(DOCUMENTED)
    assert held.get("debate.rounds", int) == 2
    assert held.get("limits.seconds", float) == 300.0
    assert held.texts("review.ignore") == ("**/*.lock", "vendor/**")
    assert held.names("panel") == ("critic", "reviewer", "optimizer")
    assert [dict(check).get("preset") for check in held.records("checks")] == ["ruff", "pytest", None]
    assert held.origin("review.fail_on") == ".reviewbot.yml line 14"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("debat: {rounds: 1}", "unknown key 'debat' (.reviewbot.yml line 1); did you mean 'debate'?"),
        ("version: 1\nrounds: 3", "unknown key 'rounds' (.reviewbot.yml line 2); did you mean 'debate.rounds'?"),
        ("panel:\n  critic:\n    modle: a", "'panel.critic.modle' (.reviewbot.yml line 3); did you mean 'panel.critic.model'?"),
        ("debate:\n  rounds: 1\n  rounds: 2", "duplicate key 'rounds' (.reviewbot.yml line 3, first on line 2)"),
        ("debate:\n  rounds: two", "debate.rounds is 'two' (.reviewbot.yml line 2); expected a whole number from 0 to 5"),
        ("debate: {rounds: true}", "debate.rounds is 'true'"),
        ("debate: {rounds: 6}", "from 0 to 5"),
        ("debate: {rounds: 1.5}", "from 0 to 5"),
        ("debate: {rounds: }", "debate.rounds has no value"),
        ("debate: 3", "debate is not a mapping (.reviewbot.yml line 1)"),
        ("debate: {posting: loud}", "expected one of precise, balanced, exhaustive"),
        ("review: {ignore: vendor}", "review.ignore is 'vendor' (.reviewbot.yml line 1); expected a list"),
        ("review: {ignore: [1]}", "review.ignore[0] is '1'"),
        ("review: {instructions: [../x]}", "expected a path inside the repository"),
        ("review: {instructions: [/etc/passwd]}", "expected a path inside the repository"),
        ("review: {path_rules: [{path: a}]}", "review.path_rules[0] lacks 'instructions'"),
        ("checks: [{run: [a]}]", "checks[0] lacks 'name'"),
        ("checks: [{preset: ruff, run: [a], name: b}]", "checks[0] needs one of preset, run"),
        ("checks: [{preset: ruff, requird: true}]", "did you mean 'required'?"),
        ("limits: {seconds: .inf}", "expected a number"),
        ("limits: {seconds: 1e999}", "expected a number"),
        ("limits: {tokens: " + "9" * 5000 + "}", "expected a whole number"),
        ("display: {live: yes}", "expected true or false"),
        ("version: 2", "version is '2'"),
        ("- 1", "is not a mapping of keys"),
        ("text", "is not a mapping of keys"),
        ("a: &x 1", "line 1 sets an anchor (&x)"),
        ("version: 1\na: *x", "line 2 uses an alias (*x)"),
        ("version: !!python/object:os.system 1", "line 1 sets a tag"),
        ("version: ! 1", "sets a tag"),
        ("version: 1\n---\nversion: 1", "line 2 starts a second document"),
        ("? [a]\n: 1", "has a key that is not a word"),
        ("a: [", "is not YAML"),
        ("a: \x00", "is not YAML"),
        ("checks: " + "[" * 8 + "]" * 8, "nests deeper than 8 levels"),
        ("[" * 50_000, "nests deeper than 8 levels"),
        ("#" * (MAX_BYTES + 1), "has 65,537 bytes"),
        ("k" * 900 + ": 1", "unknown key '" + "k" * 60 + "…'"),
        (b"a: \xff", "is not UTF-8 (byte 3)"),
        ('review: {ignore: ["\\ud800"]}', "is not YAML"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str | bytes, words: str):
    with pytest.raises(ConfigError) as refusal:
        of(text)
    assert words in str(refusal.value)


@pytest.mark.parametrize("text", ["", "# nothing", "---\n", "debate:\nreview:\n", "\ufeffversion: 1\n", "version: 1\r\n"])
def test_what_says_nothing_changes_nothing(text: str):
    assert of(text).notices == ()


def test_eight_levels_are_read():
    assert read_yaml(b"[" * 8 + b"]" * 8, "x")


def test_off_is_a_word():
    assert of("fix: {mode: off}").value("fix.mode") == "off"


def test_a_quoted_number_is_a_text():
    with pytest.raises(ConfigError, match="expected a whole number"):
        of('debate: {rounds: "2"}')


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[tool.reviewbot.debate]\n\nrounds = 9\n", "debate.rounds is '9' (pyproject.toml line 3)"),
        ("[tool.reviewbot]\ndebate.roundz = 1\n", "unknown key 'debate.roundz' (pyproject.toml line 2)"),
        ('[ tool . "reviewbot" ]\ndebate = {rounds = "x"}\n', "debate.rounds is 'x' (pyproject.toml line 2)"),
        ("[tool.reviewbot]\nversion = 1979-05-27\n", "holds a date"),
        ("[tool.reviewbot]\nversion = 1\nversion = 1\n", "is not TOML"),
        ("tool.reviewbot = 1\n", "is not a mapping of keys"),
        ("[tool.reviewbot]\nversion = " + "[" * 30_000, "nests too deeply"),
        ("[tool.reviewbot]\n" + "a." * 30_000 + "a = 1\n", "more than 16 parts"),
        ("[tool.reviewbot]\n" + '"." . ' * 10_000 + "a = 1\n", "more than 16 parts"),
        ("[tool.reviewbot]\n" + "[[a]]\n" * 20_000, "bytes"),
        (b"[tool.reviewbot]\nx = '\xff'\n", "is not UTF-8"),
        ("[tool.reviewbot]\n" + ".".join("abcdefghij") + " = 1", "nests deeper than 8 levels"),
    ],
)
def test_a_project_file_is_held_to_the_same_rules(text: str | bytes, words: str):
    begun = time.perf_counter()
    with pytest.raises(ConfigError) as refusal:
        of(text, "pyproject.toml")
    assert words in str(refusal.value)
    assert time.perf_counter() - begun < 2


@pytest.mark.parametrize(
    "text", ["[project]\nname = 'x'\n", "not toml at all", "name = 'reviewbot'\n", "[tool.other]\nreviewbot = 1"]
)
def test_a_project_file_that_does_not_configure_is_no_error(text: str):
    assert of(text, "pyproject.toml").settings == {}


def test_a_project_file_configures():
    held = of('[project]\nname = "x"\n[tool.reviewbot.review]\nignore = ["a/**"]\nfail_on = "high"\n', "pyproject.toml")
    assert held.texts("review.ignore") == ("a/**",)
    assert held.origin("review.fail_on") == "pyproject.toml line 5"


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x85\u2028\u2029"), min_size=1, max_size=20)
values = st.recursive(
    st.booleans() | st.integers(-(10**9), 10**9) | st.floats(-1e6, 1e6) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
).filter(lambda value: depth(value) <= 8)


def depth(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(depth, inner), default=0)


@given(values)
@example(0.00012482519344662315)
def test_json_is_read_as_it_was_written(value: object):
    text = json.dumps(value, ensure_ascii=False)
    try:
        yaml.safe_load(text)
    except yaml.YAMLError:
        return  # not every JSON text is YAML: control characters, long keys
    assert plain(read_yaml(text.encode(), "x")) == value


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_a_tree_or_one_named_error(data: bytes):
    for read in (lambda: read_yaml(data, "x"), lambda: read_toml(b"# reviewbot\n" + data, "x"), lambda: of(data)):
        with contextlib.suppress(ConfigError):
            read()
