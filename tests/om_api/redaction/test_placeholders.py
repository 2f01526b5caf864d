from typing import NamedTuple

import msgspec

from om_api.redaction.placeholders import placeholders, put_back, put_back_in

WORDS = {"email 0123456789": "<ada@example.com>"}


class _Pair(NamedTuple):
    a: str
    b: int


class _Told(msgspec.Struct):
    text: str
    more: tuple[str, ...] = ()


def test_every_placeholder_is_named():
    assert list(placeholders("[email] [email 0123456789] [email 01] [phone abcdefabcd] [word]")) == [
        "email",
        "email 0123456789",
        "phone abcdefabcd",
    ]


def test_what_is_known_is_put_back_and_the_rest_stays():
    text = "to [email 0123456789], cc [email ffffffffff] or [email]"
    assert put_back(text, WORDS) == "to <ada@example.com>, cc [email ffffffffff] or [email]"
    assert put_back("[email 0123456789]", WORDS, str.upper) == "<ADA@EXAMPLE.COM>"


def test_it_is_put_back_in_all_that_a_value_holds():
    one = "[email 0123456789]"
    told = {one: [one, (one, 1), _Pair(one, 2), _Told(one, (one,)), None]}
    real = "<ada@example.com>"
    assert put_back_in(told, WORDS) == {real: [real, (real, 1), _Pair(real, 2), _Told(real, (real,)), None]}
