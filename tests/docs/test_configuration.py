"""``docs/configuration.md`` has every key, as the table of keys has it."""

from __future__ import annotations

from reviewbot.config.keys import KEYS, Power
from tests.docs import keys


def test_the_page_is_what_the_table_of_keys_says() -> None:
    assert keys.page_with(keys.table()) == keys.PAGE.read_text(encoding="utf-8"), "write it with: python -m tests.docs.keys"


def test_every_key_and_every_power_is_told() -> None:
    told = keys.table()
    for key in KEYS:
        name = key.name.replace("panels.*.*", "panel.SEAT").replace("panel.*", "panel.SEAT").replace("*", "NAME")
        assert f"`{name.replace('moderator', 'panel.SEAT')}`" in told
    assert set(keys.WHO) == set(Power)
