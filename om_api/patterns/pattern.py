r"""Regular expressions for untrusted text. RE2 matches them in time linear in the text.

Patterns are written as for `re`, and mean the same: `\w`, `\d`, `\s` and `\b` cover every alphabet. RE2 has no lookaround and no
backreferences: `behind` and `ahead` say what surrounds a match. A repeat counts up to 1,000, and `$` is the end of the text.
Compiling a pattern takes milliseconds, so it is done at the first use.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache, partial
from itertools import accumulate
from typing import Any

import re2

from om_api.patterns.syntax import FOLDED, INSTEAD, sign_of, translate

_MEMORY = 64 << 20  # bytes for the states of one pattern: with too few, RE2 falls back to a slower search
_BEFORE = "\x01"  # what stands before a text, where a pattern looks behind
_REMEMBERED = 20_000  # characters of which the written form is remembered


class _Spelling(dict[int, str]):
    """How each character is written for RE2, see syntax.py; filled as characters are met."""

    def __init__(self, folded: dict[str, str]) -> None:
        super().__init__({ord(char): to for char, to in folded.items()})
        self.update({code: chr(code) for code in range(128)})
        self.update({ord(sign): f"{sign}{inside}{sign}" for sign, inside in INSTEAD.items()})

    def __missing__(self, code: int) -> str:
        char, sign = chr(code), sign_of(chr(code))
        if "\ud800" <= char <= "\udfff":  # half a character cannot be encoded
            char = "\ufffd"
        made = f"{sign}{char}{sign}"
        if len(self) < _REMEMBERED:
            self[code] = made
        return made


class _Written:
    """A text as RE2 reads it, and where in that each of its characters begins."""

    def __init__(self, text: str, table: _Spelling | None = None) -> None:
        self._text, self._table = text, table
        self.data = (text if table is None else text.translate(table)).encode()

    @cached_property
    def _starts(self) -> "array[int]":
        spelling: dict[int, str] = self._table or {}
        sizes = (len(spelling[ord(char)].encode()) for char in self._text)
        return array("Q", accumulate(sizes, initial=0))

    def place(self, at: int) -> int:
        """Where a character begins in the bytes."""
        return at if self._table is None or not at else self._starts[min(at, len(self._text))]

    def index(self, place: int) -> int:
        """Which character begins there."""
        return place if self._table is None or place < 0 else bisect_left(self._starts, place)


_TABLES = {False: _Spelling({}), True: _Spelling(FOLDED)}


@lru_cache(maxsize=4)  # one text is read by many patterns
def _beyond_ascii(text: str, ignore_case: bool) -> _Written:  # noqa: FBT001  a key of the cache
    return _Written(text, _TABLES[ignore_case])


class Match:
    """Where a pattern was found in `string`, and its groups: as `re.Match`."""

    __slots__ = ("_names", "_spans", "string")

    def __init__(self, text: str, spans: list[tuple[int, int]], names: Mapping[str, int]) -> None:
        self.string, self._spans, self._names = text, spans, names

    def span(self, group: int | str = 0) -> tuple[int, int]:
        """From where to where; (-1, -1) for a group that is not part of the match."""
        return self._spans[group if isinstance(group, int) else self._names[group]]

    def start(self, group: int | str = 0) -> int:
        """Where it begins."""
        return self.span(group)[0]

    def end(self, group: int | str = 0) -> int:
        """Where it ends."""
        return self.span(group)[1]

    def __getitem__(self, group: int | str) -> Any:
        """The text of a group; None if it is not part of the match."""
        start, end = self.span(group)
        return None if start < 0 else self.string[start:end]

    def groups(self, default: str | None = None) -> tuple[Any, ...]:
        """The texts of all groups."""
        found = (self[group] for group in range(1, len(self._spans)))
        return tuple(default if each is None else each for each in found)

    def groupdict(self) -> dict[str, Any]:
        """The texts of groups by their names."""
        return {name: self[name] for name in self._names}

    @property
    def lastgroup(self) -> str | None:
        """The name of the named group that ends last."""
        return max((name for name in self._names if self.start(name) >= 0), key=self.end, default=None)


class Pattern:
    """A compiled pattern, with the methods of `re.Pattern`.

    `behind` and `ahead` are patterns for the text before and after a match, which is not part of it; `^` and `$` in them are the
    ends of the text. A match may directly follow another one if its `behind` is one character. `match` and `fullmatch` do
    not look behind. `memory` is the most bytes that RE2 may use for it.
    """

    def __init__(
        self, pattern: str, *, ignore_case: bool = False, behind: str = "", ahead: str = "", memory: int = _MEMORY
    ) -> None:
        self.pattern, self._ignore_case, self._memory = pattern, ignore_case, memory
        self._behind, self._ahead = behind, ahead
        self._first = int(bool(behind or ahead))  # the group that is the match

    @cached_property
    def _groups(self) -> int:
        return self._narrow.groups - self._first  # type: ignore[no-any-return]  # re2 carries no types

    @cached_property
    def _names(self) -> dict[str, int]:
        return {name: number - self._first for name, number in self._narrow.groupindex.items()}

    @cached_property
    def _narrow(self) -> Any:
        return self._compiled(wide=False)

    @cached_property
    def _wide(self) -> Any:
        return self._compiled(wide=True)

    def _compiled(self, *, wide: bool) -> Any:
        options = re2.Options()
        options.max_mem, options.log_errors, options.case_sensitive = self._memory, False, not self._ignore_case
        read = partial(translate, wide=wide, ignore_case=self._ignore_case)
        core, behind, ahead = read(self.pattern), read(self._behind, begin=f"^{_BEFORE}"), read(self._ahead)
        return re2.compile(f"(?:{behind})({core})(?:{ahead})" if self._first else core, options)

    def most_work(self, text: str) -> int:
        """About the most instructions that a search of a text can take: its length times that of RE2's program."""
        return len(text) * int((self._narrow if text.isascii() else self._wide).programsize)

    def search(self, text: str) -> Match | None:
        """The first match."""
        return next(self._found("search", text), None)

    def match(self, text: str) -> Match | None:
        """The match at the beginning of the text. To match elsewhere, pass a slice: each call reads the whole text."""
        return next(self._found("match", text), None)

    def fullmatch(self, text: str) -> Match | None:
        """The match that is all of the text."""
        return next(self._found("fullmatch", text), None)

    def finditer(self, text: str, veto: Callable[[Match], bool] | None = None) -> Iterator[Match]:
        """All matches that do not overlap. A vetoed match is skipped, and the next one may begin within it."""
        return self._found("search", text, veto)

    def findall(self, text: str) -> list[Any]:
        """The texts of all matches; of their groups where there are some."""
        if not self._groups:
            return [each[0] for each in self.finditer(text)]
        found = [each.groups("") for each in self.finditer(text)]
        return found if self._groups > 1 else [group for (group,) in found]

    def split(self, text: str) -> list[str]:
        """The texts between matches; groups are left out."""
        pieces, at = list[str](), 0
        for found in self.finditer(text):
            pieces.append(text[at : found.start()])
            at = found.end()
        return [*pieces, text[at:]]

    def sub(self, made: str | Callable[[Match], str], text: str, count: int = 0) -> str:
        """The text with each match replaced by a text, taken literally, or by the result of a function."""
        pieces, at = list[str](), 0
        for number, found in enumerate(self.finditer(text), 1):
            pieces += [text[at : found.start()], made if isinstance(made, str) else made(found)]
            at = found.end()
            if number == count:
                break
        return "".join([*pieces, text[at:]]) if pieces else text

    def _found(self, how: str, text: str, veto: Callable[[Match], bool] | None = None) -> Iterator[Match]:
        ascii_ = text.isascii()
        written = _Written(text) if ascii_ else _beyond_ascii(text, self._ignore_case)
        search = getattr(self._narrow if ascii_ else self._wide, how)
        extra = len(_BEFORE) if self._behind else 0
        data = _BEFORE.encode() + written.data if extra else written.data
        at = 0
        while found := search(data, at):
            places = [found.span(group) for group in range(self._first, self._first + self._groups + 1)]
            spans = [
                (written.index(start - extra), written.index(end - extra)) if start >= 0 else (-1, -1)
                for start, end in places
            ]
            made = Match(text, spans, self._names)
            start, end = spans[0]
            if veto and veto(made):
                end = start
            else:
                yield made
            after = end + (start == end)
            if after > len(text):
                return
            # the last character of a match may be what stands behind the next one
            at = written.place(after - bool(extra)) + extra
