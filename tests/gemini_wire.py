"""Gemini's wire format for the model server: what a request says, and how an answer looks."""

import re
from typing import Any

PATH = re.compile(r"/v\w+/models/[^/:]+:generateContent")
_REASONS = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}


def prompt_of(request: dict[str, Any]) -> str:
    """What a request asks in the end."""
    return str(request["contents"][-1]["parts"][-1]["text"])


def generated(request: dict[str, Any], text: str | None, reason: str = "stop") -> dict[str, Any]:
    """An answer after a thought; usage is a token for four characters, a quarter of the input cached."""
    system = request["systemInstruction"]["parts"][0]["text"]
    asked, told = (len(system) + len(prompt_of(request))) // 4, len(text or "") // 4
    parts = [] if text is None else [{"text": "hm, <observations>", "thought": True}, {"text": text}]
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": _REASONS[reason], "index": 0}],
        "usageMetadata": {
            "promptTokenCount": asked,
            "cachedContentTokenCount": asked // 4,
            "candidatesTokenCount": told - told // 3,
            "thoughtsTokenCount": told // 3,
            "totalTokenCount": asked + told,
        },
        "modelVersion": "gemini",
    }
