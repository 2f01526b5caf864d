from om_api.domain.errors import ModelError
from om_workers.llm.base import BilledError, Usage


def test_an_answer_that_is_billed_fails_as_it_would_have_failed_for_nothing():
    """Catches a bill that changes what becomes of a chunk: whether, and when, it is tried again."""
    failed = ModelError("m is busy", retryable=False, retry_after=40, why="busy")
    billed = BilledError(failed, Usage(input=9, output=3))

    assert (str(billed), billed.retryable, billed.retry_after, billed.why) == ("m is busy", False, 40, "busy")
    assert billed.usage == Usage(input=9, output=3)
