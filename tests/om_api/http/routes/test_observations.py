"""Observations over HTTP: of a whole resource, or of one thread."""

HAROLD = "/v1/resources/harold"


def test_what_a_thread_keeps_can_be_read_alone(full, walk):
    found = walk(f"{HAROLD}/observations", thread_id="t-1")

    assert {entry["thread_id"] for entry in found} == {"t-1"}
    assert walk(f"{HAROLD}/observations", thread_id="nobody") == []
