"""Redactors and vaults as settings say; their packages are not loaded while nothing is redacted."""

import os
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Protocol

from om_api.domain.errors import SettingsError
from om_api.domain.extras import missing
from om_api.redaction.found import Finder
from om_api.redaction.redactor import Redactor, Sealing

LEAST_KEY = 32
_LEAST_LETTERS = 10  # different characters: 32 random hex digits nearly always have more


class Rules(Protocol):
    """What settings say is redacted."""

    @property
    def kinds(self) -> Sequence[str]:
        """What is replaced."""

    @property
    def region(self) -> str | None:
        """The country of phone numbers that name none."""

    @property
    def key_env(self) -> str | None:
        """The variable that holds the key."""

    @property
    def engine(self) -> str:
        """Who looks."""


def redactor(own: Rules, resource: str, named_for: str | None = None) -> Redactor:
    """The redactor of a resource; values are named by `named_for` where they come from another one.

    Raises SettingsError where `key_env` names no key, MissingExtraError for lacking packages.
    """
    sealing = vault(own, resource, named_for)
    return Redactor(_finder(own.kinds, own.region, own.engine), secrets="secret" in own.kinds, vault=sealing)


def vault(own: Rules, resource: str, named_for: str | None = None) -> Sealing | None:
    """What seals values of a resource; None where settings name no key. Raises as `redactor` does."""
    return _vault(key_of(own.key_env), resource, named_for) if own.key_env else None


def key_of(variable: str) -> str:
    """The key that an environment variable holds.

    A placeholder is 40 bits of an HMAC under the key, so a key that can be guessed gives every value away. Raises SettingsError
    where it is unset, short or of few different characters; nothing in the error depends on the value of a weak key.
    """
    key = os.environ.get(variable, "")
    if len(key) < LEAST_KEY or len(set(key)) < _LEAST_LETTERS:
        why = "holds a key that is too easy to guess" if key else "is not set"
        raise SettingsError(
            f"redaction.key_env names {variable}, which {why}; set it to {LEAST_KEY} random characters or more (openssl rand"
            " -hex 32), the same for all writers of this memory, or set redaction.key_env to null; nothing is written or sent"
            " until then"
        )
    return key


@lru_cache(maxsize=1024)
def _vault(key: str, resource: str, named_for: str | None) -> Sealing:
    try:
        from om_api.redaction.vault import Vault  # noqa: PLC0415 -- not loaded without a key
    except ModuleNotFoundError as error:
        raise missing(error) from None
    return Vault(key, resource, named_for)


@lru_cache(maxsize=64)
def _finder(kinds: Sequence[str], region: str | None, engine: str) -> Finder:
    try:
        from om_api.redaction.finding import find  # noqa: PLC0415 -- 20 MB of what the world's numbers look like

        also = None
        if engine == "presidio":
            from om_api.redaction.presidio import installed  # noqa: PLC0415 -- it takes seconds

            also = installed()
    except ModuleNotFoundError as error:
        raise missing(error) from None
    return partial(find, kinds=kinds, region=region, also=also)
