"""The clock of a process that is set ahead: by libfaketime, which Debian has as a package."""

import os
from collections.abc import Mapping
from pathlib import Path

_PLACES = ("lib/*/faketime/libfaketime.so.1", "lib*/faketime/libfaketime.so.1", "local/lib/faketime/libfaketime.so.1")


def library() -> str:
    """Where libfaketime is, `OM_CHAOS_FAKETIME` if it says so; '' where it is not."""
    found = (str(path) for place in _PLACES for path in Path("/usr").glob(place))
    return os.environ.get("OM_CHAOS_FAKETIME") or next(found, "")


def ahead(seconds: float) -> Mapping[str, str]:
    """The variables of a process whose clock is this far ahead, but no duration; RuntimeError without the library."""
    if not (preload := library()):
        raise RuntimeError("libfaketime was not found: apt-get install libfaketime, or name it by OM_CHAOS_FAKETIME")
    return {"LD_PRELOAD": preload, "FAKETIME": f"+{seconds:.0f}s", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
