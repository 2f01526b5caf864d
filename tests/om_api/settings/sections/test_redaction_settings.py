import pytest


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
        ("region: Austria", "two capital letters such as AT"),
        ("engine: magic", "patterns or presidio"),
        ("key_env: not-a-name", "the name of an environment variable"),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(folder, said, permitted):
    folder.settings(f"redaction: {{{said}}}")
    assert permitted in folder.refused()
