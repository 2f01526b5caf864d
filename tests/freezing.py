"""What a worker includes (`-I freezing`) so that a message that says `freeze` holds its GIL, in C and for ever.

The file that FROZEN names is there from then on.
"""

import os
import re
from pathlib import Path

from om_workers.llm import scripted

_noted = scripted._noted


def _frozen(request):
    if any("freeze" in message.text() for message in request.messages):
        Path(os.environ["FROZEN"]).touch()
        re.match(r"(a+)+$", "a" * 60 + "b")
    return _noted(request)


scripted._noted = _frozen
