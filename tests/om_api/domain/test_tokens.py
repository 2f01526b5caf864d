"""Counting: exact with a vocabulary, near without one, and never over a network."""

import hashlib
import os
import socket
import subprocess
import sys
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor

import pytest
from tiktoken_ext import openai_public

from om_api.domain import tokens
from om_api.domain.errors import InvalidInputError

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


@pytest.fixture
def unloaded():
    """No text was counted in this process yet."""
    tokens._load.cache_clear()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("hello world", 2),
        ("The quick brown fox jumps over the lazy dog.", 10),
        ("a" * 500, 63),
        ("   indented", 3),
        ("<|endoftext|>", 7),
        ("\ud800abc", 2),
    ],
)
def test_o200k_base_counts_as_recent_models_do(text, expected):
    assert tokens.counter("o200k_base")(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("你好世界", 4),
        ("naïve", 2),
        ("error: 超时", 4),
        ("\ud800", 1),
    ],
)
def test_the_estimate_takes_four_ascii_characters_or_one_other_for_a_token(text, expected):
    assert tokens.estimate(text) == expected
    assert tokens.counter("estimate")(text) == expected


def test_the_estimate_is_near_on_chinese():
    text = "昨天下午我们把结账服务回滚到了上一个版本,因为支付回调一直超时。" * 20

    exact = tokens.counter("o200k_base")(text)

    assert exact * 0.7 < tokens.estimate(text) < exact * 1.7


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("Could you move our meeting to Thursday afternoon? I would like to bring the new colleague along.", 1.05, 1.5),
        ('{"id":4711,"tags":["a","b"],"price":{"amount":19.9,"currency":"EUR"},"ok":true}', 0.5, 0.95),
        ("2026-11-21T09:14:19.123Z INFO [a3f9c1] GET /v1/orders/4711 200 12ms 10.0.3.17:55412", 0.4, 0.95),
    ],
    ids=["chat", "json", "logs"],
)
def test_the_estimate_is_high_on_english_chat_and_low_on_json_and_logs(text, least, most):
    assert least < tokens.estimate(text) / tokens.counter("o200k_base")(text) < most


def test_auto_is_exact():
    assert tokens.counter()("a" * 500) == 63


def test_the_vocabulary_is_the_one_that_tiktoken_fetches(monkeypatch):
    told = {}
    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", lambda url, expected_hash: told.update(sha=expected_hash))
    theirs = openai_public.o200k_base()
    ranks = tokens._encoding()._mergeable_ranks
    fetched = b"".join(b"%s %d\n" % (b64encode(token), rank) for token, rank in ranks.items())

    assert hashlib.sha256(fetched).hexdigest() == told["sha"]
    assert (tokens._encoding().name, tokens._PIECES) == (theirs["name"], theirs["pat_str"])


@pytest.mark.parametrize("kind", ["", "gpt-4", "O200K_BASE"])
def test_another_kind_is_refused_with_the_permitted_ones(kind):
    with pytest.raises(InvalidInputError, match="auto, o200k_base, estimate"):
        tokens.counter(kind)


def test_making_a_counter_loads_nothing(unloaded):
    tokens.counter("o200k_base")

    assert tokens._load.cache_info().misses == 0


def test_many_threads_load_the_vocabulary_once(unloaded):
    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(tokens.counter(), [f"hello world {n}" for n in "abcdefgh" * 4]))

    assert (set(counts), tokens._load.cache_info().misses) == ({3}, 1)


@pytest.mark.parametrize("kind", ["auto", "o200k_base"])
def test_a_counter_tokenises_each_text_once(monkeypatch, kind):
    encoded = []
    monkeypatch.setattr(tokens, "_count", lambda text: encoded.append(text) or 7)
    count = tokens.counter(kind)

    assert [count("one"), count("two"), count("one"), count("\ud800")] == [7, 7, 7, 7]
    assert encoded == ["one", "two", "\ud800"]


def test_a_counter_remembers_the_newest_counts_and_no_more_than_it_may():
    counted = []
    count = tokens.Remembering(lambda text: counted.append(text) or len(text), 2)

    assert [count(text) for text in ("a", "bb", "ccc", "bb", "a")] == [1, 2, 3, 2, 1]
    assert counted == ["a", "bb", "ccc", "a"]


def test_threads_share_what_a_counter_remembers():
    count = tokens.Remembering(len, 3)
    texts = [str(10**n) for n in range(8)] * 200

    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(count, texts))

    assert counts == [len(text) for text in texts]
    assert len(count._known) == 3


def test_a_process_counts_offline_and_writes_nothing_anywhere(tmp_path):
    places = {name: str(tmp_path) for name in ("HOME", "TMPDIR", "TIKTOKEN_CACHE_DIR", "XDG_CACHE_HOME")}
    path = {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", COUNT_OFFLINE], env=places | path, check=True, capture_output=True, text=True
    )

    assert done.stdout == "2\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["a" * 400_000, " " * 400_000, "^" * 400_000, "语" * 200_000, "\n" * 300_000])
def test_a_long_run_is_counted_at_once(text):
    assert 0 < tokens.counter("o200k_base")(text) <= len(text)


def test_slices_add_up_to_the_text_and_to_its_count():
    text = "Order 4711 was refunded twice;  the ledger says 19.90 EUR.\n" * 3_000
    encoding = tokens._encoding()

    assert "".join(tokens._slices(text)) == text
    assert max(map(len, tokens._slices(text))) <= tokens.SLICE
    assert tokens.counter()(text) == len(encoding.encode_ordinary(text))
