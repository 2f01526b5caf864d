"""What a refusal over HTTP looks like."""

from typing import Any


def problem(answer: Any, status: int) -> dict[str, Any]:
    """The problem that an answer is, of the status that was expected."""
    found: dict[str, Any] = answer.json()
    assert (answer.status_code, found["status"]) == (status, status)
    assert answer.headers["content-type"] == "application/problem+json"
    assert found["title"]
    return found
