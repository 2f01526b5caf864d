"""Presidio's interface as version 2.2.366 has it: `analyze` by keywords, results with entity_type, start, end and score."""

import sys
from types import SimpleNamespace

import pytest

from om_api.domain.extras import MissingExtraError
from om_api.redaction.found import Sensitive
from om_api.redaction.making import redactor
from om_api.redaction.presidio import finder
from om_api.redaction.redactor import Redactions
from om_api.settings.sections.redaction_settings import RedactionSettings


class _Analyzer:
    def analyze(self, text, language, entities):
        assert (language, "PERSON" in entities) == ("en", False)
        return [
            SimpleNamespace(entity_type="PHONE_NUMBER", start=0, end=3, score=0.4),
            SimpleNamespace(entity_type="CRYPTO", start=4, end=6, score=1.0),
            SimpleNamespace(entity_type="EMAIL_ADDRESS", start=7, end=8, score=0.1),
        ]


def test_what_it_is_sure_of_is_found():
    assert finder(_Analyzer())("some text") == [Sensitive("phone", 0, 3), Sensitive("secret", 4, 6)]


def test_it_finds_beside_our_patterns(monkeypatch):
    from om_api.redaction import making, presidio

    making._made.cache_clear()
    monkeypatch.setattr(presidio, "installed", lambda: finder(_Analyzer()))
    said = redactor(RedactionSettings(kinds=("email", "secret"), engine="presidio")).text(
        "abc de ada@example.com", Redactions()
    )
    assert said == "abc [secret] [email]"
    making._made.cache_clear()


def test_where_it_is_not_installed_that_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtraError, match=r"cortex-om\[presidio\]"):
        redactor(RedactionSettings(kinds=("email",), region="DE", engine="presidio"))
