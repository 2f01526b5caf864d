"""A worker that makes the test calls that are asked for, beside whoever asks for them."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from world import World

from om_api.domain.values import Outcome
from om_workers.llm.base import Reply, Usage
from om_workers.llm.scripted import Scripted
from om_workers.work.model_trials import ModelTrier

READY = Reply(text="ready", model="gemini-2.5-flash", usage=Usage(input=48, output=2))


def answer(world: World, *replies: Any) -> bool:
    """Make the call that waits, if one does, with these answers of whatever model is asked."""
    services = world.new_services(guarded=True)
    model = Scripted(*replies, name="gemini-2.5-flash")
    services.registry.itself = lambda _: model
    return ModelTrier(services).make_next() is Outcome.REST


@contextmanager
def answering(world: World, *replies: Any) -> Iterator[None]:
    """Make the next calls while the block runs, each with the next answer."""
    left, over = list(replies), threading.Event()

    def work() -> None:
        while left and not over.is_set():
            if answer(world, left[0]):
                del left[0]
            time.sleep(0.02)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
