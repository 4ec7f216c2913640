"""Configuration: files, environment and flags; inline ignores; ignored files."""

import contextlib
import json
import time

import pytest
import yaml
from each import each
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reviewbot.config.dismissals import find_ignores, ignored
from reviewbot.config.load import (
    LayerKind,
    Loaded,
    describe,
    environment_layer,
    flag_layer,
    load_settings,
    read_layer,
    read_toml,
)
from reviewbot.config.yaml import MAX_BYTES, read_yaml
from reviewbot.errors import ConfigError

DOCUMENTED = """\
panel:
  critic:    {model: "anthropic:claude-sonnet-5"}
  reviewer:  {model: "openai:gpt-5.6"}
  licences:  {model: "openai:gpt-5.6", lens: "Licences of new dependencies, and nothing else."}
moderator:   {model: "gemini:gemini-3-pro"}
review:  {fail_on: none, min_severity: low, ignore: ["vendor/**"], instructions: ["AGENTS.md"]}
checks:  [{name: lint, run: ["make", "lint"], parse: sarif}, {name: ruff, off: true}]
limits:  {cost_usd: 0.50, seconds: 300}
hooks:   {commit: critical, push: high}
"""
KEY = "sk-ant-" + "a1B2c3D4e5F6g7H8i9J0"


def load(text: str | bytes, kind: LayerKind = "repository", name: str = ".reviewbot.yml") -> Loaded:
    content = text.encode() if isinstance(text, str) else text
    return load_settings([read_layer(name, kind, content)])


def test_the_documented_example_is_understood() -> None:
    loaded = load(DOCUMENTED)
    settings = loaded.settings
    assert settings.panel["licences"].lens.startswith("Licences")
    assert settings.moderator is not None
    assert (settings.checks[0].run, settings.checks[1].off) == (("make", "lint"), True)
    assert (settings.limits.cost_usd, settings.limits.seconds) == (0.5, 300)
    assert loaded.origins["review.ignore"] == ".reviewbot.yml:6"
    assert loaded.origins["panel.licences.lens"] == ".reviewbot.yml:4"
    assert loaded.origins["sandbox.kind"] == "default"
    assert loaded.notices == ()


FIRST = ".reviewbot.yml:1: "
ADDRESS = "providers: {a: {base_url: 'https://key@host/v1'}}"
WRONG: list[tuple[str | bytes, str]] = [
    ("review:\n  fail_one: high", ".reviewbot.yml:2: unknown key review.fail_one; did you mean r"),
    ("reviw: {}", f"{FIRST}unknown key reviw; did you mean review?"),
    ("zzz: {}", "unknown key zzz; known are panel, moderator, providers, review, checks"),
    ("panel:\n  critic:\n    modle: a", ".yml:3: unknown key panel.critic.modle; did you mean pa"),
    ("panel:\n  critic: {lens: a}", ".reviewbot.yml:2: panel.critic.model is missing"),
    ("panel: {'a.b': {model: x}}", "a name in panel has letters, digits"),
    (
        "review: {fail_on: hgh}",
        f"{FIRST}review.fail_on must be one of none, low, medium, high, cri",
    ),
    ("limits:\n  seconds: ten", ".yml:2: limits.seconds must be a whole number from 1 to 86400"),
    ("limits: {seconds: }", "limits.seconds must be a whole number from 1 to 86400"),
    ("limits: {cost_usd: -1}", "limits.cost_usd must be a number from 0 to 10000"),
    ("limits: 3", f"{FIRST}limits must be a mapping"),
    ("- a", f"{FIRST}the file must be a mapping"),
    ("panel:\n  critic:", ".reviewbot.yml:2: panel.critic.model is missing"),
    ("github: {skip_label: skip}", "skip_label must be a text that begins with reviewbot:"),
    ("panel: {a: {model: gpt-5}}", FIRST + "panel.a.model must be a text: `provider:model`"),
    ("panel: {a: {model: ''}}", FIRST + "panel.a.model must be a text: `provider:model`"),
    (ADDRESS, FIRST + "providers.a.base_url must be a text: an address without a user name"),
    ("review: {ignore: vendor}", "review.ignore must be a list"),
    ("checks: [{name: a, run: [b]}, {name: a, run: [c]}]", FIRST + "two checks are called a"),
    ("checks:\n- name: a\n  parse: x", ".reviewbot.yml:3: checks[0].parse must be one of gnu"),
    ("checks: [{name: a, off: 1}]", "checks[0].off must be true or false"),
    ("checks: [{name: a, ofg: true}]", "unknown key checks[0].ofg; did you mean checks[0].off?"),
    ("review: {}\nreview: {}", ".reviewbot.yml:2: the same key twice; the first is in line 1"),
    ("a: &x 1", f"{FIRST}a YAML anchor is not allowed"),
    ("a: !!python/object:os.system 1", f"{FIRST}a YAML tag is not allowed"),
    ("<<: {a: b}", f"{FIRST}a key must be a word"),
    ("? [a]\n: 1", FIRST),
    ("a: b\n---\nc: d", ".reviewbot.yml:2: a second document starts here"),
    ("a: [", "this is not YAML"),
    ("a: \x00", "is not YAML"),
    ("checks: " + "[" * 8 + "]" * 8, "this nests deeper than 8 levels"),
    ("[" * 50_000, f"{FIRST}this "),
    ("#" * (MAX_BYTES + 1), ".reviewbot.yml has 65,537 bytes"),
    (b"a: \xff", "is not UTF-8 (byte 3)"),
]


@each(("text", "message"), WRONG)
def test_what_is_wrong_is_named_with_its_line(text: str | bytes, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        load(text)
    assert message in str(error.value)


@each("text", [f"review: {{fail_on: {KEY}}}", f"{KEY}: 1", f"panel: {{x: {KEY}}}"])
def test_an_error_shows_no_secret(text: str) -> None:
    with pytest.raises(ConfigError) as error:
        load(text)
    assert KEY[8:] not in f"{error.value}{error.value.__cause__ or ''}"


@each("text", ["", "# x", "---\n", "review:\nlimits:\n", "\ufeffreview: {}\r\n"])
def test_a_file_that_says_nothing_changes_nothing(text: str) -> None:
    assert load(text).settings == load_settings([]).settings


SECTION = "[tool.reviewbot]\n"


@each(
    ("text", "message"),
    [
        ("[tool.reviewbot.limits]\n\nseconds = 'x'\n", "pyproject.toml: limits.seconds must be"),
        (f"{SECTION}review.fial_on = 1\n", "pyproject.toml: unknown key review.fial_on"),
        (f"{SECTION}a = " + "[" * 30_000, "pyproject.toml is not TOML: maximum recursion"),
        (SECTION + "a." * 30_000 + "a = 1\n", "has a key of more than 16 parts"),
        (f"{SECTION}a = " + "9" * 5_000, "pyproject.toml is not TOML"),
        (f"{SECTION}limits = {{cost_usd = nan}}", "must be a number from 0 to 10000"),
        (b"[tool.reviewbot]\nx = '\xff'\n", "pyproject.toml is not TOML: 'utf-8' codec can't"),
    ],
)
def test_a_pyproject_is_held_to_the_same_rules(text: str | bytes, message: str) -> None:
    started = time.monotonic()
    with pytest.raises(ConfigError) as error:
        load(text, name="pyproject.toml")
    assert message in str(error.value)
    assert time.monotonic() - started < 2


def test_a_pyproject_configures_or_says_nothing() -> None:
    text = '[project]\nname = "x"\n[tool.reviewbot.review]\nignore = ["a/**"]\nfail_on = "high"\n'
    loaded = load(text, name="pyproject.toml")
    assert loaded.settings.review.ignore == ("a/**",)
    assert loaded.origins["review.fail_on"] == "pyproject.toml"
    for text in ("not toml", "name = 'reviewbot'\n", "[tool.other]\nreviewbot = 1"):
        assert load(text, name="pyproject.toml").settings == load_settings([]).settings


def test_flags_environment_repository_user_and_defaults_in_this_order() -> None:
    layers = [
        flag_layer({"review.fail_on": "low", "limits.seconds": 9, "limits.cost_usd": None}),
        environment_layer({"REVIEWBOT_REVIEW__FAIL_ON": "medium", "REVIEWBOT_HOOKS__PUSH": "none"}),
        read_layer(".reviewbot.yml", "repository", b"review: {fail_on: high, min_severity: high}"),
        read_layer("~/.config/reviewbot/config.yml", "user", b"hooks:\n  push: low\n  commit: low"),
    ]
    for loaded in (load_settings(layers), load_settings(layers[::-1])):
        assert (loaded.settings.review.fail_on, loaded.settings.hooks.push) == ("low", "none")
        for key, origin in {
            "review.fail_on": "the options",
            "limits.seconds": "the options",
            "limits.cost_usd": "default",
            "hooks.push": "REVIEWBOT_HOOKS__PUSH",
            "review.min_severity": ".reviewbot.yml:1",
            "hooks.commit": "user file ~/.config/reviewbot/config.yml:3",
        }.items():
            assert loaded.origins[key] == origin


def test_environment_values_are_read_as_the_type_of_their_key() -> None:
    variables = {
        "REVIEWBOT_LIMITS__SECONDS": "90",
        "REVIEWBOT_LIMITS__COST_USD": "2.5",
        "REVIEWBOT_REVIEW__IGNORE": "vendor/**, *.min.js",
        "REVIEWBOT_PANEL__CRITIC__MODEL": "openai:123",
        "REVIEWBOT_REVIEW__FAIL_ON": "",
        "REVIEWBOT_TOKEN": "no key of the configuration",
        "PATH": "/bin",
    }
    settings = load_settings([environment_layer(variables)]).settings
    assert (settings.limits.seconds, settings.limits.cost_usd) == (90, 2.5)
    assert settings.review.ignore == ("vendor/**", "*.min.js")
    assert settings.panel["critic"].model == "openai:123"
    assert settings.review.fail_on == "none"


def test_a_wrong_variable_is_named() -> None:
    for name, value, message in (
        ("REVIEW__FAIL_ONE", "x", "REVIEWBOT_REVIEW__FAIL_ONE: unknown key review.fail_o"),
        ("LIMITS__SECONDS", "x", "REVIEWBOT_LIMITS__SECONDS: limits.seconds must be a w"),
        ("LIMITS__COST_USD", "nan", "must be a number from 0"),
        ("PANEL__CRITIC", "x", "REVIEWBOT_PANEL__CRITIC: panel.critic must be a mapping"),
        ("CHECKS", "a", "REVIEWBOT_CHECKS: checks[0] must be a mapping"),
    ):
        variables = {f"REVIEWBOT_{name}": value, "REVIEWBOT_PANEL__CRITIC__LENS": "x"}
        with pytest.raises(ConfigError) as error:
            load_settings([environment_layer(variables)])
        assert message in str(error.value)


def test_a_repository_makes_limits_stricter_and_never_looser() -> None:
    user = read_layer("config.yml", "user", b"limits: {cost_usd: 2.0}")
    text = b"limits:\n  cost_usd: 5\n  seconds: 60"
    loaded = load_settings([user, read_layer(".reviewbot.yml", "repository", text)])
    assert (loaded.settings.limits.cost_usd, loaded.settings.limits.seconds) == (2.0, 60)
    assert loaded.origins["limits.cost_usd"] == "user file config.yml:1"
    assert loaded.notices == (
        ".reviewbot.yml:2: a repository may only lower limits.cost_usd;"
        " 2.0 (user file config.yml:1) stays.",
    )


def test_a_repository_may_not_choose_the_sandbox() -> None:
    text = "sandbox:\n  kind: none"
    with pytest.raises(ConfigError, match=r"^\.reviewbot\.yml:2: a repository may not set sandbox"):
        load(text)
    assert load(text, "user").settings.sandbox.kind == "none"


def test_of_two_files_of_a_repository_the_first_that_says_something_counts() -> None:
    empty = read_layer(".reviewbot.yaml", "repository", b"# nothing")
    first = read_layer(".reviewbot.yml", "repository", b"review: {fail_on: high}")
    second = read_layer("pyproject.toml", "repository", b"[tool.reviewbot.limits]\nseconds = 9")
    loaded = load_settings([empty, first, second])
    assert (loaded.settings.review.fail_on, loaded.settings.limits.seconds) == ("high", 600)
    assert loaded.notices == ("pyproject.toml does not count, because .reviewbot.yml exists.",)


def test_the_description_has_every_key_with_its_origin_and_no_secret() -> None:
    text = f"panel:\n  critic: {{model: 'a:b', lens: '{KEY}'}}\nreview: {{ignore: [a, b]}}"
    rows = {key: (value, origin) for key, value, origin in describe(load(text))}
    assert rows["review.ignore"] == ('["a", "b"]', ".reviewbot.yml:3")
    assert rows["limits.cost_usd"] == ("1.0", "default")
    assert rows["panel.critic.lens"] == ("«secret:anthropic-key»", ".reviewbot.yml:2")
    assert rows["moderator"] == ("null", "default")
    assert set(rows) == set(load(text).origins)


TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x85\u2028\u2029"),
    min_size=1,
    max_size=20,
).filter(lambda text: text != "<<")
VALUES = st.recursive(
    st.booleans() | st.integers(-(10**9), 10**9) | st.floats(-1e6, 1e6) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=6,
)


@settings(max_examples=50)
@given(VALUES)
@example(0.00012482519344662315)
def test_json_is_read_as_it_was_written(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False)
    try:
        yaml.safe_load(text)
    except yaml.YAMLError:
        return  # not every JSON text is YAML: control characters, long keys
    assert read_yaml(text.encode(), "x").value == value


@settings(max_examples=50)
@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode()))
def test_any_bytes_are_values_or_one_error(content: bytes) -> None:
    for text in (content, b"# reviewbot\n" + content):
        for read in (read_yaml, read_toml):
            with contextlib.suppress(ConfigError):
                read(text, "x")


@each(
    ("path", "text", "line"),
    [
        ("a.py", "x = f()  # IGNORE\n", 1),
        ("a.py", "# IGNORE\nx = f()\n", 2),
        ("a.py", "x = '#'  # noqa: E501  # IGNORE\n", 1),
        ("a.py", "def broken(:\n    x  # IGNORE\n", 2),
        ("a.js", "f()// IGNORE\n", 1),
        ("a.js", "f('//') /* IGNORE */\n", 1),
        ("a.html", "<!-- IGNORE -->\n<p>\n", 2),
        ("a.sh", "x=$#  # IGNORE\n", 1),
        ("a.yml", "a: 1 # IGNORE\r\n", 1),
    ],
)
def test_an_ignore_applies_to_its_line_or_the_next(path: str, text: str, line: int) -> None:
    text = text.replace("IGNORE", "reviewbot: ignore[race, B006] tested by hand")
    (found,) = find_ignores(path, text)
    assert (found.rules, found.reason) == (("race", "B006"), "tested by hand")
    assert found.line == line


@each(
    "comment",
    [
        "# reviewbot: ignore",
        "# reviewbot: ignore because",
        "# reviewbot: ignore[] because",
        "# reviewbot: ignore[a]",
        "# reviewbot: ignored elsewhere",
    ],
)
def test_an_ignore_without_rules_or_reason_ignores_nothing(comment: str) -> None:
    for path in ("a.py", "a.sh", "test_a.py"):
        assert not [*find_ignores(path, f"x  {comment}\n")]


def test_text_that_is_no_comment_ignores_nothing() -> None:
    for path, text in (
        ("a.py", "x = '# reviewbot: ignore[a] b'\n"),
        ("a.js", 'x = "\\"// reviewbot: ignore[a] b"\n'),
        ("a.sh", "echo a#reviewbot: ignore[a] b\n"),
        ("a.py", "# write `# reviewbot: ignore[rule] reason` to ignore a rule\n"),
        ("a.json", '{"a": 1} // reviewbot: ignore[a] b\n'),
        ("a.py", "# reviewbot is ignored\n"),
    ):
        assert not [*find_ignores(path, text)], text


@settings(max_examples=50)
@given(
    st.sampled_from(["a.py", "a.js", "a.sh", "a.html"]),
    st.lists(st.sampled_from([*"#/*'\"`\\\n\rx", "//", "reviewbot:", "ignore[a]", "b"])),
)
def test_any_text_gives_ignores_of_its_lines(path: str, words: list[str]) -> None:
    text = " ".join(words)
    for found in find_ignores(path, f"{text}\n# reviewbot: ignore[a] b\n"):
        assert 1 <= found.comment_line <= found.line <= text.count("\n") + 3


def test_ignored_files_follow_gitignore() -> None:
    is_ignored = ignored(["vendor/**", "*.min.js", "docs/", "!docs/keep.md"])
    paths = "vendor/a/b.py x/a.min.js docs/a.md src/a.py docs/keep.md"
    assert [*filter(is_ignored, paths.split())] == ["vendor/a/b.py", "x/a.min.js", "docs/a.md"]
    with pytest.raises(ConfigError, match=r"review\.ignore: "):
        ignored(["!"])
