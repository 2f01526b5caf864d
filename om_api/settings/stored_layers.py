"""The layer that stands in the store: documents by agent's name or glob, above agents' files and below the environment."""

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from om_api.domain.errors import SettingsError
from om_api.settings.catalogue import dotted, is_system_wide, owner_of
from om_api.settings.documents import plain
from om_api.settings.files import is_agent, layer_of
from om_api.settings.sections.fields import SettingOwner
from om_api.settings.sources import Layer

ORIGIN = "store"
LONGEST_NAME = 200
OF_ADMINISTRATORS = "belongs to administrators; permitted: in a file or the environment, not in the store"
_NOBODY = "no agent has such a name; permitted: A-Z a-z 0-9 . _ : @ + - and globs of them; remove the entry"


class StoredTexts(NamedTuple):
    """What the store says of settings: texts by agent's name or glob, and their digest; or why they cannot be had."""

    digest: str = ""
    texts: Mapping[str, bytes] = {}
    mistake: str = ""


class StoredLayers(NamedTuple):
    """The texts that were read, what those that can be in force state, and what is wrong with the others."""

    texts: StoredTexts = StoredTexts()
    layers: Mapping[str, Layer] = {}
    mistakes: Mapping[str, str] = {}


def version_of(text: bytes | str | None) -> str:
    """A digest by which a text is told from what it was; "" where there is none."""
    data = text.encode() if isinstance(text, str) else text
    return "" if data is None else hashlib.sha1(data, usedforsecurity=False).hexdigest()


def origin_of(name: str) -> str:
    """Where a value comes from that an entry states."""
    return f"{ORIGIN} {plain(name)}"


def layer_of_entry(name: str, text: bytes) -> Layer:
    """What an entry states; raises SettingsError, also for what belongs to an administrator.

    An entry does not say who wrote it: an operator's key may have. So no administrator's setting is in force from here.
    """
    if len(name) > LONGEST_NAME or not is_agent(name):
        raise SettingsError(f"{origin_of(name)}: {_NOBODY}")
    layer = layer_of(text, origin_of(name))
    for path in layer:
        if owner_of(path) is SettingOwner.ADMINISTRATOR and not is_system_wide(
            path
        ):  # what holds for all is refused with the base
            raise SettingsError(f"{origin_of(name)}: {dotted(path)} {OF_ADMINISTRATORS}")
    return layer
