"""The ids in paths and questions, as OpenAPI describes them."""

from typing import Annotated

from fastapi import Path, Query

from om_api.domain.values import ID_PATTERN

_PATTERN = f"^{ID_PATTERN.pattern}$"
ResourceId = Annotated[str, Path(pattern=_PATTERN, description="whose memory", examples=["harold"])]
ThreadId = Annotated[str, Path(pattern=_PATTERN, description="one conversation", examples=["thread-1"])]
OfThread = Annotated[str | None, Query(pattern=_PATTERN, description="only this thread's", examples=["thread-1"])]
ObservationId = Annotated[str, Path(pattern=_PATTERN, description="one observation")]
EntryId = Annotated[str, Path(pattern="^[0-9a-f]{12}$", description="one entry of the quarantine")]
