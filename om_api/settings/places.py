"""Where in a file a setting stands, looked up when something is wrong with it."""

from functools import lru_cache
from pathlib import Path

from om_api.domain.errors import SettingsError
from om_api.settings.documents import lines, read

_SUFFIX = ".yaml"
_TOP = "observational_memory."


def placed(origin: str, key: str) -> str:
    """Who states a setting, and if that is a file, the line of its dotted key, or of the nearest mapping around it."""
    found = _lines_of(origin) if origin.endswith(_SUFFIX) else {}
    where = key if key in found or key.startswith("models.") else f"{_TOP}{key}"
    while where and where not in found:
        where = where.rpartition(".")[0]
    return f"{origin}, line {found[where]}" if where else origin


def _lines_of(file: str) -> dict[str, int]:
    try:
        return _lines(read(Path(file)))
    except (SettingsError, RecursionError):  # it was another one a moment ago
        return {}


@lru_cache(maxsize=1)  # of one file many things may be wrong
def _lines(data: bytes) -> dict[str, int]:
    return lines(data)
