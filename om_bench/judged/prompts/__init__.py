"""What readers and judges are asked, in words of our own: a Markdown file for each, and the rules that judges go by."""

import hashlib
import re
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@cache
def prompt(name: str) -> str:
    """The text of a prompt."""
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()


@cache
def rule(name: str) -> str:
    """What makes an answer right for one kind of question; KeyError for a kind that has no rule."""
    found = re.split(r"^## (\w+)\n", prompt("rules"), flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))[name].strip()


@cache
def fingerprint() -> str:
    """Changes with any of the prompts: answers to others are no part of the same run."""
    texts = (prompt(name) for name in ("reader", "recall", "judge", "rubric", "rules"))
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
