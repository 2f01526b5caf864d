"""What schemathesis does not know by itself: how lines of JSON are sent."""

from typing import Any

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(_: schemathesis.SerializationContext, value: Any) -> bytes:
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else repr(value).encode()
