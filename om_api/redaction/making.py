"""A redactor of what settings say, with the packages that it needs: none of them is loaded while nothing is redacted."""

import os
from collections.abc import Sequence
from functools import lru_cache, partial

from om_api.domain.errors import SettingsError
from om_api.domain.extras import missing
from om_api.redaction.redactor import Redactor

LEAST_KEY = 16


def redactor(kinds: Sequence[str], region: str | None, key_env: str | None, engine: str) -> Redactor:
    """The redactor, made once. Raises SettingsError where `key_env` names no key, MissingExtraError for lacking packages."""
    return _made(kinds, region, key_of(key_env) if key_env else None, engine)


def key_of(variable: str) -> str:
    """The key that an environment variable holds. Raises SettingsError where it is unset or too short."""
    key = os.environ.get(variable, "")
    if len(key) < LEAST_KEY:
        told = f"holds {len(key)} characters" if key else "is not set"
        raise SettingsError(
            f"redaction.key_env names {variable}, which {told}: set it to {LEAST_KEY} characters or more, the same"
            " wherever this memory is written, or set redaction.key_env to null: until then nothing is written or sent"
        )
    return key


@lru_cache(maxsize=64)
def _made(kinds: Sequence[str], region: str | None, key: str | None, engine: str) -> Redactor:
    try:
        from om_api.redaction.finding import find  # noqa: PLC0415 -- 20 MB of what the world's numbers look like
        from om_api.redaction.vault import Vault  # noqa: PLC0415 -- the same extra

        also = None
        if engine == "presidio":
            from om_api.redaction.presidio import installed  # noqa: PLC0415 -- it takes seconds

            also = installed()
    except ModuleNotFoundError as error:
        raise missing(error) from None
    finder = partial(find, kinds=kinds, region=region, also=also)
    return Redactor(finder, secrets="secret" in kinds, vault=Vault(key) if key else None)
