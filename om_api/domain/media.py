"""Images and other data in calls and results of tools: parts for the model, and base64 that is replaced by a name."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from om_api.domain.folding import in_brackets
from om_api.domain.vendors.ours import Part, data_url
from om_api.domain.vendors.parts import to_parts

LEAST = 256  # characters; what is shorter may be an id, and costs little as text
_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?[^,]{0,200};base64,[A-Za-z0-9+/_=\r\n-]*", re.IGNORECASE)
_DATA = re.compile(r"[A-Za-z0-9+/_=\r\n-]*")
_SHOWN_TYPES = ("image/", "audio/", "video/", "application/pdf")  # data of these is no id, however short it is
_DATA_KEYS = ("data", "base64", "blob")
_MEDIA = {"image", "file", "image_url", "input_image", "input_file", "input_audio", "document"}
_GEMINIS = {"inlineData", "inline_data", "fileData", "file_data"}
_MCP = {"content", "isError", "structuredContent", "_meta"}  # the fields of a tool's result in MCP
_TYPES = ("mime", "mimeType", "mime_type", "mediaType", "media_type")


def attached(part: Part) -> Part | None:
    """An image or file with its address, or with its vendor's id; None for one with neither."""
    if any(isinstance(part.get(key), str) and part[key] for key in ("url", "file_id")):
        return part
    data = next((data for key in _DATA_KEYS if isinstance(data := part.get(key), str) and data), None)
    mime = next(_media_types(part), "")
    if data is None or not mime:
        return None
    return {
        **{key: said for key, said in part.items() if key not in _DATA_KEYS},
        "url": data_url(mime, data),
        "mime": mime,
    }


def split(result: Any) -> tuple[Any, list[Part]]:
    """A tool's result without its images and files, and these as parts; remaining texts become one text."""
    if isinstance(result, dict) and isinstance(result.get("content"), list) and result.keys() <= _MCP:
        left, media = split(result["content"])
        return (left, media) if media else (result, [])
    items = [result] if isinstance(result, dict) else result
    if not isinstance(items, list) or not any(map(_may_be_media, items)):
        return result, []
    rest, media = list[Any](), list[Part]()
    for item in items:
        found = next((attached(part) for part in to_parts([item])), None) if _may_be_media(item) else None
        if found:
            media.append(found)
        else:
            rest.append(item)
    if not media:
        return result, []
    texts = [item.get("text") if isinstance(item, dict) and item.get("type") == "text" else item for item in rest]
    said = [text for text in texts if isinstance(text, str)]
    return ("\n".join(said) if len(said) == len(texts) else rest), media


def _may_be_media(item: Any) -> bool:
    return isinstance(item, dict) and (item.get("type") in _MEDIA or not _GEMINIS.isdisjoint(item))


def may_hold_data(encoded: bytes) -> bool:
    """Whether JSON may hold data that `named` replaces; a cheap check."""
    return len(encoded) >= LEAST or b";base64," in encoded or any(f'"{key}"'.encode() in encoded for key in _DATA_KEYS)


def named(value: Any) -> Any:
    """Return a JSON value with its data named instead of spelled out, `[data image/png]`; the value itself if it has none.

    Data is a string of 256 characters or more that is a data: URL in base64, or base64 (under another name than `text`)
    in an object that says its media type beside it. Of images, sound, video and PDF it may be shorter. A long token or key that
    stands alone is left as it is.
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
    if text[:5].lower() != "data:" or (len(text) < LEAST and not text[5:].lower().startswith(_SHOWN_TYPES)):
        return text
    found = _URL.fullmatch(text)
    return _name(found[1] or "") if found else text


def _object_named(value: dict[str, Any]) -> dict[str, Any]:
    kind = next(_media_types(value), "")
    made = {
        key: _name(kind) if kind and key != "text" and _is_data(key, item, kind) else _named(item)
        for key, item in value.items()
    }
    return made if _differ(list(made.values()), list(value.values())) else value


def _media_types(value: Mapping[str, Any]) -> Iterator[str]:
    return (kind for key in _TYPES if isinstance(kind := value.get(key), str) and kind)


def _is_data(key: str, value: object, kind: str) -> bool:
    if not isinstance(value, str) or not value:
        return False
    of_media = key in _DATA_KEYS and kind.lower().startswith(_SHOWN_TYPES)
    return (of_media or len(value) >= LEAST) and _DATA.fullmatch(value) is not None


def _differ(made: list[Any], before: list[Any]) -> bool:
    return any(new is not old for new, old in zip(made, before, strict=True))


def _name(kind: str) -> str:
    return f"[data {in_brackets(kind)}]" if kind else "[data]"
