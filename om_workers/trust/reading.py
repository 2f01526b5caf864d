"""Reading: the sentences of a text, the words of it as they are compared, and the label before a note."""

from functools import lru_cache

from om_api.language.words import stems
from om_api.patterns.pattern import Pattern
from om_workers.trust.disguises import plain

_SENTENCE = Pattern(r"[.!?;…](?P<after>[\"”')]?\s+)|[。！？](?P<wide>)|(?P<lines>[\n\r\u2028\u2029]+)")
_WIDE = Pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_LABEL = Pattern(
    r"(?:(?:Primary|Secondary|Pattern|Insight|User asked|User|Assistant|System|Tool|tool [\w.-]+|[\w.-]{1,60}(?: says)?): )+"
)

_SOURCE = Pattern(r"(?:tool (?P<tool>[\w.-]+)|(?P<says>[\w.-]+) says|(?P<like>[a-z]\w*[_.-]\w+)): ")
_NO_TOOLS = frozenset({"user", "agent", "assistant", "system"})


def source_in(note: str) -> str:
    """Which tool or page a note names as its source; "" where its label may be any word."""
    found = _SOURCE.match(note)
    name = next(filter(None, found.groups())) if found else ""
    return "" if name.lower() in _NO_TOOLS else name


def label_of(note: str) -> str:
    """The word at the beginning of a note on who says it, or what kind of note it is."""
    found = _LABEL.match(note)
    return found[0] if found else ""


def without_label(note: str) -> str:
    """A note as it is judged: without that word, or without the first one before a colon within it. No note is written so."""
    return _LABEL.sub("", note, count=1)


@lru_cache(maxsize=64)  # a note is compared with several kinds of sayings
def words_of(text: str) -> frozenset[str]:
    """The words of a text that carry something, as they are compared; of a script without blanks its pairs of signs."""
    shown = plain(text)
    found = stems(shown)
    for run in () if shown.isascii() else _WIDE.findall(shown):
        found |= {run[at : at + 2] for at in range(max(1, len(run) - 1))}
    return frozenset(found)


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text."""
    found, at = list[str](), 0
    for each in _SENTENCE.finditer(text):
        start, end = each.span(each.lastgroup or 0)
        found.append(text[at:start].strip())
        at = end
    return [each for each in (*found, text[at:].strip()) if each]
