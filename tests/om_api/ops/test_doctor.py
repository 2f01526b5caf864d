"""Which keys `om doctor` misses."""

import pytest

from om_api import load_settings
from om_api.ops import doctor
from om_api.ops.diagnosis import NOTE, OK

TIERS = "[{up_to: 10, model: gpt-x}, {up_to: 100, model: extractive}]"


@pytest.mark.parametrize(
    ("environ", "level", "says"),
    [
        (
            {"OM_MODEL": "gemini-2.5-flash"},
            NOTE,
            "gemini-2.5-flash cannot be used from here: GEMINI_API_KEY is not set",
        ),
        ({"OM_MODEL": "gemini-2.5-pro"}, NOTE, "gemini-2.5-pro cannot be used from here: GEMINI_API_KEY is not set"),
        ({"OM_MODEL": "gpt-x"}, NOTE, "gpt-x cannot be used from here: OPENAI_API_KEY is not set"),
        ({"OM_MODEL": "m", "OM_MODELS__M__TIERS": TIERS}, NOTE, "gpt-x cannot be used from here"),
        ({"OM_MODEL": "m", "OM_MODELS__M__TIERS": TIERS, "OPENAI_API_KEY": "k"}, OK, "gpt-x, extractive"),
        ({"OM_MODEL": "gemini-2.5-pro", "GEMINI_API_KEY": "g"}, OK, "gemini-2.5-pro"),
        ({"OM_MODEL": "local", "OM_MODELS__LOCAL__BASE_URL": "http://here/v1"}, OK, "local"),
        ({"OM_MODEL": "scripted"}, OK, "scripted"),
    ],
)
def test_a_key_that_is_missing_is_named_for_every_model_that_may_answer(environ, level, says):
    (finding,) = doctor._models(load_settings(environ=environ))

    assert finding.level == level
    assert says in finding.says
