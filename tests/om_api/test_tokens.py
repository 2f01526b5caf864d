"""Counting: exact with a vocabulary, near without one, and never over a network."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from om_api import tokens
from om_api.errors import InvalidInputError, SettingsError

FILE = "fb374d419588a4632f3f557e76b4b70aebbca790"
COUNT_OFFLINE = """
import socket, sys
def refuse(*args, **kwargs): raise AssertionError("a network was used")
socket.socket.connect = socket.getaddrinfo = refuse
from om_api.tokens import counter
print(counter("o200k_base")("hello world"), "bpe_openai" in sys.modules)
"""


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture(scope="session")
def vocabulary(tmp_path_factory):
    """A folder that holds the vocabulary, as another process left it."""
    folder = tmp_path_factory.mktemp("vocabulary")
    count_in_a_new_process(folder)
    return folder


@pytest.fixture(autouse=True)
def fresh(monkeypatch, vocabulary):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(vocabulary))
    monkeypatch.setattr(tokens, "_LOADED", [])


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """No folder can be written: each lies below a file."""
    blocked = tmp_path / "a-file"
    blocked.touch()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(blocked / "named"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked / "cache"))
    monkeypatch.setattr(tokens.tempfile, "gettempdir", lambda: str(blocked / "tmp"))


def count_in_a_new_process(folder: Path) -> str:
    environment = {**os.environ, "TIKTOKEN_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", COUNT_OFFLINE], env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout


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


def test_auto_is_exact_where_a_vocabulary_is_at_hand():
    assert tokens.counter()("a" * 500) == 63


@pytest.mark.usefixtures("nowhere")
def test_auto_estimates_when_nothing_can_be_written():
    assert tokens.counter("auto")("a" * 500) == 125


@pytest.mark.usefixtures("nowhere")
def test_an_exact_counter_without_a_vocabulary_says_what_to_do():
    with pytest.raises(SettingsError, match=r"bpe-openai.*TIKTOKEN_CACHE_DIR.*estimate"):
        tokens.counter("o200k_base")("hello")


def test_without_the_package_there_is_no_vocabulary(monkeypatch, tmp_path):
    monkeypatch.setattr(tokens.importlib.util, "find_spec", lambda name: None)

    assert not tokens._provide(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["", "gpt-4", "O200K_BASE"])
def test_another_kind_is_refused_with_the_permitted_ones(kind):
    with pytest.raises(InvalidInputError, match="auto, o200k_base, estimate"):
        tokens.counter(kind)


def test_making_a_counter_loads_nothing():
    tokens.counter("o200k_base")

    assert tokens._LOADED == []


def test_many_threads_load_the_vocabulary_once(monkeypatch):
    loads = []
    load = tokens._load
    monkeypatch.setattr(tokens, "_load", lambda: loads.append(1) or load())

    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(tokens.counter(), ["hello world"] * 32))

    assert (set(counts), len(loads)) == ({2}, 1)


@pytest.mark.parametrize("kind", ["auto", "o200k_base"])
def test_a_counter_tokenises_each_text_once(monkeypatch, kind):
    encoded = []
    monkeypatch.setattr(tokens, "_sum_slices", lambda encoding, text: encoded.append(text) or 7)
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


def test_a_process_unpacks_the_vocabulary_offline_and_the_next_one_reuses_it(tmp_path):
    folder = tmp_path / "not yet there"

    assert count_in_a_new_process(folder) == "2 False\n"
    first = (folder / FILE).stat()
    assert count_in_a_new_process(folder) == "2 False\n"
    second = (folder / FILE).stat()

    assert (first.st_ino, first.st_mtime_ns) == (second.st_ino, second.st_mtime_ns)
    assert [path.name for path in folder.iterdir()] == [FILE]


@pytest.mark.parametrize("damage", [b"", b"IQ== 0\n", b"\x00" * 4096])
def test_a_damaged_vocabulary_is_replaced(tmp_path, damage):
    (tmp_path / FILE).write_bytes(damage)

    assert tokens._provide(tmp_path)
    assert tokens._is_true((tmp_path / FILE).read_bytes())
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize("content", [b"no gzip", b"\x1f\x8b\x08\x00", b""])
def test_a_damaged_package_leaves_no_vocabulary_behind(monkeypatch, tmp_path, content):
    packed = tmp_path / "packed.gz"
    packed.write_bytes(content)
    monkeypatch.setattr(tokens, "_packed", lambda: packed)

    assert not tokens._provide(tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("named", [None, ""])
def test_the_users_cache_is_taken_where_none_is_named_and_the_environment_stays_as_it_was(monkeypatch, tmp_path, named):
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    if named is not None:
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", named)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    assert tokens.counter("o200k_base")("hello world") == 2
    assert (tmp_path / "tiktoken" / FILE).exists()
    assert os.environ.get("TIKTOKEN_CACHE_DIR") == named


def test_a_user_without_a_home_counts_from_the_temporary_folder(monkeypatch):
    def homeless():
        raise RuntimeError("no home")

    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)

    assert list(tokens._folders()) == [Path(tokens.tempfile.gettempdir(), "tiktoken")]


@pytest.mark.parametrize("text", ["a" * 400_000, " " * 400_000, "^" * 400_000, "语" * 200_000, "\n" * 300_000])
def test_a_long_run_is_counted_at_once(text):
    assert 0 < tokens.counter("o200k_base")(text) <= len(text)


def test_slices_add_up_to_the_text_and_to_its_count(vocabulary):
    text = "Order 4711 was refunded twice;  the ledger says 19.90 EUR.\n" * 3_000
    encoding = tokens._encoding()

    assert "".join(tokens._slices(text)) == text
    assert max(map(len, tokens._slices(text))) <= tokens.SLICE
    assert tokens.counter()(text) == len(encoding.encode_ordinary(text))
