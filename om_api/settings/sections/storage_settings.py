"""Where memories live: the settings of the Redis server."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, model_validator
from pydantic_core import PydanticCustomError

from om_api.settings.sections.fields import Group, contradiction, secret_variable, setting
from om_api.settings.sections.urls import build_url, is_redis_url, safe_url, with_password

DEFAULT_URL = "redis://127.0.0.1:6379/0"
SERVER_KEYS = ("host", "port", "db", "username")
_LOCAL, _PORT = "127.0.0.1", 6379
_PERMITTED = (
    "redis://, rediss://, unix://, redis+sentinel://, redis+cluster:// (or rediss+…), in a file without a password"
)
_SERVER = re.compile(r"[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[0-9]*)?")


def _redis_url(url: str) -> str:
    if "://" not in url:
        shown = url if _SERVER.fullmatch(url) else "127.0.0.1:6379/0"  # another one may hold a password
        text = f"it has no scheme: write it as redis://{shown}; permitted: {_PERMITTED}"
        raise PydanticCustomError("advice", "{text}", {"text": text})
    if not is_redis_url(url):
        raise ValueError("no address of a Redis server")
    return url


class RedisSettings(Group):
    """One Redis server, by `url` or by `host`, `port`, `db` and `username`; a password comes from the environment."""

    url: Annotated[str, AfterValidator(_redis_url)] | None = setting(
        DEFAULT_URL,
        "address of the server; not together with host, port, db or username",
        _PERMITTED,
        secret=True,
    )
    host: str | None = setting(
        None, "name or address of the server, instead of url", "a host name or an IP address", pattern=r"^[^\s/@?#]+$"
    )
    port: int | None = setting(None, f"port of the host; {_PORT} if not stated", "1 to 65,535", ge=1, le=65_535)
    db: int | None = setting(None, "database of the host; 0 if not stated", "0 to 65,535", ge=0, le=65_535)
    username: str | None = setting(None, "ACL user at the host", "a name without blanks", pattern=r"^\S+$")
    password_env: str | None = secret_variable("password")
    prefix: str = setting(
        "cortex:om",
        "every key in Redis starts with it",
        "1 to 100 of A-Z a-z 0-9 . _ : - (no braces: they belong to the keys)",
        pattern=r"^[A-Za-z0-9._:-]{1,100}$",
    )

    @model_validator(mode="before")
    @classmethod
    def _host_needs_no_url(cls, data: Any) -> Any:
        """A stated server takes the place of the default url, not of a stated one."""
        if isinstance(data, dict) and any(data.get(key) is not None for key in SERVER_KEYS):
            return {"url": None, **data}
        return data

    @model_validator(mode="after")
    def _one_way_to_name_a_server(self) -> "RedisSettings":
        stated = [key for key in SERVER_KEYS if getattr(self, key) is not None]
        if self.url is not None and stated:
            raise contradiction(f"url and {stated[0]} both name the server; permitted: one of the two", "url", *stated)
        return self

    def address(self, password: str | None = None) -> str:
        """The server's address as a url, with the password put in if there is one."""
        plain = self.url or build_url(self.host or _LOCAL, self.port or _PORT, self.db or 0, self.username or "")
        return with_password(plain, password) if password else plain

    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        """Show everything but a password."""
        return [(key, safe_url(value) if key == "url" and value else value) for key, value in super().__repr_args__()]


class StorageSettings(Group):
    """The store behind every memory."""

    backend: Literal["redis", "sqlite", "postgres"] = setting(
        "redis",
        "sqlite and postgres: an archive of that kind beside Redis, which stays the hot store; see archive.url",
        "redis, sqlite or postgres",
    )
    redis: RedisSettings = RedisSettings()

    @property
    def meaning(self) -> str:
        """What a backend beside Redis means, for people who asked for it; "" where Redis is all there is."""
        if self.backend == "redis":
            return ""
        return f"storage.backend is {self.backend}: that is the archive of the past; Redis stays the hot store, and is needed"
