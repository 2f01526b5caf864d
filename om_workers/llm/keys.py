"""The keys that are shown to providers, from the variables that hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from om_api.errors import SettingsError
from om_api.settings.providers import key_variable

if TYPE_CHECKING:
    from collections.abc import Callable

    from om_api.settings import ModelSettings


def key_of(name: str, settings: ModelSettings, variable: Callable[[str], str | None]) -> str:
    """The key that a model's settings ask for, "" if they ask for none; `variable` reads the environment.

    Only the variable they name is read, or the provider's usual one at the provider's own address: no other server is ever
    shown that one. Raises SettingsError when a variable is asked for and holds no key.
    """
    holder = key_variable(name, settings)
    if not holder:
        return ""
    key = (variable(holder) or "").strip()
    if not (key and key.isascii() and key.isprintable()):
        raise SettingsError(f"{holder} holds no key; set it to the provider's key and restart the workers")
    return key
