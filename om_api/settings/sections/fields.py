"""One setting: its default, unit, permitted range and meaning in one place, for errors and documentation alike."""

import re
import sys
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal
from zoneinfo import ZoneInfo

import msgspec
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator
from pydantic_core import PydanticCustomError

from om_api.recall.analysis import AUTO
from om_api.recall.stemming import LANGUAGES

MAX_TOKENS = 10_000_000
MOST_NAMES = 10  # each may be asked before the next one steps in
SMALLEST_FLOOR = 1_000  # below it nothing tells tokens from a mistyped ratio
LEAST_ROOM = 100  # tokens of a context
SMALLEST_BLOCK = 100  # below it a number is a multiple
_LARGEST = sys.float_info.max
_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_LONGEST_DURATION = 1e12
_LONGEST_TEXT = 100
_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_DURATION = re.compile("".join(rf"(?:(?P<{unit}>{_NUMBER})\s*{unit}\s*)?" for unit in _UNITS))
_NO_ZONES = re.compile(r"localtime|posixrules|Factory|(posix|right)/.*")  # which lie among those of a machine
_ORIGIN = re.compile(r"(https?)://(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::([1-9][0-9]{0,4}))?")
_UNSAID_PORTS = {("http", "80"), ("https", "443")}  # browsers leave them out, so that none would ever be met
_MOST_ORIGINS = 100
_NAME = re.compile(r"[A-Za-z0-9._:/@+-]{1,200}")
# An agent's settings may name no other variable: its use would reveal whether it is set, and let its value be guessed.
SECRET_PREFIX = "OM_SECRET_"  # noqa: S105 - what names begin with
SECRET_NAME = re.compile(rf"{SECRET_PREFIX}[A-Z0-9_]{{1,100}}")


class SettingOwner(StrEnum):
    """Who may change a setting; each owner may also change the settings of the ones before it."""

    AGENT = "agent"  # an API key with the role writer
    OPERATOR = "operator"  # an API key with the role operator
    ADMINISTRATOR = "administrator"  # writes files and variables, or runs `om` with access to the store

    def includes(self, needed: "SettingOwner") -> bool:
        """Whether this owner may change the settings of another one."""
        ranks = list(SettingOwner)
        return ranks.index(self) >= ranks.index(needed)


class Group(BaseModel):
    """Settings that stand together: unchangeable, no unknown keys, no guessing of types, no values in errors.

    `owner` is who may change those of its fields that name no other owner.
    """

    owner: ClassVar[SettingOwner] = SettingOwner.ADMINISTRATOR
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, hide_input_in_errors=True)


class Mapped(dict[str, Any]):
    """What a setting holds as names with values: a dict that nobody changes, so that it can be compared and hashed."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(msgspec.json.encode(self))


def setting(default: object, meaning: str, permitted: str, unit: str = "", **bounds: Any) -> Any:
    """Declare one setting; `permitted` completes "permitted: …" in an error, `owner` is who may change it.

    Further `bounds` are pydantic's.
    """
    about = {
        "unit": unit,
        "permitted": permitted,
        "secret": bounds.pop("secret", False),
        "owner": bounds.pop("owner", ""),
    }
    return Field(default, description=meaning, json_schema_extra=about, **bounds)


def switch(meaning: str, *, on: bool, **about: Any) -> Any:
    """Declare what is true or false."""
    return setting(on, meaning, "true or false", **about)


def tokens(default: int | None, meaning: str, least: int = 100) -> Any:
    """Declare a whole number of tokens."""
    return number(default, meaning, least, MAX_TOKENS, "tokens")


def number(default: float | None, meaning: str, least: int, most: int, unit: str = "", **about: Any) -> Any:
    """Declare a number in a range, ends included."""
    return setting(default, meaning, f"{least:,} to {most:,}", unit, ge=least, le=most, **about)


def limit(default: int | None, meaning: str, least: float, most: int, unit: str) -> Any:
    """Declare a number in a range, or null for no limit."""
    return setting(default, meaning, f"{least:,} to {most:,}, or null", unit, ge=least, le=most)


def duration(seconds: float, meaning: str, least: float = 1, most: float = 3_600, **about: Any) -> Any:
    """Declare a duration; `least` and `most` are seconds."""
    permitted = f"{format_duration(least)} to {format_duration(most)} (such as 90s, 5m, 1h30m, 2d)"
    return setting(seconds, meaning, permitted, "duration", ge=least, le=most, **about)


def secret_variable(what: str) -> Any:
    """Declare the name of the environment variable that holds a secret, which itself stands in no file."""
    meaning = f"name of the environment variable that holds the {what}"
    permitted = f"the name of an environment variable, not the {what} itself"
    return setting(None, meaning, permitted, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", secret=True)


def contradiction(text: str, *keys: str) -> PydanticCustomError:
    """An error about several keys of one group at once; the keys lead to the files that state them."""
    return PydanticCustomError("contradiction", "{text}", {"text": text, "keys": keys})


def parse_duration(value: object) -> float:
    """Return seconds; raises ValueError for what is negative, not finite, a boolean, or no duration at all."""
    seconds = _from_text(value.strip()) if isinstance(value, str) else value
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise ValueError("not a duration")  # noqa: TRY004  pydantic collects ValueError, and lets TypeError through
    if not 0 <= seconds <= _LONGEST_DURATION:
        raise ValueError("a duration is finite and not negative")
    return float(seconds)


def _from_text(text: str) -> float | None:
    if len(text) > _LONGEST_TEXT:
        return None
    if re.fullmatch(_NUMBER, text):
        return float(text)
    found = _DURATION.fullmatch(text) if text else None
    if found is None:
        return None
    return sum(float(number) * _UNITS[unit] for unit, number in found.groupdict().items() if number)


def format_duration(seconds: float) -> str:
    """Write seconds as `parse_duration` reads them, in the largest units that fit: 5400 is `1h30m`."""
    parts, rest = [], round(seconds, 3)
    for unit, size in _UNITS.items():
        count = rest if unit == "s" else rest // size
        rest = round(rest - count * size, 3)
        parts += [f"{count:g}{unit}"] if count else []
    return "".join(parts) or "0s"


def finite(value: object) -> float:
    """The value, if it is a number; ValueError for anything else, `true`, infinity and NaN included."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_LARGEST <= value <= _LARGEST:
        raise ValueError("not a number")
    return value


def _or_tokens(is_share: Callable[[float], bool], least: int) -> PlainValidator:
    """Take a share or multiple of something, or a whole number of tokens from `least`."""

    def read(value: object) -> float:
        amount = finite(value)
        if is_share(amount) or (isinstance(amount, int) and least <= amount <= MAX_TOKENS):
            return amount
        raise ValueError("out of range")

    return PlainValidator(read)


def _model_names(value: object) -> str | tuple[str, ...]:
    names = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not 1 <= len(names) <= MOST_NAMES or not all(isinstance(name, str) and _NAME.fullmatch(name) for name in names):
        raise ValueError("not names")
    return names if isinstance(value, list | tuple) else names[0]


def _room(value: object) -> int | str | None:
    if value is None or value == "auto":
        return value
    if isinstance(value, bool) or not isinstance(value, int) or not LEAST_ROOM <= value <= MAX_TOKENS:
        raise ValueError("out of range")
    return value


def _origins(value: object) -> str | tuple[str, ...]:
    if value == "*":
        return "*"
    if not isinstance(value, list | tuple) or len(value) > _MOST_ORIGINS:
        raise ValueError("neither a list nor *")
    for origin in value:
        found = _ORIGIN.fullmatch(origin) if isinstance(origin, str) else None
        if not found or found.groups() in _UNSAID_PORTS:
            raise ValueError("not an origin")
    return tuple(value)


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # a directory of zones is an OSError
        raise ValueError("no such zone") from None
    if _NO_ZONES.fullmatch(name):
        raise ValueError("another zone on each machine")
    return name


def _language(name: str) -> str:
    if name not in {AUTO, *LANGUAGES}:
        raise ValueError("no such language")
    return name


Seconds = Annotated[float, BeforeValidator(parse_duration)]
FractionOrTokens = Annotated[float, _or_tokens(lambda share: 0 < share < 1, least=1)]
RatioOrFloor = Annotated[float, _or_tokens(lambda ratio: 0 < ratio <= 1, least=SMALLEST_FLOOR)]
MultipleOrTokens = Annotated[float, _or_tokens(lambda times: 1 <= times < SMALLEST_BLOCK, least=SMALLEST_BLOCK)]
ModelNames = Annotated[str | tuple[str, ...], BeforeValidator(_model_names)]
# YAML reads a bare off as false
ReviewMode = Annotated[Literal["off", "ask"], BeforeValidator(lambda said: "off" if said is False else said)]
Room = Annotated[int | Literal["auto"] | None, PlainValidator(_room)]
Origins = Annotated[str | tuple[str, ...], BeforeValidator(_origins)]
Zone = Annotated[str, AfterValidator(_zone)]
Language = Annotated[str, AfterValidator(_language)]
