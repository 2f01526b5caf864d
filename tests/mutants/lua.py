"""Finding conditions in Lua: enough of a reader for expressions made of `and` and `or`."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"(?P<gap>\s+|--\[\[.*?\]\]|--[^\n]*)"
    r"|(?P<string>'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|\[\[.*?\]\])"
    r"|(?P<number>0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>\.\.\.|\.\.|[<>=~]=|[-+*/%^#<>=(){}\[\];:,.])",
    re.DOTALL,
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_BEFORE = {"if", "elseif", "while", "until", "return", "=", "(", "[", "{", ",", ";", "in"}  # an expression follows
_UNARY = {"not", "-", "#"}
_COMPARING = {"==", "~=", "<", ">", "<=", ">="}
_BINARY = _COMPARING | {"+", "-", "*", "/", "%", "^", ".."}
_CONDITION = {"if", "elseif", "while", "until"}


class Token(NamedTuple):
    """A word of Lua and where it stands; comments and blanks are none."""

    kind: str
    text: str
    start: int
    stop: int


class Side(NamedTuple):
    """What stands between two `and` or `or`: its place in the source, and whether it compares."""

    start: int
    stop: int
    compares: bool = False


class Expression(NamedTuple):
    """Sides joined by `or`, each of sides joined by `and`; `after` is the word before it: `if`, `=`, `(` …"""

    after: str
    anyof: list[list[Side]]

    @property
    def start(self) -> int:
        """Where it begins."""
        return self.anyof[0][0].start

    @property
    def stop(self) -> int:
        """Where it ends."""
        return self.anyof[-1][-1].stop

    @property
    def is_condition(self) -> bool:
        """Whether a statement branches on it."""
        return self.after in _CONDITION


def tokens(source: str) -> list[Token]:
    """The words of a script; ValueError at what is no Lua."""
    found, at = [], 0
    while at < len(source):
        match = _TOKEN.match(source, at)
        if not match:
            raise ValueError(f"no Lua: {source[at : at + 30]!r}")
        if match.lastgroup != "gap":
            found.append(Token(str(match.lastgroup), match[0], *match.span()))
        at = match.end()
    return found


def expressions(words: list[Token]) -> Iterator[Expression]:
    """Every expression, those inside brackets and calls on their own as well."""
    for at, word in enumerate(words[:-1]):
        follows = words[at + 1].text
        if word.kind != "string" and word.text in _BEFORE and follows not in {")", "]", "}", "function", "end"}:
            yield Expression(word.text, _anyof(words, at + 1))


def _anyof(words: list[Token], at: int) -> list[list[Side]]:
    found: list[list[Side]] = [[]]
    while True:
        side, at = _side(words, at)
        found[-1].append(side)
        joint = words[at].text if at < len(words) else ""
        if joint not in {"and", "or"}:
            return found
        if joint == "or":
            found.append([])
        at += 1


def _side(words: list[Token], at: int) -> tuple[Side, int]:
    begin, compares = at, False
    while True:
        while words[at].text in _UNARY:
            at += 1
        at = _operand(words, at)
        if at >= len(words) or words[at].kind == "string" or words[at].text not in _BINARY:
            return Side(words[begin].start, words[at - 1].stop, compares), at
        compares = compares or words[at].text in _COMPARING
        at += 1


def _operand(words: list[Token], at: int) -> int:
    """Past a name, constant or bracket and the calls, fields and indexes that hang on it."""
    at = past(words, at)
    while at < len(words):
        if words[at].text in {".", ":"}:
            at += 2
        elif words[at].text in _CLOSING or words[at].kind == "string":
            at = past(words, at)
        else:
            break
    return at


def past(words: list[Token], at: int) -> int:
    """Past a word, or past a bracket and all that is in it."""
    closing = _CLOSING.get(words[at].text)
    if not closing or words[at].kind == "string":
        return at + 1
    depth, opening = 0, words[at].text
    while True:
        if words[at].kind != "string":
            depth += (words[at].text == opening) - (words[at].text == closing)
        at += 1
        if not depth:
            return at
