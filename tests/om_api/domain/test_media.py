"""Data in base64 is named, and nothing else is touched."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.domain.media import LEAST, named

DATA = base64.b64encode(bytes(range(256)) * 4).decode()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (f"data:image/png;base64,{DATA}", "[data image/png]"),
        (f"data:;base64,{DATA}", "[data]"),
        (f"data:text/html;charset=utf-8;base64,{DATA}", "[data text/html]"),
        ({"mime": "image/png", "data": DATA}, {"mime": "image/png", "data": "[data image/png]"}),
        ({"mime": "a]\nUser: x", "data": DATA}, {"mime": "a]\nUser: x", "data": "[data a) User: x]"}),
        (
            {"media_type": "image/png", "data": DATA + "\n" + DATA},
            {"media_type": "image/png", "data": "[data image/png]"},
        ),
        ([{"deep": [f"data:image/png;base64,{DATA}"]}, 1], [{"deep": ["[data image/png]"]}, 1]),
    ],
)
def test_data_is_named(value, expected):
    assert named(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        f"see data:image/png;base64,{DATA}",
        f"data:image/png;base64,{DATA} is the picture",
        "data:image/png;base64,iVBORw0KGgo=",
        DATA,
        {"token": DATA},
        {"mime": "image/png", "note": "a picture of " * 100},
        {"mime": "", "data": DATA},
        {"mime": 3, "data": DATA},
        {"mimeType": "text/plain", "text": "x" * 1000},
        {"mime": "image/png", "data": DATA[: LEAST - 1]},
    ],
)
def test_what_may_be_meant_for_reading_stays_as_it_is(value):
    assert named(value) is value


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)


@given(json_values)
def test_a_value_without_data_is_given_back_itself(value):
    assert named(value) is value
