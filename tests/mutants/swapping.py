"""A mutant put into a process that has imported the product already: functions get the code of their mutated selves."""

import gc
from collections.abc import Iterator
from types import CodeType, FunctionType


class Functions:
    """Every function of the product in this process, by file; look once, when all is imported."""

    def __init__(self, folder: str) -> None:
        self._found: dict[str, list[FunctionType]] = {}
        for each in gc.get_objects():
            if isinstance(each, FunctionType) and each.__code__.co_filename.startswith(folder):
                self._found.setdefault(each.__code__.co_filename, []).append(each)

    def swap(self, file: str, source: str, mutated: str) -> int:
        """Give a file's functions the code that they have in its mutated text; how many changed."""
        changed = 0
        swaps = _swaps(_compiled(source, file), _compiled(mutated, file))
        for function in self._found.get(file, ()):
            if new := swaps.get(function.__code__):
                function.__code__ = new
                changed += 1
        return changed


def _compiled(text: str, file: str) -> CodeType:
    return compile(text, file, "exec", dont_inherit=True)


def _swaps(old: CodeType, new: CodeType) -> dict[CodeType, CodeType]:
    """Code as it was -> as it is, where that differs; of a name that several functions have only if none came or went."""
    before, after = _by_name(old), _by_name(new)
    alike = [name for name in before if len(before[name]) == len(after.get(name, ()))]
    pairs = (pair for name in alike for pair in zip(before[name], after[name], strict=True))
    return {was: now for was, now in pairs if was != now and was.co_freevars == now.co_freevars}


def _by_name(code: CodeType) -> dict[str, list[CodeType]]:
    found: dict[str, list[CodeType]] = {}
    for each in _walk(code):
        found.setdefault(each.co_qualname, []).append(each)
    return found


def _walk(code: CodeType) -> Iterator[CodeType]:
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            yield from _walk(const)
