"""Entries of the audit trail in words for people: no name of a function, and nothing lost of what is nobody's but the entry's."""

import pytest
from page_routes import GUARDED, PAGES

from om_api.domain.audit.audit_entry import DID, AuditEntry
from om_api.web.pages.audit_words import audit_words


def words(**said):
    return audit_words(AuditEntry(**{"did": "read", "via": "page", "who": "3f1c20a9be77", **said}))


@pytest.mark.parametrize(
    "name", sorted({route.name for method, path, route in GUARDED if method == "GET" and path in PAGES})
)
def test_a_page_is_called_as_its_reader_sees_it(name):
    assert words(of=name).of == words(of=name.removeprefix("show_")).of != name


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"of": "agent"}, "Memory"),
        ({"of": "show_models", "did": "refused"}, "Models"),
        ({"of": "m_1"}, "m_1"),
        ({"of": "matching", "did": "erased"}, "a text"),
        ({"of": "agent", "via": "http"}, "agent"),
        ({"of": "m_1", "did": "forgot"}, "m_1"),
    ],
)
def test_only_names_of_ours_are_told_otherwise(said, told):
    assert words(**said).of == told


def test_somebody_is_told_by_label_id_or_as_nobody():
    assert [words(**said).who for said in ({"label": "shop"}, {}, {"who": "loopback"})] == [
        "shop",
        "3f1c20a9be77",
        "this machine, without a key",
    ]


@pytest.mark.parametrize("did", DID)
def test_what_was_done_is_told_in_a_sentence(did):
    assert words(did=did).did == DID[did] != did
