"""Who outranks whom, and what a repository may not do."""

from __future__ import annotations

import pytest

from reviewbot.config import Configuration, Source, load
from reviewbot.config.keys import KEYS, Power
from reviewbot.errors import ConfigError


def repository(text: str) -> tuple[Source, ...]:
    return (Source(".reviewbot.yml", text.encode()),)


def user(text: str) -> Source:
    return Source("~/.config/reviewbot/config.yml", text.encode())


def test_flags_outrank_environment_outranks_repository_outranks_user_outranks_defaults():
    said: dict = {}
    order = [("default", 2)]
    assert load().setting("debate.rounds").value == 2
    for layer, value, origin in (
        ({"user": user("debate: {rounds: 1}")}, 1, "~/.config/reviewbot/config.yml line 1"),
        ({"repository": repository("debate: {rounds: 3}")}, 3, ".reviewbot.yml line 1"),
        ({"environ": {"REVIEWBOT__DEBATE__ROUNDS": "4"}}, 4, "environment REVIEWBOT__DEBATE__ROUNDS"),
        ({"flags": {"debate.rounds": (5, "--rounds")}}, 5, "--rounds"),
    ):
        said |= layer
        setting = load(**said).setting("debate.rounds")
        order.append((setting.origin, setting.value))
        assert (setting.value, setting.origin) == (value, origin)


@pytest.mark.parametrize(
    "text",
    [
        "setup: [make]",
        "providers: {ollama: {base_url: 'http://127.0.0.1:11434'}}",
        "providers: {ollama: {allow_plain_http: true}}",
        "providers: {ollama: {usd_per_hour: 1}}",
        "providers: {ollama: {local: true}}",
        "providers: {openai: {api_key_env: AWS_SECRET_ACCESS_KEY}}",
        "prices: [{model: 'a:b', input: 1, output: 2}]",
        "ledger: 'postgresql://someone:secret@localhost/reviews'",
    ],
)
def test_an_operator_key_is_refused_in_a_repository_and_taken_from_the_user(text: str):
    with pytest.raises(ConfigError, match=r"is an operator key \(\.reviewbot\.yml line 1\)"):
        load(repository=repository(text))
    assert load(user=user(text)).settings


@pytest.mark.parametrize(
    ("name", "loose", "tight"),
    [
        ("limits.seconds", 900, 30),
        ("limits.cost_usd", 5, 0),
        ("limits.tokens", 500_000, 1_000),
        ("fix.attempts", 9, 1),
        ("sandbox", "unconfined", "none"),
    ],
)
def test_a_repository_tightens_and_never_loosens(name: str, loose: object, tight: object):
    def written(value: object) -> tuple[Source, ...]:
        parts = name.split(".")
        return repository("{" + ": {".join(parts) + f": {value}" + "}" * len(parts))

    default = load().value(name)
    loosened = load(repository=written(loose))
    assert loosened.value(name) == default
    assert any(name in notice and "looser than the operator allows" in notice for notice in loosened.notices)
    tightened = load(repository=written(tight))
    assert tightened.value(name) == tight
    assert not any("looser" in notice for notice in tightened.notices)


def test_the_user_may_loosen_and_a_repository_may_go_up_to_that():
    held = load(user=user("limits: {seconds: 900}"), repository=repository("limits: {seconds: 600}"))
    assert held.value("limits.seconds") == 600
    held = load(user=user("limits: {seconds: 900}"), repository=repository("limits: {seconds: 901}"))
    assert held.value("limits.seconds") == 900


def test_every_ceiling_and_power_of_the_operator_is_closed_to_repositories():
    for key in KEYS:
        if key.power is Power.OPERATOR:
            assert not key.tightens(key.default, None)


@pytest.mark.parametrize(
    ("variable", "words"),
    [
        ("REVIEWBOT__DEBATE__ROUNDZ", "did you mean REVIEWBOT__DEBATE__ROUNDS"),
        ("REVIEWBOT__DEBATE", "unknown key in the environment"),
        ("REVIEWBOT__", "unknown key in the environment"),
        ("REVIEWBOT__DEBATE__ROUNDS", "debate.rounds is 'many' (environment REVIEWBOT__DEBATE__ROUNDS)"),
    ],
)
def test_a_wrong_variable_is_named(variable: str, words: str):
    with pytest.raises(ConfigError) as refusal:
        load(environ={variable: "many"})
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("REVIEWBOT__LIMITS__COST_USD", "1", "limits.cost_usd", 1.0),
        ("REVIEWBOT__DISPLAY__LIVE", "false", "display.live", False),
        ("REVIEWBOT__FIX__MODE", "off", "fix.mode", "off"),
        ("REVIEWBOT__REVIEW__IGNORE", "['*.lock', vendor/**]", "review.ignore", ("*.lock", "vendor/**")),
        ("REVIEWBOT__PANEL__CRITIC__LENS", "3", "panel.critic.lens", "3"),
        ("REVIEWBOT__REVIEW__FAIL_ON", "", "review.fail_on", "none"),
    ],
)
def test_a_variable_is_read_as_its_key_asks(variable: str, text: str, name: str, value: object):
    assert load(environ={variable: text, "PATH": "/bin", "REVIEWBOT": "x"}).value(name) == value


@pytest.mark.parametrize(
    "text",
    [
        "ledger: 'mysql://someone:hunter2@localhost/x'",
        "ledger: [hunter2]",
        "providers: {openai: {api_key_env: 'sk-hunter2'}}",
    ],
)
def test_a_refused_value_that_may_hold_a_secret_is_not_quoted(text: str):
    with pytest.raises(ConfigError) as refusal:
        load(user=user(text))
    assert "hunter2" not in str(refusal.value)
    assert "line 1" in str(refusal.value)


def test_an_empty_ledger_is_sqlite_and_an_environment_may_name_another():
    assert load(user=user("ledger: ''")).get("ledger", str) == ""
    there = "postgresql://someone:secret@localhost/reviews"
    assert load(environ={"REVIEWBOT__LEDGER": there}).get("ledger", str) == there


def test_a_price_is_a_record_of_numbers():
    held = load(user=user("prices: [{model: 'a:b', input: 1, cached_input: 0.1, output: 2}]"))
    assert [dict(price) for price in held.records("prices")] == [
        {"model": "a:b", "input": 1.0, "cached_input": 0.1, "output": 2.0}
    ]
    with pytest.raises(ConfigError, match=r"prices\[0\] lacks 'output'"):
        load(user=user("prices: [{model: 'a:b', input: 1}]"))


def test_a_lens_is_capped():
    held = load(repository=repository("panel: {a: {lens: '" + "x" * 4_000 + "'}}"))
    assert len(held.get("panel.a.lens", str)) == 4_000
    with pytest.raises(ConfigError, match="at most 4,000 characters"):
        load(repository=repository("panel: {a: {lens: '" + "x" * 4_001 + "'}}"))


def test_a_library_may_set_lists_and_is_told_of_a_wrong_name():
    assert load(flags={"review.ignore": (["*.lock"], "settings")}).texts("review.ignore") == ("*.lock",)
    with pytest.raises(ConfigError, match=r"did you mean 'debate\.rounds'"):
        load(flags={"debate.round": (1, "settings")})


def test_the_first_file_that_configures_counts_and_the_other_is_told():
    toml = Source("pyproject.toml", b"[tool.reviewbot.debate]\nrounds = 5\n")
    held = load(repository=(*repository("debate: {rounds: 3}"), toml))
    assert held.value("debate.rounds") == 3
    assert held.notices == ("pyproject.toml is not read: .reviewbot.yml configures this repository",)
    assert load(repository=(*repository("# nothing"), toml)).value("debate.rounds") == 5


@pytest.mark.parametrize(
    "text",
    [
        "panel: {critic: {model: 'a:b', fallback: c, lens: x, role: y, context_window: 4096}}",
        "moderator: {model: a}",
        "panels: {big: {critic: {model: 'a:b'}}}",
        "providers: {openai: {default_model: x}}",
        "review: {instructions: [AGENTS.md], path_rules: [{path: a, instructions: b}]}",
        "display: {live: false, show_prompts: true}",
        "debate: {effort: high, tools: false}",
    ],
)
def test_what_a_panel_of_models_needs_is_no_longer_announced_for_later(text: str):
    assert load(repository=repository(text)).notices == ()


def test_what_is_set_to_its_default_is_no_news():
    assert load(repository=repository("fix: {mode: off}\ndisplay: {live: true}")).notices == ()


def test_a_value_of_another_type_or_name_is_a_bug_of_the_caller():
    with pytest.raises(TypeError, match="holds int, not str"):
        load().get("debate.rounds", str)
    with pytest.raises(KeyError):
        Configuration().value("debate.nothing")


def test_every_key_has_a_row_and_chosen_names_only_where_set():
    names = [name for name, _ in load(user=user("panel: {a: {model: 'x:y'}}")).rows()]
    assert "panel.a.model" in names
    assert "version" in names
    assert not [name for name in names if "*" in name]
