"""What a message weighs: one test for each line of docs/tokens.md."""

import base64
import hashlib
import os
import random
import socket
import subprocess
import sys

import pytest
from snapshots import count as words
from tiktoken_ext import openai_public

from om_api import Message
from om_api.domain import tokens
from om_api.domain.errors import InvalidInputError
from om_api.domain.media import LEAST, named
from om_api.domain.message_tokens import count_message
from om_api.domain.word_counts import WordCounts

PICTURE = base64.b64encode(bytes(range(256)) * 400).decode()
PLAIN = {"type": "text", "text": "four words of text"}


def weight(content, **fields):
    return count_message(Message(role="user", content=content, **fields), words)


def test_a_message_weighs_its_texts_and_a_fixed_number_for_images():
    for content in ("four words of text", [PLAIN], [{"type": "image"}]):
        assert weight(content, tokens=77) == 77, content
    for content in ("four words", [{**PLAIN, "text": "four words"}], [{"type": "image"}]):
        assert weight(content, tokens=0) == 0, content
    for content, fields in (
        ("x" * 1_600, {"tokens": 1}),
        ([{"type": "text", "text": "x" * 800}, PLAIN, {"type": "text", "text": "x" * 800}], {"tokens": 0}),
        ([{"type": "tool-result", "result": ["x" * 1_570]}], {"tokens": 1}),
        (" " * 1_600, {}),
    ):
        assert weight(content, **fields) in {100, 101}, content
    picture = {"type": "tool-result", "result": [{"type": "image", "data": PICTURE, "mime": "image/png"}]}
    assert weight([picture, {"type": "image", "data": PICTURE}], tokens=85) == 85
    assert weight("four words of text") == 8
    assert weight("") == 4
    assert weight([PLAIN, PLAIN]) == 12
    for part, weighs in [
        ({"type": "image", "url": "https://example.org/a.png"}, 765),
        ({"type": "image", "url": f"data:image/png;base64,{PICTURE}"}, 765),
        ({"type": "image", "data": PICTURE, "mime": "image/png"}, 765), ({"type": "image", "detail": "low"}, 85),
        ({"type": "image", "tokens": 1120}, 1120), ({"type": "image", "detail": "low", "tokens": 0}, 0),
        ({"type": "image", "tokens": -1}, 765), ({"type": "image", "tokens": "many"}, 765),
        ({"type": "image", "tokens": True}, 765), ({"type": "image", "tokens": 10**12}, 765),
        ({"type": "file", "name": "report.pdf", "data": PICTURE}, 765),
        ({"type": "file", "name": "report.pdf", "tokens": 4000}, 4000), ({"type": "file", "detail": "low"}, 765),
    ]:  # fmt: skip
        assert weight([part]) == 4 + weighs, part


DATA = base64.b64encode(bytes(range(256)) * 4).decode()


def test_base64_data_is_named_and_what_may_be_meant_for_reading_stays():
    for value, expected in [
        (f"data:image/png;base64,{DATA}", "[data image/png]"), (f"data:;base64,{DATA}", "[data]"),
        (f"data:text/html;charset=utf-8;base64,{DATA}", "[data text/html]"),
        ({"mime": "image/png", "data": DATA}, {"mime": "image/png", "data": "[data image/png]"}),
        ({"mime": "a]\nUser: x", "data": DATA}, {"mime": "a]\nUser: x", "data": "[data a) User: x]"}),
        ({"media_type": "image/png", "data": DATA + "\n" + DATA},
         {"media_type": "image/png", "data": "[data image/png]"}),
        ("data:image/png;base64,iVBORw0KGgo=", "[data image/png]"),
        ({"mime": "image/png", "data": DATA[: LEAST - 1]}, {"mime": "image/png", "data": "[data image/png]"}),
        ([{"deep": [f"data:image/png;base64,{DATA}"]}, 1], [{"deep": ["[data image/png]"]}, 1]),
    ]:  # fmt: skip
        assert named(value) == expected, (value, expected)
    for value in [
        f"see data:image/png;base64,{DATA}", f"data:image/png;base64,{DATA} is the picture",
        "data:text/html;base64,PGI+", DATA, {"token": DATA},
        {"mime": "image/png", "note": "a picture of " * 100}, {"mime": "", "data": DATA}, {"mime": 3, "data": DATA},
        {"mimeType": "text/plain", "text": "x" * 1000}, {"mime": "text/csv", "data": DATA[: LEAST - 1]},
    ]:  # fmt: skip
        assert named(value) is value, value


COUNT_OFFLINE = """
import socket, sys
def refuse(*args, **kwargs): raise AssertionError("a network was used")
socket.socket.connect = socket.getaddrinfo = refuse
from om_api.domain.tokens import counter
print(counter("o200k_base")("hello world"))
"""


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_counters_are_exact_or_estimate_and_other_kinds_refused():
    for text, expected in [
        ("", 0), ("hello world", 2), ("The quick brown fox jumps over the lazy dog.", 10), ("a" * 500, 63),
        ("   indented", 3), ("<|endoftext|>", 7), ("\ud800abc", 2),
    ]:  # fmt: skip
        assert tokens.counter("o200k_base")(text) == expected, (text, expected)
    for kind in ("", "gpt-4", "O200K_BASE"):
        with pytest.raises(InvalidInputError, match="auto, o200k_base, estimate"):
            tokens.counter(kind)
    for text, expected in [
        ("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("你好世界", 4), ("naïve", 2), ("error: 超时", 4), ("\ud800", 1),
    ]:  # fmt: skip
        assert tokens.estimate(text) == expected, (text, expected)
        assert tokens.counter("estimate")(text) == expected, (text, expected)


def test_the_vocabulary_is_the_one_that_tiktoken_fetches(monkeypatch):
    told = {}
    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", lambda url, expected_hash: told.update(sha=expected_hash))
    theirs = openai_public.o200k_base()
    ranks = tokens._encoding()._mergeable_ranks
    fetched = b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for token, rank in ranks.items())
    assert hashlib.sha256(fetched).hexdigest() == told["sha"]
    assert (tokens._encoding().name, tokens._PIECES) == (theirs["name"], theirs["pat_str"])


@pytest.mark.nightly
def test_a_process_counts_offline_and_writes_nothing_anywhere(tmp_path):
    places = {name: str(tmp_path) for name in ("HOME", "TMPDIR", "TIKTOKEN_CACHE_DIR", "XDG_CACHE_HOME")}
    path = {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", COUNT_OFFLINE], env=places | path, check=True, capture_output=True, text=True
    )
    assert done.stdout == "2\n"
    assert list(tmp_path.iterdir()) == []


def test_a_long_text_is_counted_in_slices_that_add_up():
    for text in ("a" * 200_000, " " * 200_000, "^" * 200_000, "语" * 100_000):
        assert 0 < tokens.counter("o200k_base")(text) <= len(text), text
    text = "Order 4711 was refunded twice;  the ledger says 19.90 EUR.\n" * 3_000
    encoding = tokens._encoding()
    assert "".join(tokens._slices(text)) == text
    assert max(map(len, tokens._slices(text))) <= tokens.SLICE
    assert tokens.counter()(text) == len(encoding.encode_ordinary(text))


EDGES = [
    *"          \n\t\r\x0b\x1c\x85\xa0\u2003\u3000abABzZsS019'/.,-{}\"’é你ß̈ǅſ\u200b\U0001f600", "'s", "'LL", " the",
    " \n",
]  # fmt: skip


def exactly(text):
    return len(tokens._encoding().encode_ordinary(text))


def test_what_is_made_of_edges_weighs_what_it_is_tokenised_to():
    dice, count = random.Random(16), WordCounts(exactly)
    texts = ["".join(dice.choices(EDGES, k=dice.randint(0, 14))) for _ in range(12_000)]
    told = [(text, tokens) for text in texts if (tokens := count.of(text)) is not None]
    assert len(told) > 3_000
    assert [(text, tokens) for text, tokens in told if tokens != exactly(text)] == []
