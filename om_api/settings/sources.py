"""Layers of settings, each a source of pydantic-settings, laid over each other; each value keeps its origin.

Errors are told in plain words: file, key, what is there, what is permitted, and never a password.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, InitSettingsSource

from om_api.domain.errors import SettingsError
from om_api.settings.catalogue import GROUPS, SETTINGS, Key, about, dotted, keys_beside, nearest
from om_api.settings.documents import plain
from om_api.settings.memory_settings import ROLES, MemorySettings, implied
from om_api.settings.model_settings import DEFAULT_MODELS, ModelSettings, check_tiers
from om_api.settings.places import placed
from om_api.settings.sections.storage_settings import SERVER_KEYS

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

DEFAULT = "default"
_MOST_LINES = 100
_LONGEST_LINE = 1_000
_REDIS = ("storage", "redis")
_SERVER = {(*_REDIS, key) for key in (*SERVER_KEYS, "password_env")}
_URL, _HOST = (*_REDIS, "url"), (*_REDIS, "host")


class Stated(NamedTuple):
    """A value and who states it."""

    value: Any
    origin: str


Layer = dict[Key, Stated]


class Effective(NamedTuple):
    """What is in force for one agent, where each of it comes from, and the layers that say it, lowest first."""

    memory: MemorySettings
    models: dict[str, ModelSettings]
    origin: dict[str, str]
    layers: tuple[Layer, ...] = ()


class Document(BaseSettings):
    """What all layers say together."""

    observational_memory: MemorySettings
    models: dict[str, ModelSettings]

    def __init__(self, sources: Sequence[LayerSource]) -> None:
        """Ask these sources, topmost first, and none of the package's own."""
        super().__init__(_build_sources=(tuple(sources), {}))

    @field_validator("models", mode="before")
    @classmethod
    def _named_as_listed(cls, models: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        return {name: {"model": name, **fields} for name, fields in models.items()}

    @model_validator(mode="after")
    def _free_of_contradictions(self) -> Document:
        check_tiers(self.models)
        return self


class LayerSource(InitSettingsSource):
    """One layer: what it states, but for what a layer above states or takes the place of."""

    def __init__(self, layer: Layer, above: Sequence[LayerSource]) -> None:
        uppers = [source.layer for source in above]
        self.layer: Layer = _spelled_out(layer, uppers)
        self.stated = {
            path: value for path, value in self.layer.items() if not any(_gives_way(path, upper) for upper in uppers)
        }
        super().__init__(Document, _nest(self.stated))


def compose(layers: Sequence[Layer], source: str) -> Effective:
    """Lay the layers over the defaults, lowest first; raises SettingsError naming files (else `source`) and keys."""
    sources: list[LayerSource] = []
    for layer in reversed((_BUILT_IN, *layers)):
        sources.append(LayerSource(layer, sources))
    stated = {path: value for found in reversed(sources) for path, value in found.stated.items()}
    try:
        document = Document(sources)
    except ValidationError as error:
        origin = {dotted(path): value.origin for path, value in stated.items()}
        raise SettingsError(_explained(error, origin, source)) from None
    origin = {dotted(path): DEFAULT for path in SETTINGS}
    origin |= {dotted(path): value.origin for path, value in stated.items() if not _is_entry(path)}
    return Effective(document.observational_memory, document.models, origin, tuple(layers))


def flatten(data: object, origin: str, path: Key = ()) -> Layer:
    """Return what a mapping of settings states, by path; raises SettingsError if a group of settings is none."""
    if path not in GROUPS:
        return {path: Stated(data, origin)}
    layer: Layer = {}
    permitted = f"the keys {', '.join(keys_beside((*path, '')))}"
    for key, value in _mapping(data, f"{origin}: {dotted(path) or 'observational_memory'}", permitted).items():
        layer |= flatten(value, origin, (*path, str(key)))
    return layer


def flatten_models(data: object, origin: str) -> Layer:
    """Return what a mapping of models states. The entry itself is stated too: it replaces one of that name below."""
    layer: Layer = {}
    for name, entry in _mapping(data, f"{origin}: models", "a mapping of names to models").items():
        fields = _mapping(entry, f"{origin}: models.{plain(name)}", ", ".join(ModelSettings.model_fields))
        layer["models", str(name)] = Stated(None, origin)
        layer |= {("models", str(name), str(key)): Stated(value, origin) for key, value in fields.items()}
    return layer


def _mapping(data: object, where: str, permitted: str) -> dict[str, Any]:
    if not isinstance(data, dict | None):
        raise SettingsError(f"{where} is no mapping; permitted: {permitted}")
    return data or {}


_BUILT_IN = flatten_models(DEFAULT_MODELS, DEFAULT)


def of_model(path: Key) -> bool:
    """Whether a path leads into `models:`; the mere key `models` is one mistaken for a setting."""
    return path[0] == "models" and len(path) > 1


def _is_entry(path: Key) -> bool:
    return of_model(path) and path[2:] == ()


def _spelled_out(layer: Layer, uppers: Sequence[Layer]) -> Layer:
    """The layer with what its `preset` and its `model` imply, under their own keys, unless one above states them."""
    said: Layer = {}
    for key in ("preset", "model"):
        stated = layer.get((key,))
        if stated and not any((key,) in upper for upper in uppers):
            origin = f"preset {stated.value}" if key == "preset" else stated.origin
            said |= {(name,): Stated(value, origin) for name, value in implied(key, stated.value).items()}
    return said | layer


def _gives_way(path: Key, upper: Layer) -> bool:
    """Whether a layer above states this key, or something that takes its place as a whole."""
    if path in upper or path[:2] in upper:
        return True
    if path == ("model",):
        return any((role,) in upper for role in ROLES)
    return (path in _SERVER and _states(upper, _URL)) or (path == _URL and _states(upper, _HOST))


def _states(layer: Layer, path: Key) -> bool:
    return path in layer and layer[path].value is not None


def _nest(stated: Layer) -> dict[str, Any]:
    """Turn paths back into mappings, as they stood in the files."""
    document: dict[str, Any] = {"observational_memory": {}, "models": {}}
    for path, value in stated.items():
        *parents, leaf = path if of_model(path) else ("observational_memory", *path)
        node = document
        for parent in parents:
            node = node.setdefault(parent, {})
        node[leaf] = {} if _is_entry(path) else value.value
    return document


def _explained(error: ValidationError, origin: Mapping[str, str], source: str) -> str:
    """Say what is wrong, one line for each key, of many the first; `origin` leads to files, where it does not, `source`."""
    found = error.errors(include_url=False)
    own = [item for item in found if not _is_implied(item, origin, found)]
    lines = [plain(_line(item, origin, source), _LONGEST_LINE) for item in own[:_MOST_LINES]]
    more = [f"{source}: {len(own) - _MOST_LINES:,} more like these"] if len(own) > _MOST_LINES else []
    return "\n".join(dict.fromkeys((*lines, *more)))


def _stated(item: ErrorDetails) -> Key:
    path = tuple(map(str, item["loc"]))
    return path[1:] if path[:1] == ("observational_memory",) else path


def _is_implied(item: ErrorDetails, origin: Mapping[str, str], found: Sequence[ErrorDetails]) -> bool:
    """Whether a role's model is wrong only because `model` is, which is told already."""
    path = _stated(item)
    if path not in {(role,) for role in ROLES} or origin.get(path[0]) != origin.get("model"):
        return False
    return any(_stated(other) == ("model",) and other["input"] == item["input"] for other in found)


def _line(item: ErrorDetails, origin: Mapping[str, str], source: str) -> str:
    stated = _stated(item)
    path = tuple(map(plain, stated))
    if item["type"] == "contradiction":
        return _contradiction(item, stated, origin, source)
    where = _file(stated, origin, source)
    if item["type"] == "advice":
        return f"{where}: {dotted(path)}: {item['msg']}"
    if item["type"] == "extra_forbidden":
        return f"{where}: {dotted(path)} is not a setting; {nearest(path)}"
    described = about(path)
    shown = "not usable" if described.get("secret") else plain(json.dumps(item["input"], ensure_ascii=False))
    return f"{where}: {dotted(path)} is {shown}; permitted: {described.get('permitted', item['msg'])}"


def _contradiction(item: ErrorDetails, path: tuple[str, ...], origin: Mapping[str, str], source: str) -> str:
    keys = [dotted((*path, key)) for key in item["ctx"]["keys"]]
    files = dict.fromkeys(placed(origin[key], key) for key in keys if key in origin)
    inside = f"{dotted(path)}: " if path else ""
    return f"{' with '.join(files) or source}: {inside}{item['msg']}"


def _file(path: Key, origin: Mapping[str, str], source: str) -> str:
    """The file that states a key, or the mapping it stands in, or something inside it, and the line where it does."""
    above = (dotted(path[:size]) for size in range(len(path), 0, -1))
    return placed(next((origin[key] for key in above if key in origin), source), dotted(path))
