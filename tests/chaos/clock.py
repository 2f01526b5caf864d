"""The clock of a process that is set ahead: by libfaketime, which Debian has as a package."""

import glob
import os
from collections.abc import Mapping

_PLACES = ("/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib*/faketime/libfaketime.so.1", "/usr/local/lib/faketime/libfaketime.so.1")


def library() -> str:
    """Where libfaketime is, `OM_CHAOS_FAKETIME` if it says so; '' where it is not."""
    return os.environ.get("OM_CHAOS_FAKETIME") or next((found for place in _PLACES for found in glob.glob(place)), "")


def ahead(seconds: float) -> Mapping[str, str]:
    """The variables of a process whose clock is this far ahead; durations last as long as ever. RuntimeError without the library."""
    if not (preload := library()):
        raise RuntimeError("libfaketime was not found: apt-get install libfaketime, or name it by OM_CHAOS_FAKETIME")
    return {"LD_PRELOAD": preload, "FAKETIME": f"+{seconds:.0f}s", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
