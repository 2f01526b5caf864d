import phonenumbers
import pytest

from om_api.settings.sections.redaction_settings import REGIONS


def test_it_is_off_and_takes_all_kinds_where_nothing_is_said(folder):
    own = folder.load().memory.redaction
    assert (own.is_on, own.reveal, own.key_env) == (False, False, None)
    assert own.kinds == ("email", "phone", "card", "iban", "secret")


def test_off_may_stand_as_yaml_reads_it(folder):
    folder.settings("redaction: {before: off}")
    assert folder.load().memory.redaction.before == "off"


def test_kinds_are_a_list_in_any_order(folder):
    folder.settings("redaction: {before: model, kinds: [secret, email]}")
    own = folder.load().memory.redaction
    assert (own.is_on, own.kinds) == (True, ("email", "secret"))


@pytest.mark.parametrize(
    ("said", "permitted"),
    [
        ("before: always", "off, store or model"),
        ("kinds: [names]", "a list of any of email, phone, card, iban, secret"),
        ("kinds: []", "a list of any of email"),
        ("region: Austria", "two capital letters of a country"),
        ("region: XX", "such as AT, or null"),
        ("engine: magic", "patterns or presidio"),
        ("key_env: not-a-name", "the name of an environment variable in capital letters"),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(folder, said, permitted):
    folder.settings(f"redaction: {{{said}}}")
    assert permitted in folder.refused()


PASTED = [
    "9f8e7d6c5b4a39281706f5e4d3c2b1a0",
    "a9f8e7d6c5b4a39281706f5e4d3c2b1a0",
    "AIzaSyA1b2C3d4E5f6G7h8",
    "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
    "MY_JBSWY3DPEHPK3PXPJBSWY3DP",
    "correct horse battery staple",
]


@pytest.mark.parametrize("key", PASTED)
def test_a_key_where_its_variable_is_to_be_named_is_refused_and_never_shown(folder, key):
    folder.settings(f"redaction: {{key_env: {key}}}")
    told = folder.refused()

    assert "redaction.key_env is not usable; permitted: the name of an environment variable" in told
    assert key not in told


@pytest.mark.parametrize(
    "name", ["OM_REDACTION_KEY", "_KEY", "KEY2", "PROD_EU_WEST1_KEY_V2", "REDACTIONKEYOFPRODUCTION"]
)
def test_names_of_variables_are_taken(folder, name):
    folder.settings(f"redaction: {{key_env: {name}}}")
    assert folder.load().memory.redaction.key_env == name


def test_a_country_that_has_no_numbers_is_none_and_each_other_one_is():
    assert frozenset(phonenumbers.SUPPORTED_REGIONS) == REGIONS
