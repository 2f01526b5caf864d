"""Elements of HTML: whatever text stands in one is escaped by the library that writes it."""

import re
from typing import TypeAlias
from xml.etree import ElementTree as ET

Inside: TypeAlias = "str | ET.Element"
_CODE = re.compile(r"`([^`]+)`")


def element(name: str, /, *inside: Inside, **attributes: str) -> ET.Element:
    """An element with texts and elements in it; `class_` is written `class`."""
    made = ET.Element(name, {key.rstrip("_"): value for key, value in attributes.items()})
    for each in inside:
        if isinstance(each, str):
            _say(made, each)
        else:
            made.append(each)
    return made


def _say(made: ET.Element, text: str) -> None:
    """Put a text behind what an element holds already."""
    if len(made):
        made[-1].tail = (made[-1].tail or "") + text
    else:
        made.text = (made.text or "") + text


def marked(text: str) -> list[Inside]:
    """A text whose words in backticks are code."""
    return [element("code", piece) if number % 2 else piece for number, piece in enumerate(_CODE.split(text))]


def paragraphs(text: str) -> list[Inside]:
    """A text whose paragraphs stand apart by an empty line."""
    return [element("p", *marked(" ".join(each.split()))) for each in text.split("\n\n") if each.strip()]


def written(page: ET.Element) -> bytes:
    """A whole page."""
    return f"<!DOCTYPE html>\n{ET.tostring(page, 'unicode', method='html')}".encode()
