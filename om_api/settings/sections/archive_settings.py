"""The archive: where the past goes when it leaves Redis, when it does, and how long it stays there."""

import re
from typing import Annotated, Any, Final

from pydantic import AfterValidator

from om_api.settings.sections.fields import Group, Seconds, duration, parse_duration, secret_variable, setting
from om_api.settings.sections.urls import safe_url

SQLITE_FILE: Final = "sqlite:///om-archive.db"
_SCHEMES: Final = ("sqlite", "postgresql")
_DAY_S = 86_400
_LONGEST_S = 36_500 * _DAY_S
_FOREVER = "forever"
_YEARS = re.compile(r"([0-9]{1,3})\s*y")


def _url(url: str) -> str:
    scheme, _, rest = url.partition("://")
    if scheme not in _SCHEMES or not rest.strip("/") or re.search(r"\s", url):
        raise ValueError("no address of an archive")
    return url


def _seconds(keep: str) -> float:
    if keep == _FOREVER:
        return _LONGEST_S
    years = _YEARS.fullmatch(keep)
    return float(years[1]) * 365 * _DAY_S if years else parse_duration(keep)


def _keep(keep: str) -> str:
    if not _DAY_S <= _seconds(keep) <= _LONGEST_S:
        raise ValueError("out of range")
    return keep


class ArchiveSettings(Group):
    """The SQL database that the past of memories moves to."""

    url: Annotated[str, AfterValidator(_url)] | None = setting(
        None,
        "address of the archive, of all agents; null: there is none, and ttl_days says how long the past is kept",
        "sqlite:///file.db, sqlite:////a/whole/path.db or postgresql://user@host/database, in a file without a password; or null",
        secret=True,
    )
    password_env: str | None = secret_variable("password of the archive")
    after: Seconds = duration(
        7 * _DAY_S, "age at which sources, replaced observations and generations move there", least=0, most=_LONGEST_S
    )
    keep: Annotated[str, AfterValidator(_keep)] = setting(
        _FOREVER,
        "how long the past is kept where there is an archive, instead of ttl_days; idle memories are cleared after it too",
        "forever, years such as 2y, or a duration such as 400d; 1 day or more",
    )

    @property
    def keep_s(self) -> int:
        """How long the past is kept, in seconds; for ever is a hundred years."""
        return round(_seconds(self.keep))

    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        """Show everything but a password."""
        return [(key, safe_url(value) if key == "url" and value else value) for key, value in super().__repr_args__()]
