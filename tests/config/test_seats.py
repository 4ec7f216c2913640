"""Who sits on the panel."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.config import Configuration, Source, load
from reviewbot.config.deal import Offer
from reviewbot.config.models import ModelSpec, choice
from reviewbot.config.offers import key_variable, offer
from reviewbot.config.seats import TRIO, Seating, providers_named, seating
from reviewbot.errors import ConfigError
from tests.rings import examples

VENDORS = (
    ("anthropic", ("ANTHROPIC_API_KEY",), True, "claude"),
    ("openai", ("OPENAI_API_KEY",), True, "gpt"),
    ("openai-responses", ("OPENAI_API_KEY",), True, "gpt"),
    ("gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY"), True, "gem"),
    ("bedrock", (), True, ""),
    ("openrouter", ("OPENROUTER_API_KEY",), True, "auto"),
    ("ollama", ("OLLAMA_HOST",), False, ""),
)


def configured(text: str = "", users: str = "") -> Configuration:
    return load(repository=(Source(".reviewbot.yml", text.encode()),), user=Source("config.yml", users.encode()))


def seated(text: str = "", *keys: str, users: str = "", panel: str | None = None, models: tuple[str, ...] = ()) -> Seating:
    """Everyone at the table where ``keys`` are in the environment."""
    held = configured(text, users)
    environ = dict.fromkeys(keys, "x")
    table = {name: (names, needs, model) for name, names, needs, model in VENDORS}
    table |= {name: ((), True, "") for name in held.names("providers") if name not in table}
    offers = tuple(
        offer(held, name, names=names, needs_key=needs, default_model=model, environ=environ)
        for name, (names, needs, model) in table.items()
    )
    return seating(held, offers, panel=panel, models=models)


def specs(found: Seating) -> dict[str, str]:
    seats = (*found.seats, *((found.moderator,) if found.moderator else ()))
    return {seat.name: str(seat.spec) for seat in seats}


A, O, G = "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"  # noqa: E741


def test_without_a_key_and_a_word_the_static_panel_sits():
    found = seated()
    assert found.is_static
    assert found.moderator is None
    assert "no key" in found.why
    assert found.notices == ()


def test_one_key_seats_its_provider_in_all_roles():
    assert specs(seated("", O)) == dict.fromkeys((*TRIO, "moderator"), "openai:gpt")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ((A, O), ("anthropic:claude", "openai:gpt", "anthropic:claude", "openai:gpt")),
        ((O, A), ("anthropic:claude", "openai:gpt", "anthropic:claude", "openai:gpt")),
        ((A, O, G), ("anthropic:claude", "openai:gpt", "gemini:gem", "anthropic:claude")),
        ((A, O, G, "OPENROUTER_API_KEY"), ("anthropic:claude", "openai:gpt", "gemini:gem", "openrouter:auto")),
    ],
)
def test_several_keys_spread_the_roles_and_the_moderator_is_who_sits_least(keys: tuple[str, ...], expected: tuple[str, ...]):
    assert tuple(specs(seated("", *keys)).values()) == expected


def test_the_static_panel_can_be_forced_and_not_mixed():
    found = seated("panel: {critic: {model: openai}}", O, panel="static")
    assert found.is_static
    assert "--panel" in found.why
    with pytest.raises(ConfigError, match="exclude each other"):
        seated("", O, panel="static", models=("openai",))


def test_what_is_configured_wins_over_keys():
    text = "panel: {a: {model: 'openai:x', role: critic, lens: look}, b: {model: openai, context_window: 4096}}"
    found = seated(text, A, O)
    assert specs(found) == {"a": "openai:x", "b": "openai:gpt", "moderator": "openai:x"}
    first, second = found.seats
    assert (first.role, first.lens, first.context_window) == ("critic", "look", None)
    assert (second.role, second.lens, second.context_window) == ("b", "", 4096)
    assert found.why.startswith("panel as configured")


def test_code_goes_nowhere_else_than_where_the_panel_says():
    """A key that happens to be here is no reason to send anything to a vendor beside a panel that somebody chose."""
    text = "panel: {critic: {model: 'ollama:q'}, reviewer: {}, tester: {lens: x}}"
    found = seated(text, A, O)
    assert set(specs(found).values()) == {"ollama:q"}


def test_seats_without_a_model_are_dealt_where_no_seat_has_one():
    found = seated("panel: {security: {lens: who may}, critic: {role: critic}}", A, O)
    assert specs(found) == {"security": "anthropic:claude", "critic": "openai:gpt", "moderator": "anthropic:claude"}


@pytest.mark.parametrize("empty", ["{}", ""])
def test_a_seat_of_which_nothing_is_said_still_sits(empty: str):
    found = seated(f"panel:\n  tester: {empty}\n  critic: {empty}\n", O)
    assert [(seat.name, seat.role) for seat in found.seats] == [("tester", "tester"), ("critic", "critic")]
    assert seated(f"panel: {empty}\npanels: {empty}\nmoderator: {empty}\nproviders: {{x: {{}}}}", O).seats == seated("", O).seats


def test_a_default_model_of_the_configuration_counts():
    assert specs(seated("providers: {openai: {default_model: small}}", O))["critic"] == "openai:small"


def test_ollama_sits_where_its_address_and_a_model_are_set():
    assert seated("", "OLLAMA_HOST").is_static
    assert "providers.ollama.default_model" in seated("", "OLLAMA_HOST").notices[0]
    assert set(specs(seated("", "OLLAMA_HOST", users="providers: {ollama: {default_model: 'q:1b'}}")).values()) == {"ollama:q:1b"}
    assert seated("providers: {ollama: {default_model: q}}").is_static, "nobody asked for it"
    assert set(specs(seated("panel: {critic: {model: 'ollama:q'}}")).values()) == {"ollama:q"}


def test_a_server_of_ones_own_is_a_provider_and_needs_no_key():
    users = "providers: {gpu: {base_url: 'http://127.0.0.1:8000/v1', default_model: big}}"
    assert specs(seated("", users=users))["critic"] == "gpu:big"
    with_key = users.replace("default_model", "api_key_env: GPU_KEY, default_model")
    assert seated("", users=with_key).why == "static panel: GPU_KEY is not set"
    assert specs(seated("", "GPU_KEY", users=with_key))["critic"] == "gpu:big"
    assert set(specs(seated("", O, users=with_key)).values()) == {"openai:gpt"}, "nobody is dealt what cannot be asked"


def test_a_panel_is_chosen_by_name_with_its_own_moderator():
    text = "panel: {x: {model: openai}}\nmoderator: {model: openai}\npanels: {big: {y: {model: 'anthropic:a'}, moderator: {model: 'gemini:m'}}}"
    assert [seat.name for seat in seated(text, A, O, G, panel="big").seats] == ["y"]
    assert specs(seated(text, A, O, G, panel="big")) == {"y": "anthropic:a", "moderator": "gemini:m"}
    assert specs(seated(text, A, O, G)) == {"x": "openai:gpt", "moderator": "openai:gpt"}
    assert specs(seated(text, A, O, G, panel="models")) == specs(seated(text, A, O, G))
    with pytest.raises(ConfigError, match="there is no panel 'bigg'; did you mean 'big'"):
        seated(text, A, panel="bigg")


def test_asking_for_models_where_there_can_be_none_is_an_error():
    for words in ({"panel": "models"}, {"models": ("openai",)}, {"models": ("critic=openai:x",)}):
        with pytest.raises(ConfigError, match=r"no key is here|is not set"):
            seated("", **words)


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        (
            ("critic=gemini:m",),
            {"critic": "gemini:m", "reviewer": "anthropic:claude", "optimizer": "openai:gpt", "moderator": "anthropic:claude"},
        ),
        (("openai:x",), dict.fromkeys((*TRIO, "moderator"), "openai:x")),
        (("openai",), dict.fromkeys((*TRIO, "moderator"), "openai:gpt")),
        (
            ("openai:x", "anthropic:y"),
            {"critic": "openai:x", "reviewer": "anthropic:y", "optimizer": "openai:x", "moderator": "anthropic:y"},
        ),
        (
            ("openai:x", "openai:y"),
            {"critic": "openai:x", "reviewer": "openai:y", "optimizer": "openai:x", "moderator": "openai:y"},
        ),
        (
            ("openai:x", "critic=anthropic:y"),
            {"critic": "anthropic:y", "reviewer": "openai:x", "optimizer": "openai:x", "moderator": "openai:x"},
        ),
        (
            ("moderator=gemini:m",),
            {"critic": "anthropic:claude", "reviewer": "openai:gpt", "optimizer": "gemini:gem", "moderator": "gemini:m"},
        ),
    ],
)
def test_models_are_chosen_on_the_command_line(models: tuple[str, ...], expected: dict[str, str]):
    assert specs(seated("", A, O, G, models=models)) == expected


@pytest.mark.parametrize(
    ("text", "models", "words"),
    [
        ("", (), "panel by the keys that are here: critic openai:gpt, "),
        ("panel: {critic: {model: openai}, tester: {}}", (), "panel as configured: critic openai:gpt, tester openai:gpt"),
        ("panel: {critic: {model: openai}}", ("openai:x",), "panel as chosen with --model: critic openai:x"),
        ("", ("critic=openai:x",), "panel as chosen with --model: critic openai:x, "),
    ],
)
def test_one_line_says_why_they_sit_there(text: str, models: tuple[str, ...], words: str):
    assert seated(text, O, models=models).why.startswith(words)


def test_that_line_names_the_moderator_where_one_can_be_asked():
    assert seated("moderator: {model: 'openai:m'}", O).why.endswith(", optimizer openai:gpt, moderator openai:m")
    assert "moderator" not in seated("moderator: {model: 'anthropic:m'}", O).why


def test_a_flag_adds_a_seat_of_a_known_role_and_replaces_one_by_name_or_role():
    text = "panel: {one: {model: openai, role: critic, context_window: 2048}}"
    assert specs(seated(text, A, O, models=("tester=anthropic:t",))) == {
        "one": "openai:gpt",
        "tester": "anthropic:t",
        "moderator": "openai:gpt",
    }
    for seat in ("one", "critic"):
        found = seated(text, A, O, models=(f"{seat}=anthropic:t",))
        assert specs(found)["one"] == "anthropic:t"
        assert found.seats[0].context_window is None, "the window was that of another model"
    with pytest.raises(ConfigError, match="did you mean 'optimizer'"):
        seated(text, A, O, models=("optimiser=openai:x",))


def test_one_chosen_seat_without_any_key_is_joined_by_its_own_model():
    assert set(specs(seated("", models=("critic=ollama:q",))).values()) == {"ollama:q"}


def test_a_flag_for_all_seats_outranks_what_is_written_for_each():
    text = "panel: {critic: {model: 'anthropic:a'}}\nmoderator: {model: 'anthropic:m'}"
    assert specs(seated(text, A, O, models=("openai:x",))) == {"critic": "openai:x", "moderator": "openai:x"}


def test_a_seat_whose_key_is_missing_stays_empty_and_is_told():
    text = "panel: {critic: {model: anthropic}, reviewer: {model: openai}}"
    found = seated(text, O)
    assert [seat.vacant for seat in found.seats] == ["ANTHROPIC_API_KEY is not set", ""]
    assert "panel.critic.model (.reviewbot.yml line 1)" in found.notices[0]
    assert str(found.moderator and found.moderator.spec) == "openai:gpt"


def test_a_seat_without_a_model_is_dealt_nobody_whose_key_is_missing():
    found = seated("panel: {critic: {model: anthropic}, reviewer: {model: openai}, tester: {}, security: {lens: x}}", O)
    assert specs(found)["security"] == "openai:gpt"
    assert not found.seats[-1].vacant


def test_a_fallback_whose_key_is_here_sits_at_once():
    found = seated(
        "panel: {critic: {model: anthropic, fallback: 'openai:f', context_window: 2048}, reviewer: {model: openai, fallback: gemini}}",
        O,
    )
    assert [(str(seat.spec), seat.fallback, seat.vacant) for seat in found.seats] == [
        ("openai:f", None, ""),
        ("openai:gpt", None, ""),
    ]
    assert found.seats[0].context_window is None
    alone = seated("panel: {critic: {model: anthropic, fallback: 'openai:f'}}", O)
    assert specs(alone) == {"critic": "openai:f", "moderator": "openai:f"}
    both = seated("panel: {critic: {model: anthropic, fallback: 'openai:f'}}", A, O)
    assert both.seats[0].fallback == ModelSpec("openai", "f")


def test_a_configured_panel_of_which_nobody_has_a_key_leaves_the_static_panel_and_says_so():
    found = seated("panel: {critic: {model: anthropic}, reviewer: {model: openai}}")
    assert found.is_static
    assert "ANTHROPIC_API_KEY is not set; OPENAI_API_KEY is not set" in found.notices[0]
    mixed = seated("panel: {critic: {model: anthropic}, tester: {lens: x}}")
    assert mixed.why == "static panel: ANTHROPIC_API_KEY is not set"
    with pytest.raises(ConfigError, match="nobody can sit"):
        seated("panel: {critic: {model: anthropic}}", panel="models")


def test_a_moderator_without_a_key_is_told_and_the_panel_sits():
    found = seated("panel: {critic: {model: openai}}\nmoderator: {model: anthropic}", O)
    assert found.moderator is not None
    assert found.moderator.vacant
    assert "moderator stays empty" in found.notices[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "panel: {critic: {model: 'anthropc:x'}}",
            "panel.critic.model (.reviewbot.yml line 1) names the provider 'anthropc', which is not known; did you mean 'anthropic'?",
        ),
        ("panel: {critic: {fallback: 'opnai'}}", "panel.critic.fallback names the provider 'opnai'"),
        ("moderator: {model: olama}", "did you mean 'ollama'?"),
        (
            "panel: {critic: {model: ollama}}",
            "names ollama without a model; write ollama:MODEL, or set providers.ollama.default_model",
        ),
    ],
)
def test_a_wrong_name_is_told_with_its_key(text: str, words: str):
    with pytest.raises(ConfigError) as refusal:
        seated(text, A)
    assert words in str(refusal.value)


@pytest.mark.parametrize("text", ["", "a b", "critic=", "=x", "critic=a b", ":x", "x:", "--panel"])
def test_a_model_that_is_none_is_refused(text: str):
    with pytest.raises(ConfigError, match="write provider:model"):
        choice(text)


def test_a_model_name_may_hold_colons_slashes_and_equal_signs():
    assert choice("critic=ollama:qwen3-coder:30b").spec == ModelSpec("ollama", "qwen3-coder:30b")
    assert choice("openrouter:meta/llama=x") == choice("openrouter:meta/llama=x")
    assert choice("openrouter:meta/llama=x").spec.model == "meta/llama=x"
    assert str(choice("openai").spec) == "openai"


def test_every_provider_that_is_spoken_of_is_known_to_the_wiring():
    held = configured(
        "panel: {a: {model: 'p:1', fallback: q}}\nmoderator: {model: r}\npanels: {x: {y: {model: 's:2'}}}\nproviders: {t: {default_model: u}}"
    )
    assert set(providers_named(held, ("critic=v:3", "w"))) == set("pqrstvw")


def test_a_key_is_looked_for_under_its_configured_name_else_the_vendors():
    names = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    assert key_variable(Configuration(), "gemini", names, environ={"GOOGLE_API_KEY": "x"}) == "GOOGLE_API_KEY"
    assert key_variable(Configuration(), "gemini", names, environ={}) == "GEMINI_API_KEY"
    held = configured(users="providers: {gemini: {api_key_env: MINE}}")
    assert key_variable(held, "gemini", names, environ={"GOOGLE_API_KEY": "x"}) == "MINE"


keys = st.lists(st.sampled_from([A, O, G, "OPENROUTER_API_KEY"]), unique=True, min_size=1)


@given(keys, st.integers(1, 7))
@settings(max_examples=examples(40), derandomize=True)
def test_seats_are_spread_as_evenly_as_they_can_be(present: list[str], count: int):
    text = "panel: {" + ", ".join(f"s{number}: {{lens: x}}" for number in range(count)) + "}"
    found = seated(text, *present)
    sits = [list(specs(found).values()).count(model) for model in set(specs(found).values())]
    assert max(sits) - min(sits) <= 1
    assert len(sits) == min(len(present), count + 1)
    for order in itertools.islice(itertools.permutations(present), 3):
        assert seated(text, *order) == found, "the order of the environment decides nothing"


@given(st.text(max_size=30))
@settings(max_examples=examples(200), derandomize=True)
def test_any_text_behind_model_is_a_choice_or_one_named_error(text: str):
    try:
        found = choice(text)
    except ConfigError:
        return
    assert not found.seat or text.startswith(f"{found.seat}=")
    assert text.endswith(str(found.spec))


def test_offers_carry_no_key_value():
    held = Configuration()
    found = offer(held, "openai", names=("K",), needs_key=True, default_model="m", environ={"K": "canary"})
    assert found == Offer("openai", "m", is_ready=True, is_invited=True, key_name="K")
    assert "canary" not in repr(found)


def test_a_model_that_is_typed_again_keeps_the_window_that_was_written_for_it():
    text = "panel: {critic: {model: 'openai:a', context_window: 9000}}"
    (same,) = seated(text, O, models=("critic=openai:a",)).seats
    (other,) = seated(text, O, models=("critic=openai:b",)).seats
    assert (same.context_window, other.context_window) == (9000, None), "a replay types every model"
