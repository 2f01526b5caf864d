"""Only what W3C calls a traceparent is taken for one."""

import pytest

from om_api.domain.values import traceparent
from om_api.domain.wire import message_of, parse_member

_NAME = f"00-{7:032x}-{9:016x}-01"


def test_the_name_of_a_span_is_taken_as_it_is():
    assert traceparent(_NAME) == _NAME


@pytest.mark.parametrize(
    "said",
    [
        "",
        None,
        7,
        f"00-{255:032X}-{9:016x}-01",
        f"{_NAME}\n",
        f"01{_NAME[2:]}",
        f"00-{0:032x}-{9:016x}-01",
        f"00-{7:032x}-{0:016x}-01",
    ],
)
def test_anything_else_is_none(said):
    assert traceparent(said) == ""


def test_a_message_that_was_written_in_another_language_keeps_it_out_of_its_metadata():
    written = b'{"role":"user","content":"one","traceparent":"%s"}' % _NAME.encode()

    assert (parse_member(written, "t", "r", 1).traceparent, parse_member(written, "t", "r", 1).metadata) == (
        _NAME,
        None,
    )
    assert message_of({"role": "user", "content": "one", "traceparent": "nonsense"}).traceparent == ""
