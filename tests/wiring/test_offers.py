"""Which providers could sit here, and where they answer."""

from __future__ import annotations

import importlib.util

import pytest

from reviewbot.adapters.panel.vendors import VENDORS
from reviewbot.errors import ConfigError
from reviewbot.wiring.offers import account, is_known, is_local, offered, seated, vendor_of
from tests.wiring.configured import an_order, configured

KEY = "sk-test-0123456789-never-to-be-seen"
LAB = "providers: {lab: {base_url: 'http://10.255.0.1:8000/v1', default_model: coder}}"


def test_every_vendor_is_offered_once_in_the_order_of_the_table() -> None:
    names = [offer.provider for offer in offered(an_order({}), configured())]
    assert names == [vendor.name for vendor in VENDORS if vendor.name != "openai-responses"]
    assert not [offer for offer in offered(an_order({}), configured()) if offer.is_invited]


def test_a_second_way_to_a_provider_is_offered_to_who_names_it() -> None:
    order = an_order({}, models=("openai-responses:gpt-5.6",))
    assert "openai-responses" in [offer.provider for offer in offered(order, configured())]


def test_a_key_and_an_address_are_invitations() -> None:
    order = an_order({"OPENAI_API_KEY": KEY, "OLLAMA_HOST": "http://127.0.0.1:1", "GOOGLE_API_KEY": KEY})
    invited = [offer.provider for offer in offered(order, configured(users=LAB)) if offer.is_invited]
    assert invited == ["openai", "gemini", "ollama", "lab"]


def test_an_empty_key_is_none() -> None:
    assert seated(an_order({"OPENAI_API_KEY": ""}), configured()).is_static


def test_one_key_seats_its_vendors_default_model_everywhere() -> None:
    seating = seated(an_order({"GEMINI_API_KEY": KEY}), configured())
    assert {str(seat.spec) for seat in seating.seats} == {"gemini:gemini-3.8-flash"}
    assert KEY not in repr(seating)


def test_a_key_whose_library_is_not_installed_takes_no_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    environ = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "anthropic" else found(name))
    seating = seated(an_order(environ), configured())
    assert {seat.spec.provider for seat in seating.seats} == {"openai"}
    assert seating.notices == ("anthropic is not asked: what it needs is not installed; pip install 'reviewbot[anthropic]'",)
    written = seated(an_order(environ), configured(users="panel: {critic: {model: 'anthropic:m'}}"))
    assert str(written.seats[0].spec) == "anthropic:m", "who is named is asked, and its seat lost with the reason"


def test_without_the_ledgers_library_the_static_panel_reviews_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "sqlalchemy" else found(name))
    seating = seated(an_order({"OPENAI_API_KEY": KEY}), configured())
    assert seating.is_static
    assert "pip install 'reviewbot[openai]'" in "".join(seating.notices)
    assert not seated(an_order({"OPENAI_API_KEY": KEY}, models=("openai:m",)), configured()).is_static


def test_a_provider_that_does_not_exist_is_named_with_what_to_do() -> None:
    assert not is_known("nowhere", configured())
    with pytest.raises(ConfigError, match="nowhere"):
        vendor_of("nowhere", configured())
    with pytest.raises(ConfigError, match=r"--model .*names the provider 'nowhere'") as raised:
        seated(an_order({}, models=("nowhere:m",)), configured())
    assert "providers.nowhere.base_url" in str(raised.value.hint)


def test_an_address_makes_a_provider() -> None:
    made = account("lab", configured(users=LAB), {"LAB_API_KEY": KEY})
    assert (made.name, made.base_url, made.key, made.allow_plain_http) == ("lab", "http://10.255.0.1:8000/v1", KEY, False)
    assert KEY not in repr(made)
    assert vendor_of("lab", configured(users=LAB)).key_names == ("LAB_API_KEY",)


def test_the_configured_variable_holds_the_key_and_no_other() -> None:
    users = "providers: {openai: {api_key_env: WORK_KEY}}"
    environ = {"OPENAI_API_KEY": "private", "WORK_KEY": "work"}
    assert account("openai", configured(users=users), environ).key == "work"
    assert account("openai", configured(users=users), {"OPENAI_API_KEY": "private"}).key == ""
    assert account("openai", configured(), environ).key == "private"


def test_the_first_variable_that_is_set_holds_the_key() -> None:
    assert account("gemini", configured(), {"GOOGLE_API_KEY": "g", "GEMINI_API_KEY": ""}).key == "g"


def test_an_account_gets_nobody_elses_variables_but_those_of_the_cloud() -> None:
    environ = {"AWS_REGION": "eu-west-1", "BEDROCK_X": "1", "OPENAI_API_KEY": KEY, "HOME": "here", "GH_TOKEN": "secret"}
    made = account("bedrock", configured(), environ)
    assert made.environment == {"AWS_REGION": "eu-west-1", "BEDROCK_X": "1"}
    assert made.key == ""
    assert "eu-west-1" not in repr(made)


@pytest.mark.parametrize(
    ("users", "environ", "address"),
    [
        ("", {}, "http://127.0.0.1:11434"),
        ("", {"OLLAMA_HOST": "http://127.0.0.1:9"}, "http://127.0.0.1:9"),
        ("providers: {ollama: {base_url: 'http://127.0.0.1:8'}}", {"OLLAMA_HOST": "http://127.0.0.1:9"}, "http://127.0.0.1:8"),
    ],
)
def test_ollama_answers_where_it_is_configured_else_where_its_own_variable_says(
    users: str, environ: dict[str, str], address: str
) -> None:
    assert account("ollama", configured(users=users), environ).base_url == address


def test_no_other_vendor_listens_to_ollamas_variable() -> None:
    assert account("openai", configured(), {"OLLAMA_HOST": "http://127.0.0.1:9"}).base_url == "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("address", "said", "local"),
    [
        ("http://127.0.0.1:8000", "", True),
        ("http://localhost:8000", "", True),
        ("http://10.255.0.1:8000", "", True),
        ("http://[::1]:8000", "", True),
        ("https://lab.example", "", False),
        ("https://8.8.8.8", "", False),
        ("https://lab.example", ", local: true", True),
        ("http://127.0.0.1:8000", ", local: false", False),
    ],
)
def test_tokens_are_local_by_word_or_by_address(address: str, said: str, local: bool) -> None:
    configuration = configured(users=f"providers: {{lab: {{base_url: '{address}'{said}}}}}")
    assert is_local(vendor_of("lab", configuration), account("lab", configuration, {}), configuration) is local


def test_a_vendor_behind_a_private_address_is_a_gateway_that_costs_money_unless_told_otherwise() -> None:
    gateway = configured(users="providers: {openai: {base_url: 'http://127.0.0.1:4000/v1'}}")
    told = configured(users="providers: {openai: {base_url: 'http://127.0.0.1:4000/v1', local: true}}")
    for configuration, local in ((gateway, False), (told, True)):
        vendor = vendor_of("openai", configuration)
        assert is_local(vendor, account("openai", configuration, {}), configuration) is local


def test_ollama_is_local_wherever_it_is() -> None:
    configuration = configured(users="providers: {ollama: {base_url: 'https://ollama.example'}}")
    assert is_local(vendor_of("ollama", configuration), account("ollama", configuration, {}), configuration)
