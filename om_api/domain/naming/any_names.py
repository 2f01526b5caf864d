"""Lets the methods of a client take any text as the name of a resource or a thread."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any, TypeVar

import msgspec

from om_api.domain.messages import Message
from om_api.domain.naming.ids import any_name, as_id

T = TypeVar("T")
_ONE = frozenset({"resource_id", "thread_id", "to_resource", "alias", "target"})
_SEVERAL = frozenset({"also", "among", "resource_ids"})


def takes_any_names(client: type[T]) -> type[T]:
    """Make the public methods of a client escape names of resources and threads that are not ids."""
    for name, method in list(vars(client).items()):
        if not name.startswith("_") and inspect.isfunction(method):
            parameters = list(inspect.signature(method).parameters)
            places = {place: each for place, each in enumerate(parameters) if each in _ONE | _SEVERAL}
            if places:
                setattr(client, name, _escaping(method, places))
    return client


def _escaping(method: Callable[..., Any], places: dict[int, str]) -> Callable[..., Any]:
    names = frozenset(places.values())

    def escaped(given: tuple[Any, ...], named: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        own = [_named(places[n], each) if n in places else each for n, each in enumerate(given)]
        return own, {name: _named(name, each) if name in names else each for name, each in named.items()}

    @wraps(method)
    def call(*given: Any, **named: Any) -> Any:
        own, by_name = escaped(given, named)
        return method(*own, **by_name)

    @wraps(method)
    async def awaited(*given: Any, **named: Any) -> Any:
        own, by_name = escaped(given, named)
        return await method(*own, **by_name)

    return awaited if inspect.iscoroutinefunction(method) else call


def _named(parameter: str, given: Any) -> Any:
    if parameter in _SEVERAL and isinstance(given, list | tuple | set | frozenset):
        return [as_id(each) for each in given]
    return as_id(given)


def in_place(messages: Iterable[Any]) -> Iterator[Any]:
    """The messages with the names of their resources and threads escaped."""
    for message in messages:
        if not isinstance(message, Message):
            yield message
            continue
        place = any_name(message.resource_id), any_name(message.thread_id)
        same = place == (message.resource_id, message.thread_id)
        yield message if same else msgspec.structs.replace(message, resource_id=place[0], thread_id=place[1])
