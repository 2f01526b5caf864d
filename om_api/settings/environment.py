"""The environment's layer: `OM_…` variables, above every file."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from om_api.errors import SettingsError
from om_api.settings.catalogue import (
    ALIASES,
    MODEL_FIELDS,
    OTHER_VARIABLES,
    SETTINGS,
    Key,
    dotted,
    variable,
    variable_of_model,
)
from om_api.settings.documents import parse
from om_api.settings.layers import Layer, Stated
from om_api.settings.plain import halved, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_VARIABLES: dict[str, Key] = {variable(path): path for path in SETTINGS}
_VARIABLES |= {name: tuple(key.split(".")) for name, key in ALIASES.items()}
_OF_MODEL = re.compile(rf"OM_MODELS__(?P<name>[A-Z0-9_]+?)__(?P<field>{'|'.join(MODEL_FIELDS).upper()})")


def environment_layer(environ: Mapping[str, str], models: Iterable[str]) -> Layer:
    """Return what the environment states; `models` are the names the files know.

    An empty variable counts as not set. Raises SettingsError for an unknown `OM_…` variable, naming the nearest known.
    """
    layer: Layer = {}
    names = list(models)
    for name, text in sorted(environ.items()):
        if not name.startswith("OM_") or name in OTHER_VARIABLES or not text:
            continue
        for path in _paths(name, names):
            _refuse_no_text(name, text)
            stated = Stated(_value(text, path), f"environment {name}")
            _refuse_another(layer, path, stated)
            layer[path] = stated
    return layer


def _paths(name: str, models: list[str]) -> list[Key]:
    """The settings a variable sets: one, or the field of each model that its name can mean."""
    if name in _VARIABLES:
        return [_VARIABLES[name]]
    if not (found := _OF_MODEL.fullmatch(name)):
        raise SettingsError(f"environment {plain(name)}: there is no such setting; {_nearest(plain(name), models)}")
    field = found["field"].lower()
    known = [model for model in models if variable_of_model(model, field) == name]
    return [("models", model, field) for model in known or [found["name"].lower()]]


def _nearest(name: str, models: list[str]) -> str:
    known = [
        *_VARIABLES,
        *OTHER_VARIABLES,
        *(variable_of_model(model, field) for model in models for field in MODEL_FIELDS),
    ]
    close = get_close_matches(name, known, 1, cutoff=0)
    return f"the nearest name is {close[0]}"


def _refuse_another(layer: Layer, path: Key, stated: Stated) -> None:
    if path in layer and layer[path].value != stated.value:
        raise SettingsError(
            f"{layer[path].origin} and {stated.origin} both set {dotted(path)}; permitted: one of the two"
        )


def _refuse_no_text(name: str, text: str) -> None:
    if halved(text):  # what Python makes of bytes that are not UTF-8
        raise SettingsError(f"environment {name}: not UTF-8; permitted: text")


def _value(text: str, path: Key) -> Any:
    """Read a YAML scalar, or a list or mapping in brackets; whatever else YAML makes of it is taken as written."""
    if path[-1] in {"url", "base_url", "prefix"}:
        return text
    try:
        value = parse(text, path[-1])
    except SettingsError:
        return text
    if isinstance(value, bool | int | float | None) or text.lstrip()[:1] in {"[", "{", '"', "'"}:
        return value
    return text
