"""One setting: its default, unit, permitted range and meaning in one place, for errors and documentation alike."""

from __future__ import annotations

import re
import sys
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator
from pydantic_core import PydanticCustomError

from om_api.settings.durations import parse_duration

MAX_TOKENS = 10_000_000
MOST_NAMES = 10  # each may be asked before the next one steps in
_LARGEST = sys.float_info.max
SMALLEST_FLOOR = 1_000  # below it nothing tells tokens from a mistyped ratio
_NAME = re.compile(r"[A-Za-z0-9._:/@+-]{1,200}")


class Group(BaseModel):
    """Settings that stand together: unchangeable, no unknown keys, no guessing of types, no values in errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, hide_input_in_errors=True)


def setting(default: object, meaning: str, permitted: str, unit: str = "", **bounds: Any) -> Any:
    """Declare one setting; `permitted` completes "permitted: …" in an error, `bounds` are pydantic's."""
    about = {"unit": unit, "permitted": permitted, "secret": bounds.pop("secret", False)}
    return Field(default, description=meaning, json_schema_extra=about, **bounds)


def tokens(default: int | None, meaning: str, least: int = 100) -> Any:
    """Declare a whole number of tokens."""
    return setting(default, meaning, f"{least:,} to {MAX_TOKENS:,}", "tokens", ge=least, le=MAX_TOKENS)


def count(default: int, meaning: str, least: int, most: int, unit: str) -> Any:
    """Declare a whole number of something."""
    return setting(default, meaning, f"{least:,} to {most:,}", unit, ge=least, le=most)


def duration(seconds: float, meaning: str, permitted: str, least: float, most: float) -> Any:
    """Declare a duration; `least` and `most` are seconds."""
    return setting(seconds, meaning, f"{permitted} (such as 90s, 5m, 1h30m, 2d)", "duration", ge=least, le=most)


def contradiction(text: str, *keys: str) -> PydanticCustomError:
    """An error about several keys of one group at once; the keys lead to the files that state them."""
    return PydanticCustomError("contradiction", "{text}", {"text": text, "keys": keys})


def finite(value: object) -> float:
    """The value, if it is a number; ValueError for anything else, `true`, infinity and NaN included."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_LARGEST <= value <= _LARGEST:
        raise ValueError("not a number")
    return value


def _fraction_or_tokens(value: object) -> float:
    number = finite(value)
    if 0 < number < 1 or (isinstance(number, int) and 1 <= number <= MAX_TOKENS):
        return number
    raise ValueError("out of range")


def _ratio_or_floor(value: object) -> float:
    number = finite(value)
    if 0 < number <= 1 or (isinstance(number, int) and SMALLEST_FLOOR <= number <= MAX_TOKENS):
        return number
    raise ValueError("out of range")


def _multiple_or_tokens(value: object) -> float:
    number = finite(value)
    if 1 <= number < 100 or (isinstance(number, int) and 100 <= number <= MAX_TOKENS):  # noqa: PLR2004  see permitted
        return number
    raise ValueError("out of range")


def _model_names(value: object) -> str | tuple[str, ...]:
    names = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not 1 <= len(names) <= MOST_NAMES or not all(isinstance(name, str) and _NAME.fullmatch(name) for name in names):
        raise ValueError("not names")
    return names if isinstance(value, list | tuple) else names[0]


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # a directory of zones is an OSError
        raise ValueError("no such zone") from None
    return name


Seconds = Annotated[float, BeforeValidator(parse_duration)]
FractionOrTokens = Annotated[float, PlainValidator(_fraction_or_tokens)]
RatioOrFloor = Annotated[float, PlainValidator(_ratio_or_floor)]
MultipleOrTokens = Annotated[float, PlainValidator(_multiple_or_tokens)]
ModelNames = Annotated[str | tuple[str, ...], PlainValidator(_model_names)]
Zone = Annotated[str, AfterValidator(_zone)]
