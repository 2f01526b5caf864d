"""The environment's layer: `OM_…` variables, above every file."""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from om_api.domain.errors import SettingsError
from om_api.settings.catalogue import (
    MODEL_FIELDS,
    OTHER_VARIABLES,
    PERMITTED,
    VARIABLES,
    Key,
    dotted,
    variable_of_model,
)
from om_api.settings.documents import halved, parse, plain
from om_api.settings.sections.fields import SECRET_PREFIX
from om_api.settings.sources import Layer, Stated

_SIMILAR = 0.8  # of 1: how similar a known name must be to be suggested
_OF_MODEL = re.compile(rf"OM_MODELS__(?P<name>[A-Z0-9_]+?)__(?P<field>{'|'.join(MODEL_FIELDS).upper()})")


def unknown_variables(environ: Mapping[str, str]) -> dict[str, str | None]:
    """The unknown `OM_…` variables, each with a known name that is similar, if there is one."""
    known = [*VARIABLES, *OTHER_VARIABLES]
    unknown = [
        name
        for name, text in sorted(environ.items())
        if _is_ours(name) and text and name not in known and not _OF_MODEL.fullmatch(name)
    ]
    return {name: next(iter(get_close_matches(name, known, 1, cutoff=_SIMILAR)), None) for name in unknown}


def environment_layer(environ: Mapping[str, str], models: Iterable[str]) -> Layer:
    """Return what the environment states; `models` are the names the files know.

    An empty variable counts as not set. Raises SettingsError with a line for each variable that cannot be: of an unknown
    `OM_…` variable it names the nearest known one.
    """
    layer, mistakes, names = Layer(), list[str](), list(models)
    for name in sorted(name for name, text in environ.items() if _is_ours(name) and text):
        try:
            _state(layer, name, environ[name], names)
        except SettingsError as error:
            mistakes.append(str(error))
    if mistakes:
        raise SettingsError("\n".join(mistakes))
    return layer


def _is_ours(name: str) -> bool:
    """Whether a variable is a setting; `OM_SECRET_…` variables are not, settings name them."""
    return name.startswith("OM_") and not name.startswith(SECRET_PREFIX)


def _state(layer: Layer, name: str, text: str, models: list[str]) -> None:
    """Add what one variable states to a layer."""
    if name in OTHER_VARIABLES:
        _check_other(name, text)
        return
    for path in _paths(name, models):
        stated = Stated(value_of(name, text, path), f"environment {name}")
        other = layer.get(path, stated)
        if other.value != stated.value:
            both = f"{other.origin} and {stated.origin}"
            raise SettingsError(f"{both} both set {dotted(path)}; permitted: one of the two")
        layer[path] = stated


def _check_other(name: str, text: str) -> None:
    pattern, permitted = PERMITTED.get(name, ("(?s:.*)", ""))
    if not re.fullmatch(pattern, text):
        raise SettingsError(f"environment {name}: it is {plain(text)!r}; permitted: {permitted}")


def _paths(name: str, models: list[str]) -> list[Key]:
    """The settings a variable sets: one, or the field of each model that its name can mean."""
    if name in VARIABLES:
        return [VARIABLES[name]]
    if not (found := _OF_MODEL.fullmatch(name)):
        name = plain(name)
        raise SettingsError(
            f"environment {name}: there is no such setting; the nearest name is {_nearest(name, models)}"
        )
    field = found["field"].lower()
    known = [model for model in models if variable_of_model(model, field) == name]
    return [("models", model, field) for model in known or [found["name"].lower()]]


def _nearest(name: str, models: list[str]) -> str:
    of_models = [variable_of_model(model, field) for model in models for field in MODEL_FIELDS]
    return get_close_matches(name, [*VARIABLES, *OTHER_VARIABLES, *of_models], 1, cutoff=0)[0]


def value_of(name: str, text: str, path: Key) -> Any:
    """Read a YAML scalar, or a list or mapping in brackets; whatever else YAML makes of it is taken as written."""
    if halved(text):  # what Python makes of bytes that are not UTF-8
        raise SettingsError(f"environment {name}: not UTF-8; permitted: text")
    if path[-1] in {"url", "base_url", "prefix"} and not (path == ("archive", "url") and text == "null"):
        return text
    try:
        value = parse(text, path[-1])
    except SettingsError:
        return text
    if isinstance(value, bool | int | float | None) or text.lstrip()[:1] in {"[", "{", '"', "'"}:
        return value
    return text
