"""A worker process whose threads call the model as fast as they can."""

import random
import sys
import threading
import time

from om_api.domain.errors import ModelError
from om_api.settings import load_settings
from om_workers.llm.base import Request
from om_workers.tasks import wiring

MODEL = "counted"
_LONGEST_S = 30.0
REQUEST = Request(purpose="observe", system="Take notes.", prompt="Nothing was said.", timeout=60)


def main(seconds: float, threads: int) -> None:
    """Ask for `seconds` with so many threads."""
    asking = wiring.build(load_settings(), None, None).models  # no work is passed on here
    end = time.monotonic() + seconds

    def ask() -> None:
        while time.monotonic() < end:
            try:
                asking.ask("harold", [MODEL], REQUEST, lambda reply: reply.text)
            except ModelError as error:  # its scope would be put off for so long
                time.sleep(min(error.retry_after or _LONGEST_S, _LONGEST_S) * random.uniform(1, 1.1))

    for _ in range(threads):
        threading.Thread(target=ask, daemon=True).start()
    time.sleep(seconds)


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
