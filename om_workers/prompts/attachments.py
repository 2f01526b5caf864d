"""Images and files, which a transcript only names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from om_api.domain.folding import LONGEST_NAME, in_brackets


class Attachments:
    """Numbers images and files, each kind by itself, in the order they are shown."""

    def __init__(self) -> None:
        self._numbers = {"Image": 0, "File": 0}

    def placeholder(self, part: Mapping[str, Any]) -> str:
        """Return `[Image #1: label]` or `[File #1: label]`; without a label only the number."""
        kind = "Image" if part["type"] == "image" else "File"
        self._numbers[kind] += 1
        label = _label(part)
        return f"[{kind} #{self._numbers[kind]}{label and ': '}{label}]"


def _label(part: Mapping[str, Any]) -> str:
    """The attachment's name, else the last part of its URL's path, else its MIME type."""
    url = str(part.get("url") or "")
    said = part.get("name") or part.get("filename") or _basename(url) or part.get("mime") or _mime(url)
    return in_brackets(said)


def _basename(url: str) -> str:
    if url[:5].lower() == "data:":
        return ""
    try:
        return unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2])
    except ValueError:  # such as a broken IPv6 address
        return ""


def _mime(url: str) -> str:
    return url[5 : 5 + LONGEST_NAME].partition(",")[0].partition(";")[0] if url[:5].lower() == "data:" else ""
