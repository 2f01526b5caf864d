"""Every setting by its dotted key, with its description and the environment variable that sets it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from om_api.settings.memory_settings import MemorySettings
from om_api.settings.model_settings import ModelSettings, Tier
from om_api.settings.sections.fields import Group, SettingOwner

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

Key = tuple[str, ...]
BASE_FILE = "observational-memory.yaml"
TOP_KEYS = ("observational_memory", "models")
ALIASES = {"OM_REDIS_URL": "storage.redis.url", "OM_PREFIX": "storage.redis.prefix"}
OTHER_VARIABLES = {
    "OM_API_PORT": "port of the HTTP API",
    "OM_CONFIG_DIR": "the folder of the configuration; else ./config, if it holds observational-memory.yaml or agents/",
    "OM_BEAT_FILE": "a file that a beat touches whenever a tick is on its way; for health checks",
    "OM_BROKER_URL": "the broker of the workers' tasks; else the same address as Redis",
    "OM_CONCURRENCY": "tasks that one worker does at the same time",
    "OM_DATA_DIR": "where the development server keeps its data",
    "OM_FLOWER_PORT": "port of Flower",
    "OM_FLOWER_USER": "who may open Flower",
    "OM_FLOWER_PASSWORD": "the password for Flower",
    "OM_GRAFANA_PORT": "port of Grafana",
    "OM_GRAFANA_USER": "who may open Grafana",
    "OM_GRAFANA_PASSWORD": "the password for Grafana",
    "OM_LOG_FORMAT": "how log lines are written: json or text; else text on a terminal, json anywhere else",
    "OM_LOG_LEVEL": "which log lines are written: DEBUG, INFO, WARNING, ERROR or CRITICAL and what is above it; else INFO",
    "OM_METRICS_KEY": "the key with which Prometheus reads the figures",
    "OM_PROMETHEUS_PORT": "port of Prometheus",
    "OM_SPOOL": "SQLite file in which messages of a client with fail_open wait for the store; else they wait in its process only",
}
_INTERVALS = ("observer_interval", "reflector_interval", "stop_grace")
SYSTEM_WIDE = (
    "storage",
    "archive.url",
    "archive.password_env",
    "partitions",
    *_INTERVALS,
    "total_budget",
    "events",
    "audit",
    "webhooks",
    "metrics",
    "telemetry",
    "api",
    "flower_ticks",
)
PERMITTED = {  # of variables that are no settings: a pattern, and what it says in words
    "OM_CONCURRENCY": ("[1-9][0-9]{0,3}", "1 to 9,999"),
    "OM_LOG_FORMAT": ("json|text", "json or text"),
    "OM_LOG_LEVEL": ("(?i:debug|info|warning|error|critical)", "DEBUG, INFO, WARNING, ERROR or CRITICAL"),
}


def _walk(group: type[Group], path: Key = ()) -> Iterator[tuple[Key, FieldInfo, SettingOwner]]:
    for name, info in group.model_fields.items():
        kind = info.annotation
        if isinstance(kind, type) and issubclass(kind, Group):
            yield from _walk(kind, (*path, name))
        else:
            extra = info.json_schema_extra
            declared = extra.get("owner") if isinstance(extra, dict) else ""
            yield (*path, name), info, SettingOwner(str(declared)) if declared else group.owner


def _groups(paths: Iterable[Key]) -> dict[Key, list[str]]:
    """The keys in each group, in the order of the settings."""
    found: dict[Key, list[str]] = {}
    for path in paths:
        for depth, key in enumerate(path):
            keys = found.setdefault(path[:depth], [])
            if key not in keys:
                keys.append(key)
    return found


_WALKED = [*_walk(MemorySettings)]
SETTINGS: dict[Key, FieldInfo] = {path: info for path, info, _ in _WALKED}
_OWNERS: dict[Key, SettingOwner] = {path: owner for path, _, owner in _WALKED}
GROUPS = _groups(SETTINGS)
MODEL_FIELDS: dict[str, FieldInfo] = ModelSettings.model_fields


def dotted(path: Iterable[object]) -> str:
    """Write a path as users do: `observer.timeout`."""
    return ".".join(map(str, path))


def variable(path: Key) -> str:
    """The environment variable that sets one setting: `OM_OBSERVER__TIMEOUT`."""
    return "OM_" + "__".join(path).upper()


def variable_of_model(name: str, field: str) -> str:
    """The environment variable that sets one field of a model; what is no letter or digit is written `_`."""
    return variable(("models", re.sub(r"[^A-Za-z0-9]", "_", name), field))


VARIABLES: dict[str, Key] = {variable(path): path for path in SETTINGS}
VARIABLES |= {name: tuple(key.split(".")) for name, key in ALIASES.items()}


def is_system_wide(path: Key) -> bool:
    """Whether a key applies to all agents, and so belongs in the base file or the environment only."""
    key = dotted(path)
    return path[0] == "models" or any(f"{key}.".startswith(f"{each}.") for each in SYSTEM_WIDE)


def owner_of(path: Key) -> SettingOwner:
    """Who may change a setting; an administrator for fields of models and unknown keys."""
    return _OWNERS.get(path, SettingOwner.ADMINISTRATOR)


def about(path: Key) -> dict[str, Any]:
    """Return `unit`, `permitted` and `secret` of a setting or of a model's field; {} for what is neither."""
    info = SETTINGS.get(path)
    if path[:1] == ("models",) and path[2:]:
        info = MODEL_FIELDS.get(path[2])
    extra = info.json_schema_extra if info is not None else None
    return dict(extra) if isinstance(extra, dict) else {}


def keys_beside(path: Key) -> list[str]:
    """Return the keys that may stand where the last one of `path` stands."""
    if path[:1] == ("models",):
        return list(Tier.model_fields if path[2:3] == ("tiers",) and path[3:] else MODEL_FIELDS)
    return list(GROUPS.get(path[:-1], ()))


def nearest(path: Key) -> str:
    """Return the known key, dotted, that an unknown one was probably meant to be; else all that may stand there."""
    if path == ("models",):
        return "it stands at the top, beside observational_memory"
    beside = keys_beside(path)
    elsewhere = [dotted(known) for known in SETTINGS if known[-1] == path[-1]]
    close = elsewhere or [dotted((*path[:-1], key)) for key in get_close_matches(path[-1], beside, 1)]
    return f"did you mean {' or '.join(close)}?" if close else f"permitted: {', '.join(beside)}"
