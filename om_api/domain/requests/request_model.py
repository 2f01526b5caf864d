"""Models of what callers send, whose validation ends at the first faults.

Pydantic otherwise reports each item of a list and each unknown field, at more than a kilobyte of memory per byte that was sent.
"""

from collections.abc import Mapping
from itertools import islice
from typing import Any

from pydantic import BaseModel, ConfigDict, FailFast, model_validator

MOST_UNKNOWN = 5  # unknown fields of one object that are reported


class FirstFault(FailFast):
    """Annotates a list or tuple, whose validation ends at its first faulty item; also as a member of a union.

    Every list of a request needs it, unless its items can be anything.
    """

    __hash__ = object.__hash__


class RequestModel(BaseModel):
    """An object in a request. Of many unknown fields the first 5 are reported."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_most_unknown(cls, given: Any) -> Any:
        fields = cls.model_fields
        bounded = cls.model_config.get("extra") == "forbid" and isinstance(given, Mapping)
        if not bounded or len(given) <= len(fields) + MOST_UNKNOWN:
            return given
        unknown = islice((name for name in given if name not in fields), MOST_UNKNOWN)
        return {name: given[name] for name in (*(name for name in fields if name in given), *unknown)}
