"""What providers' prompt caches keep, and for how long, by patterns of models' names: prompt_caches.yaml."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from importlib.resources import files

import msgspec

from om_api.domain.timing.prompt_cache import PromptCache


class CacheRules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of the table; `lifetime` in seconds, see there."""

    patterns: tuple[str, ...]
    lifetime: float
    minimum: int
    step: int = 1
    write: float = 1.0
    read: float
    lookback: int = 0

    @property
    def prices(self) -> PromptCache:
        """As the policy goes by them."""
        return PromptCache(
            lifetime_ms=round(self.lifetime * 1000), minimum=self.minimum, write=self.write, read=self.read
        )


# of an agent whose model nobody named: the shortest lifetime there is, and what most providers ask
USUAL = CacheRules(patterns=(), lifetime=300, minimum=1024, write=1.25, read=0.1)


@cache
def table() -> Sequence[CacheRules]:
    """The whole table, read once a process."""
    return msgspec.yaml.decode(files(__package__).joinpath("prompt_caches.yaml").read_bytes(), type=list[CacheRules])


@lru_cache(maxsize=256)
def rules_of(model: str) -> CacheRules | None:
    """The rules of whoever serves a model; None where the table does not know it."""
    name = model.lower()
    return next((rules for rules in table() if any(fnmatchcase(name, each) for each in rules.patterns)), None)
