"""Presidio as another judge: what its recognizers find beside our patterns."""

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any, Protocol

from om_api.redaction.found import Finder, Sensitive

# its names for what ours are; of what it finds else, nothing is replaced
_KINDS = {
    "EMAIL_ADDRESS": "email",
    "PHONE_NUMBER": "phone",
    "CREDIT_CARD": "card",
    "IBAN_CODE": "iban",
    "CRYPTO": "secret",
    "US_SSN": "secret",
    "US_BANK_NUMBER": "iban",
}
_SURE = 0.4  # its score from which on we believe it: that of a valid phone number


class Analyzer(Protocol):
    """What `presidio_analyzer.AnalyzerEngine` is to us."""

    def analyze(self, text: str, language: str, entities: list[str]) -> Iterable[Any]:
        """Findings with entity_type, start, end and score."""


def finder(analyzer: Analyzer, language: str = "en") -> Finder:
    """A finder that asks an analyzer."""

    def find(text: str) -> list[Sensitive]:
        said = analyzer.analyze(text=text, language=language, entities=list(_KINDS))
        return [Sensitive(_KINDS[each.entity_type], each.start, each.end) for each in said if each.score >= _SURE]

    return find


@cache
def installed() -> Finder:
    """Presidio as it is installed here, made once, with its recognizers of patterns: no language model is loaded or fetched.

    Raises ModuleNotFoundError where it is not installed.
    """
    spacy = import_module("spacy")
    engines, nlp = import_module("presidio_analyzer"), import_module("presidio_analyzer.nlp_engine")
    words = nlp.SpacyNlpEngine(models=[{"lang_code": "en", "model_name": "blank"}])
    words.nlp = {"en": spacy.blank("en")}
    return finder(engines.AnalyzerEngine(nlp_engine=words, supported_languages=["en"]))
