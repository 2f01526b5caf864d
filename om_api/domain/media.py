"""Images and other data in base64 within what tools are given and give: no model can read them as text, so they are named."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from om_api.domain.folding import in_brackets

LEAST = 256  # characters; what is shorter may be an id, and costs little as text
_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?[^,]{0,200};base64,[A-Za-z0-9+/_=\r\n-]*", re.IGNORECASE)
_DATA = re.compile(r"[A-Za-z0-9+/_=\r\n-]*")
_TYPES = ("mime", "mimeType", "mime_type", "mediaType", "media_type")


def named(value: Any) -> Any:
    """Return a JSON value with its data named instead of spelled out, `[data image/png]`; the value itself if it has none.

    Data is a string of 256 characters or more that is a data: URL in base64, or base64 (under another name than `text`)
    in an object that says its media type beside it. A long token or key that stands alone is left as it is.
    """
    try:
        return _named(value)
    except RecursionError:  # what nests a thousand lists hurts only itself
        return value


def _named(value: Any) -> Any:
    if isinstance(value, str):
        return _url_named(value)
    if isinstance(value, list):
        made = [_named(item) for item in value]
        return made if _differ(made, value) else value
    return _object_named(value) if isinstance(value, dict) else value


def _url_named(text: str) -> str:
    if len(text) < LEAST or text[:5].lower() != "data:":
        return text
    found = _URL.fullmatch(text)
    return _name(found[1] or "") if found else text


def _object_named(value: dict[str, Any]) -> dict[str, Any]:
    kind = next(_media_types(value), "")
    made = {
        key: _name(kind) if kind and key != "text" and _is_data(item) else _named(item) for key, item in value.items()
    }
    return made if _differ(list(made.values()), list(value.values())) else value


def _media_types(value: Mapping[str, Any]) -> Iterator[str]:
    return (kind for key in _TYPES if isinstance(kind := value.get(key), str) and kind)


def _is_data(value: object) -> bool:
    return isinstance(value, str) and len(value) >= LEAST and _DATA.fullmatch(value) is not None


def _differ(made: list[Any], before: list[Any]) -> bool:
    return any(new is not old for new, old in zip(made, before, strict=True))


def _name(kind: str) -> str:
    return f"[data {in_brackets(kind)}]" if kind else "[data]"
