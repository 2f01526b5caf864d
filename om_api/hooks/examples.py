"""What each point's hooks are tried with: as they are given it, and nobody's."""

from om_api.domain.webhooks.hook import Given, Point

_PLACE = {"resource": "example", "thread": "thread-1"}
_NOTED = "Date: Dec 4, 2025\n* 🔴 (09:15) User's name is Ada, and she lives in Graz"
_MESSAGE = {"id": "m-1", "role": "user", "content": "My name is Ada, and I live in Graz.", "at": 1_764_839_700_000}
EXAMPLES: dict[Point, Given] = {
    "before_observe": {**_PLACE, "chunk": "c-1", "messages": [_MESSAGE]},
    "after_observe": {
        **_PLACE, "chunk": "c-1", "text": _NOTED, "task": "Plan a day in Graz", "suggestion": "Ask what Ada likes",
        "extracted": {},
    },
    "before_reflect": {**_PLACE, "texts": [_NOTED]},
    "after_reflect": {**_PLACE, "generation": 1, "text": _NOTED},
    "before_context": {**_PLACE, "notes": _NOTED, "closing": "Today is Thursday, December 4, 2025 (UTC).", "message": _MESSAGE},
}  # fmt: skip
