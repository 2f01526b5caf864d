"""Blocks as Anthropic writes them."""

from collections.abc import Callable

from om_api.domain.vendors.ours import Part, attachment, data_url, rest, text, tool_call, tool_result


def _call(block: Part) -> Part:
    beside = rest(block, "type", "id", "name", "input")
    return tool_call(block.get("name"), block.get("input"), block.get("id"), beside)


def _result(block: Part) -> Part:
    return tool_result(block.get("content"), block.get("tool_use_id"), failed=block.get("is_error") is True)


def _media(block: Part) -> Part:
    """An image or document by its source; one of ours has none, and a source we do not know stays."""
    found = block.get("source")
    source: Part = found if isinstance(found, dict) else {}
    kind, title, data = source.get("type"), block.get("title"), source.get("data")
    if kind == "text" and isinstance(data, str):
        return text(data, {"name": title})
    if kind not in ("base64", "url", "file"):
        return rest(block)
    mime = source.get("media_type")
    url = data_url(mime, data) if kind == "base64" else source.get("url")
    said = {"url": url, "mime": mime, "name": title, "file_id": source.get("file_id")}
    beside = rest(block, "type", "source", "title")
    return attachment("image" if block["type"] == "image" else "file", **{**beside, **said})


BLOCKS: dict[str, Callable[[Part], Part]] = {
    "tool_use": _call,
    "tool_result": _result,
    "image": _media,
    "document": _media,
}
