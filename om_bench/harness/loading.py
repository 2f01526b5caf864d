"""Loading: which format a file is in."""

from pathlib import Path
from typing import Any

import msgspec

from om_api.domain.errors import InvalidInputError
from om_bench.harness import beam, locomo, longmemeval, own_talks
from om_bench.harness.talks import Talk, read_json


def load(path: Path) -> list[Talk]:
    """The talks of a file in our format, or LoCoMo's, LongMemEval's or BEAM's; raises InvalidInputError for anything else."""
    document = read_json(path)
    try:
        found, publisher = _talks(path, document)
    except InvalidInputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        what = f"lacks {error}" if isinstance(error, KeyError) else f"holds something else: {error}"
        raise InvalidInputError(
            f"{path} looks like a known format, but {what}; docs/benchmarks.md names them"
        ) from error
    return [msgspec.structs.replace(each, publisher=publisher) for each in found]


def _talks(path: Path, document: Any) -> tuple[list[Talk], str]:
    if isinstance(document, dict) and "sessions" in document:
        return [own_talks.talk(path, document)], ""
    first = document[0] if isinstance(document, list) and document and isinstance(document[0], dict) else ()
    if "conversation" in first:
        return list(locomo.talks(document)), "locomo"
    if "haystack_sessions" in first:
        return list(longmemeval.talks(document)), "longmemeval"
    if "turns" in first:
        return [beam.talk(path.parent.name or path.stem, document, read_json(path.parent / beam.QUESTIONS))], "beam"
    raise InvalidInputError(
        f"{path}: no known format: give a list of LoCoMo samples, of LongMemEval questions, BEAM's chat.json"
        f" with {beam.QUESTIONS} beside it, or a talk with its `sessions`"
    )
