"""What working memories may say: of each field what was answered last, and whatever is under way."""

import json
from collections.abc import Callable

from fuzz.checker import BrokenError

FIELDS = ("One", "Two", "Three")
TEMPLATE = "\n".join(f"- {field}:" for field in FIELDS)


class Kept:
    """What each field of a resource may say: what was answered last, and whatever is under way or was never answered."""

    def __init__(self) -> None:
        self._may: dict[tuple[str, str], set[str | None]] = {}
        self._under_way: list[tuple[str, str, str | None]] = []

    def changing(self, resource: str, fields: dict[str, str | None], work: Callable[[], bool]) -> Callable[[], bool]:
        """Work that changes fields of a resource, and says whether it did."""
        mine = [(resource, field, value) for field, value in fields.items()]

        def change() -> bool:
            self._under_way += mine
            for _, field, value in mine:
                self._may.setdefault((resource, field), {None}).add(value)
            done = work()
            for each in mine:
                self._under_way.remove(each)
            for _, field, value in mine if done else ():
                others = {said for of, name, said in self._under_way if (of, name) == (resource, field)}
                self._may[resource, field] = {value, *others}
            return done

        return change

    def check(self, resource: str, kept: bytes | None) -> None:
        """Raise BrokenError for a field that says what nobody wrote last."""
        said = {field: value for field, (value, _) in json.loads(kept or b"{}").items()}
        for field in FIELDS:
            if said.get(field) not in self._may.get((resource, field), {None}):
                may = self._may.get((resource, field))
                raise BrokenError(f"{field} of {resource} says {said.get(field)!r}, and was to say one of {may}")
