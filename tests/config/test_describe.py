"""The table of keys and what is made of it agree."""

from __future__ import annotations

import re
from importlib.resources import files

import jsonschema
import pytest
import yaml

from reviewbot.config import Source, load, validate
from reviewbot.config.describe import PANEL, commented_file, json_schema, schema_text
from reviewbot.config.keys import KEYS
from reviewbot.config.kinds import Whole
from reviewbot.errors import ConfigError
from tests.config.test_files import DOCUMENTED


def uncommented() -> str:
    """Every line that shows a default, switched on."""
    return switched_on(commented_file().replace(PANEL, "\n"))


def switched_on(text: str) -> str:
    return re.sub(r"(?m)^# (?=( *[a-z_]+:))", "", text)


def test_the_shipped_schema_is_the_table_of_keys():
    shipped = files("reviewbot").joinpath("schema", "config.schema.json").read_text(encoding="utf-8")
    assert shipped == schema_text(), "write it again: schema_text() of reviewbot/config/describe.py"
    jsonschema.Draft202012Validator.check_schema(json_schema())


def test_every_default_is_a_value_of_its_kind():
    for key in KEYS:
        if key.default is not None and isinstance(key.kind, Whole):
            assert key.kind.least <= key.default <= key.kind.most
    jsonschema.validate(yaml.safe_load(uncommented()), json_schema())


def test_the_file_of_init_changes_nothing():
    assert validate(Source(".reviewbot.yml", commented_file().encode())) == ()
    held = load(repository=(Source(".reviewbot.yml", uncommented().encode()),))
    assert held.notices == ()
    assert len(held.settings) > 15
    assert all(setting.value == load().value(name) for name, setting in held.settings.items())


def test_the_example_of_seats_is_a_panel_that_can_be_read():
    assert PANEL in commented_file()
    text = switched_on(PANEL)
    jsonschema.validate(yaml.safe_load(text), json_schema())
    held = load(repository=(Source(".reviewbot.yml", text.encode()),))
    assert held.notices == ()
    assert held.names("panel") == ("critic", "reviewer", "optimizer")
    assert held.value("panels.thrifty.security.model") == "openai"


@pytest.mark.parametrize(
    "text",
    [
        DOCUMENTED.decode().replace("mode: off", "mode: 'off'"),
        "debate: {rounds: 9}",
        "debate: {rounds: true}",
        "debat: {}",
        "review: {instructions: [../x]}",
        "checks: [{run: [a]}]",
        "checks: [{preset: ruff, run: [a], name: b}]",
        "panel: {critic: {modle: x}}",
        "panel: {critic: {model: x}}",
        "panel: {critic: {model: 'x y'}}",
        "panel: {critic: {model: 'x:'}}",
        "prices: [{model: 'a:b', input: 1}]",
        "prices: [{model: 'a:b', input: 1, output: 2}]",
        "ledger: 'mysql://x'",
        "ledger: ''",
        "providers: {a: {api_key_env: 'a b'}}",
        "panel: {'a b': {model: 'x:y'}}",
        "limits: {seconds: 0}",
        "fix: {mode: maybe}",
    ],
)
def test_schema_and_reader_agree(text: str):
    is_valid = jsonschema.Draft202012Validator(json_schema()).is_valid(yaml.safe_load(text))
    try:
        load(user=Source("config.yml", text.encode()))
    except ConfigError:
        assert not is_valid
    else:
        assert is_valid
