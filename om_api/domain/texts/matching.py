"""What two sequences have in common, found within a bound: difflib takes cubic time where many things are equal."""

from collections.abc import Callable, Sequence
from difflib import Match, SequenceMatcher
from itertools import accumulate
from typing import Any

_Block = tuple[str, int, int, int, int]  # as SequenceMatcher has it: what, from where to where in each of the two


class Effort:
    """How many more pairs of equal things may be looked at, in one comparison or several."""

    def __init__(self, pairs: int) -> None:
        self.left = pairs


class _Matcher(SequenceMatcher[Any]):
    """Matches nothing more once the effort is used up."""

    def __init__(
        self,
        before: Sequence[Any],
        now: Sequence[Any],
        effort: Effort,
        is_junk: Callable[[Any], bool] | None,
        *,
        autojunk: bool,
    ) -> None:
        super().__init__(is_junk, before, now, autojunk)
        self._effort = effort
        places = self.b2j  # type: ignore[attr-defined]  # documented by difflib
        self._pairs = [*accumulate((1 + len(places.get(each, ())) for each in before), initial=0)]

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        """As difflib does, which looks at all pairs of equal things in the part of the first sequence."""
        self._effort.left -= self._pairs[-1 if ahi is None else ahi] - self._pairs[alo]
        return super().find_longest_match(alo, ahi, blo, bhi) if self._effort.left >= 0 else Match(alo, blo, 0)


def opcodes(
    before: Sequence[Any],
    now: Sequence[Any],
    effort: Effort,
    *,
    is_junk: Callable[[Any], bool] | None = None,
    autojunk: bool = False,
) -> Sequence[_Block]:
    """How `before` becomes `now`, as `SequenceMatcher.get_opcodes` has it.

    Once the effort is used up, everything that was not compared yet is replaced.
    """
    return _Matcher(before, now, effort, is_junk, autojunk=autojunk).get_opcodes()
