"""Settings that the documents recommend, because what is measured here says so; see docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from om_api.domain.errors import InvalidInputError

RECOMMENDED = ("buffer_tokens=0.3", "buffer_activation=0.9")
# where money counts most: docs/costs.md
THRIFTY = (
    *RECOMMENDED, "message_threshold=16000", "observation_threshold=10000", "reflection.buffer_activation=0.9",
)  # fmt: skip


def as_environment(settings: Sequence[str]) -> Mapping[str, str]:
    """Settings by their names in the environment: "reflection.drain=false" is OM_REFLECTION__DRAIN.

    Raises InvalidInputError for what is not name=value.
    """
    pairs = [tuple(word.strip() for word in setting.split("=", 1)) for setting in settings]
    if wrong := [setting for setting, pair in zip(settings, pairs, strict=True) if not all(pair) or len(pair) == 1]:
        raise InvalidInputError(f"{wrong[0]!r} is not NAME=VALUE: write it as in --set message_threshold=8000")
    return {f"OM_{name.upper().replace('.', '__')}": value for name, value in pairs}
