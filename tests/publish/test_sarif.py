"""SARIF, judged by the official schema."""

from __future__ import annotations

import json

import jsonschema
import pytest

from reviewbot.publish import sarif
from tests.publish import samples
from tests.publish.official import sarif_schema

OFFICIAL = jsonschema.Draft7Validator(sarif_schema())


def test_the_official_schema_refuses_what_is_wrong() -> None:
    assert not OFFICIAL.is_valid({"version": "2.1.0", "runs": [{}]})
    assert not OFFICIAL.is_valid({"version": "2.0.0", "runs": []})


@pytest.mark.parametrize("name", samples.REVIEWS)
def test_every_sample_review_fits_the_official_schema(name: str) -> None:
    errors = [error.message for error in OFFICIAL.iter_errors(json.loads(sarif.render(samples.REVIEWS[name])))]
    assert errors == []
