"""A redactor of what settings say, with the packages that it needs: none of them is loaded while nothing is redacted."""

from collections.abc import Sequence
from functools import lru_cache, partial

from om_api.domain.extras import missing
from om_api.redaction.redactor import Redactor


@lru_cache(maxsize=64)
def redactor(kinds: Sequence[str], region: str | None, key_env: str | None, engine: str) -> Redactor:
    """The redactor, made once. Raises SettingsError where `key_env` names no key, MissingExtraError for lacking packages."""
    try:
        from om_api.redaction.finding import find  # noqa: PLC0415 -- 20 MB of what the world's numbers look like
        from om_api.redaction.vault import vault_of  # noqa: PLC0415 -- the same extra

        also = None
        if engine == "presidio":
            from om_api.redaction.presidio import installed  # noqa: PLC0415 -- it takes seconds

            also = installed()
    except ModuleNotFoundError as error:
        raise missing(error) from None
    finder = partial(find, kinds=kinds, region=region, also=also)
    return Redactor(finder, secrets="secret" in kinds, vault=vault_of(key_env) if key_env else None)
