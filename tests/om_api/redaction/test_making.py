import sys
from types import SimpleNamespace

import pytest

from om_api.domain.errors import SettingsError
from om_api.domain.extras import MissingExtraError
from om_api.redaction import making, presidio
from om_api.redaction.making import redactor
from om_api.redaction.redactor import Redactions
from om_api.settings.sections.redaction_settings import RedactionSettings

KEYED = RedactionSettings(kinds=("email",), key_env="OM_SECRET_A")


def test_a_key_that_can_be_guessed_is_refused_by_the_name_of_its_variable(monkeypatch):
    """Sec-03: a placeholder lets a weak key be guessed offline; the error shows nothing of its value or length."""
    told = set()
    for key in ("short", "correct-horse-battery-staple-123", "ab" * 40, "x" * 31):
        monkeypatch.setenv("OM_SECRET_A", key[:31] if key.startswith("correct") else key)
        with pytest.raises(SettingsError, match="OM_SECRET_A, which holds a key that is too easy to guess") as refused:
            redactor(KEYED, "harold")
        told.add(str(refused.value))
    assert len(told) == 1
    monkeypatch.setenv("OM_SECRET_A", "")
    with pytest.raises(SettingsError, match="OM_SECRET_A, which is not set"):
        redactor(KEYED, "harold")


def test_a_package_that_lacks_is_named_with_what_brings_it(monkeypatch):
    making._finder.cache_clear()
    monkeypatch.setitem(sys.modules, "om_api.redaction.finding", None)
    monkeypatch.delitem(sys.modules, "om_api.redaction.finding")
    monkeypatch.setitem(sys.modules, "phonenumbers", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'cortex-om\[redaction\]'"):
        redactor(RedactionSettings(kinds=("email",), region="CH"), "harold")


class _Analyzer:
    def analyze(self, text, language, entities):
        assert (language, "PERSON" in entities) == ("en", False)
        return [
            SimpleNamespace(entity_type="PHONE_NUMBER", start=0, end=3, score=0.4),
            SimpleNamespace(entity_type="CRYPTO", start=4, end=6, score=1.0),
            SimpleNamespace(entity_type="EMAIL_ADDRESS", start=7, end=8, score=0.1),
        ]


def test_presidio_finds_beside_our_patterns_and_is_named_where_it_is_not_installed(monkeypatch):
    making._finder.cache_clear()
    monkeypatch.setattr(presidio, "installed", lambda: presidio.finder(_Analyzer()))
    redactor = making.redactor(RedactionSettings(kinds=("email", "secret", "phone"), engine="presidio"), "harold")
    assert redactor.text("abc de ada@example.com", Redactions()) == "[phone] [secret] [email]"
    monkeypatch.undo()
    making._finder.cache_clear()

    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtraError, match=r"cortex-om\[presidio\]"):
        making.redactor(RedactionSettings(kinds=("email",), region="DE", engine="presidio"), "harold")
