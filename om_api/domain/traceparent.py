"""The name of a span as W3C's header has it, by which what is kept says where it came from."""

import re

_FORM = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[0-9a-f]")


def traceparent(said: object) -> str:
    """What somebody said, if it is a `traceparent` of version 00, else "": what is none is no error, says W3C."""
    return said if isinstance(said, str) and _FORM.fullmatch(said) else ""
