"""Settings that the documents recommend, because what is measured here says so; see docs/benchmarks.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RECOMMENDED = ("buffer_tokens=0.3", "buffer_activation=0.9")
# where money counts most: docs/costs.md
THRIFTY = (
    *RECOMMENDED, "message_threshold=16000", "observation_threshold=10000", "reflection.buffer_activation=0.9",
)  # fmt: skip


def as_environment(settings: Sequence[str]) -> Mapping[str, str]:
    """Settings by their names in the environment: "reflection.drain=false" is OM_REFLECTION__DRAIN."""
    pairs = (setting.partition("=") for setting in settings)
    return {f"OM_{name.strip().upper().replace('.', '__')}": value.strip() for name, _, value in pairs}
