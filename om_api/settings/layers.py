"""Layers of configuration: what files and the environment state, laid over each other, each value with its origin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError, model_validator

from om_api.errors import SettingsError
from om_api.settings.catalogue import GROUPS, SETTINGS, Key, dotted, keys_beside
from om_api.settings.explain import explain
from om_api.settings.fields import Group
from om_api.settings.models import DEFAULT_MODELS, ModelSettings
from om_api.settings.plain import plain
from om_api.settings.storage import SERVER_KEYS
from om_api.settings.tiers import check_tiers
from om_api.settings.values import MemorySettings, implied

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DEFAULT = "default"
_REDIS = ("storage", "redis")
_SERVER = {(*_REDIS, key) for key in (*SERVER_KEYS, "password_env")}
_URL, _HOST = (*_REDIS, "url"), (*_REDIS, "host")
_MODEL, _PRESET = ("model",), ("preset",)


class Stated(NamedTuple):
    """A value and who states it."""

    value: Any
    origin: str


Layer = dict[Key, Stated]


class Effective(NamedTuple):
    """What is in force for one agent, and where each of it comes from."""

    memory: MemorySettings
    models: dict[str, ModelSettings]
    origin: dict[str, str]


class _Document(Group):
    observational_memory: MemorySettings
    models: dict[str, ModelSettings]

    @model_validator(mode="after")
    def _free_of_contradictions(self) -> _Document:
        check_tiers(self.models)
        return self


def flatten(data: object, origin: str, path: Key = ()) -> Layer:
    """Return what a mapping of settings states, by path; raises SettingsError if a group of settings is none."""
    if path not in GROUPS:
        return {path: Stated(data, origin)}
    if not isinstance(data, dict | None):
        name = dotted(path) or "observational_memory"
        raise SettingsError(
            f"{origin}: {name} is no mapping; permitted: the keys {', '.join(keys_beside((*path, '')))}"
        )
    layer: Layer = {}
    for key, value in (data or {}).items():
        layer |= flatten(value, origin, (*path, str(key)))
    return layer


def flatten_models(data: object, origin: str) -> Layer:
    """Return what a mapping of models states. The entry itself is stated too: it replaces one of that name below."""
    layer: Layer = {}
    if not isinstance(data, dict | None):
        raise SettingsError(f"{origin}: models is no mapping; permitted: a mapping of names to models")
    for name, entry in (data or {}).items():
        if not isinstance(entry, dict | None):
            raise SettingsError(
                f"{origin}: models.{plain(name)} is no mapping; permitted: {', '.join(ModelSettings.model_fields)}"
            )
        layer["models", str(name)] = Stated(None, origin)
        layer |= {("models", str(name), str(key)): Stated(value, origin) for key, value in (entry or {}).items()}
    return layer


def compose(layers: Sequence[Layer], source: str) -> Effective:
    """Lay the layers over the defaults, lowest first; raises SettingsError naming files (else `source`) and keys."""
    stated: Layer = {}
    for layer in (flatten_models(DEFAULT_MODELS, DEFAULT), *_spell_out(layers)):
        stated = {path: value for path, value in stated.items() if not _displaced(path, layer)} | layer
    origin = {dotted(path): value.origin for path, value in stated.items()}
    try:
        document = _Document.model_validate(_nest(stated))
    except ValidationError as error:
        raise SettingsError(explain(error, origin, source)) from None
    known = {dotted(path): DEFAULT for path in SETTINGS}
    return Effective(document.observational_memory, document.models, known | _leaves(stated))


def _displaced(path: Key, upper: Mapping[Key, Stated]) -> bool:
    """Whether a layer above states something that takes this value's place as a whole."""
    if of_model(path):
        return path[:2] in upper
    return (path in _SERVER and _states(upper, _URL)) or (path == _URL and _states(upper, _HOST))


def _states(layer: Mapping[Key, Stated], path: Key) -> bool:
    return path in layer and layer[path].value is not None


def _spell_out(layers: Sequence[Layer]) -> list[Layer]:
    """Write down what the topmost `preset` and `model` imply, in the layers that state them, under their own keys."""
    spelled = [dict(layer) for layer in layers]
    for path in (_PRESET, _MODEL):
        stating = [layer for layer in spelled if path in layer]
        if stating:
            top = stating[-1]
            top.update(_implied(path[0], top[path], top))
    _drop_outvoted_model(spelled)
    return spelled


def _implied(key: str, stated: Stated, layer: Layer) -> Layer:
    origin = f"preset {stated.value}" if key == "preset" else stated.origin
    others = {(name,): Stated(value, origin) for name, value in implied(key, stated.value).items()}
    return {path: value for path, value in others.items() if path not in layer}


def _drop_outvoted_model(layers: list[Layer]) -> None:
    """A layer above that names one of the two models ends the hold of `model` on both."""
    top = max((at for at, layer in enumerate(layers) if _MODEL in layer), default=len(layers))
    outvoted = any(("observer_model",) in layer or ("reflector_model",) in layer for layer in layers[top + 1 :])
    for at, layer in enumerate(layers):
        if at < top or outvoted:
            layer.pop(_MODEL, None)


def _nest(stated: Layer) -> dict[str, Any]:
    """Turn paths back into mappings, as they stood in the files; a model is named as it is listed unless it says so."""
    document: dict[str, Any] = {"observational_memory": {}, "models": {}}
    for path, value in sorted(stated.items(), key=lambda item: len(item[0])):
        *parents, leaf = path if of_model(path) else ("observational_memory", *path)
        node = document
        for parent in parents:
            node = node.setdefault(parent, {"model": parent} if of_model(path) else {})
        node[leaf] = {"model": leaf} if _is_entry(path) else value.value
    return document


def of_model(path: Key) -> bool:
    """Whether a path leads into `models:`; the mere key `models` is one mistaken for a setting."""
    return path[0] == "models" and len(path) > 1


def _is_entry(path: Key) -> bool:
    return of_model(path) and path[2:] == ()


def _leaves(stated: Layer) -> dict[str, str]:
    """Where each stated value comes from, without the entries of models that only hold them."""
    return {dotted(path): value.origin for path, value in stated.items() if not _is_entry(path)}
