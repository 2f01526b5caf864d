"""What working memories may say: of each field what was answered last, and whatever is under way."""

import json
from collections.abc import Callable

from fuzz.checker import BrokenError

FIELDS = ("One", "Two", "Three")
TEMPLATE = "\n".join(f"- {field}:" for field in FIELDS)


class _Change:
    """Values that are being written, and of each field what others wrote while that lasted: either may be the later."""

    def __init__(self, resource: str, fields: dict[str, str | None]) -> None:
        self.resource = resource
        self.fields = fields
        self.meanwhile: dict[str, set[str | None]] = {}


class Kept:
    """What each field of a resource may say: what was answered last, and whatever is under way or was never answered."""

    def __init__(self) -> None:
        self._may: dict[tuple[str, str], set[str | None]] = {}
        self._under_way: list[_Change] = []

    def changing(self, resource: str, fields: dict[str, str | None], work: Callable[[], bool]) -> Callable[[], bool]:
        """Work that changes fields of a resource, and says whether it did."""

        def change() -> bool:
            mine = _Change(resource, fields)
            self._under_way.append(mine)
            for field, value in fields.items():
                self._may.setdefault((resource, field), {None}).add(value)
            done = work()
            self._under_way.remove(mine)
            others = [each for each in self._under_way if each.resource == resource]
            for field, value in fields.items() if done else ():
                said = [each.fields[field] for each in others if field in each.fields]
                self._may[resource, field] = {value, *said, *mine.meanwhile.get(field, ())}
                for each in others:
                    each.meanwhile.setdefault(field, set()).add(value)
            return done

        return change

    def check(self, resource: str, kept: bytes | None) -> None:
        """Raise BrokenError for a field that says what nobody wrote last."""
        said = {field: value for field, (value, _) in json.loads(kept or b"{}").items()}
        for field in FIELDS:
            if said.get(field) not in self._may.get((resource, field), {None}):
                may = self._may.get((resource, field))
                raise BrokenError(f"{field} of {resource} says {said.get(field)!r}, and was to say one of {may}")
