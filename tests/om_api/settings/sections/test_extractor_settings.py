"""Extractors in YAML: what is told of one that cannot be, where it is set."""

import pytest

from om_api.domain.errors import SettingsError
from om_api.domain.kept.extractors import KNOWN
from om_api.settings.sections.extractor_settings import MOST, extractors_of


def test_a_name_alone_is_one_that_we_know(folder):
    folder.base("observational_memory: {extractors: {contacts: {}, decisions: {of: resource, shown: false}}}")
    contacts, decisions = folder.load().memory.extractors_by("observer")

    assert (contacts.slug, contacts.schema, contacts.of, contacts.shown) == (
        "contacts",
        KNOWN["contacts"],
        "thread",
        True,
    )
    assert (decisions.of, decisions.shown) == ("resource", False)


def test_ones_own_words_make_it_ones_own():
    (own,) = extractors_of({"contacts": {"instruction": "Only doctors."}})

    assert own.schema is None


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("{mood: {}}", "mood has no instruction"),
        ("{thread: {instruction: x}}", "a tag of our own"),
        ("{'Big': {instruction: x}}", "cannot name an extractor"),
        ("{mood: {instruction: x, schema: {type: objekt}}}", "mood.schema: the schema cannot be"),
        ("{mood: {instruction: x, of: agent}}", "mood.of: permitted: thread or resource"),
        ("{mood: {instruction: x, shown: 1}}", "mood.shown: permitted: true or false"),
        ("{mood: {instuction: x}}", "'instuction' is no key of it; permitted: instruction, schema, of, by, shown"),
        ("{mood: words}", "mood: it is no mapping"),
        ("{mood: {instruction: [x]}}", "mood.instruction: permitted: text"),
        ("[contacts]", "up to 20 names"),
        ("{" + ", ".join(f"a{n}: {{instruction: x}}" for n in range(MOST + 1)) + "}", "up to 20 names"),
    ],
)
def test_one_that_cannot_be_is_told_where_it_is_set(folder, said, named):
    folder.base(f"observational_memory: {{extractors: {said}}}")

    with pytest.raises(SettingsError) as refused:
        folder.load()

    assert named in str(refused.value)
    assert "extractors" in str(refused.value)
