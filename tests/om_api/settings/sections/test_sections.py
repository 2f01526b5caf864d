"""Sections of the settings: what each takes, and what it refuses and why."""

import json
import math

import phonenumbers
import pytest
from configured import om
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from om_api import load_settings
from om_api.domain.errors import SettingsError
from om_api.domain.kept.extractors import KNOWN
from om_api.domain.webhooks.hook import Hook
from om_api.settings.sections.api_settings import ApiSettings
from om_api.settings.sections.extractor_settings import MOST
from om_api.settings.sections.fields import format_duration, parse_duration
from om_api.settings.sections.hook_settings import POINTS, HookSettings
from om_api.settings.sections.redaction_settings import REGIONS
from om_api.settings.sections.urls import has_password, safe_url


def test_what_an_operator_chooses_is_in_force_and_the_rest_is_as_it_was_and_nothing_may_be_bounded_to_nothing():
    chosen = load_settings(environ={"OM_API__CONNECTIONS": "5", "OM_API__CONNECTIONS_PER_ADDRESS": "null"}).memory.api
    assert (chosen.connections, chosen.connections_per_address) == (5, None)
    assert chosen.header_timeout == ApiSettings().header_timeout
    for field in sorted(ApiSettings.model_fields):
        with pytest.raises(SettingsError, match=f"api.{field}"):
            load_settings(environ={f"OM_API__{field.upper()}": "0"})


def test_what_no_browser_would_say_is_no_origin():
    for origin in (
        *("https://app.example.org/", "app.example.org", "https://App.example.org", "https://app.example.org:443"),
        *("https://*.example.org", "https://me@app.example.org", "null", "*", ""),
    ):
        with pytest.raises(SettingsError, match=r"api\.cors_origins.*permitted: a list of origins"):
            load_settings(environ={"OM_API__CORS_ORIGINS": json.dumps([origin])})
    for said in ("https://app.example.org", "{}", "[1]", "true", json.dumps(["http://a"] * 101)):
        with pytest.raises(SettingsError, match=r"api\.cors_origins"):
            load_settings(environ={"OM_API__CORS_ORIGINS": said})
    own = '["https://app.example.org", "http://localhost:3000", "http://[::1]:8080"]'
    for said, meant in ((own, tuple(json.loads(own))), ('"*"', "*"), ("[]", ())):
        assert load_settings(environ={"OM_API__CORS_ORIGINS": said}).memory.api.cors_origins == meant, said


DAY = 86_400


def test_keep_takes_the_place_of_ttl_days_for_all_or_for_an_agent(folder):
    for keep, seconds in (("forever", 36_500 * DAY), ("2y", 730 * DAY), ("400d", 400 * DAY), ("36h", 1.5 * DAY)):
        settings = folder.load(OM_ARCHIVE__URL="sqlite:///a.db", OM_ARCHIVE__KEEP=keep, OM_TTL_DAYS="1")
        assert settings.memory.retention_s == seconds, keep
    folder.settings("archive: {url: 'sqlite:///a.db', keep: forever}")
    folder.agent("harold", om("archive: {after: 1d, keep: 30d}"))
    folder.agent("ada", om("archive: {url: 'sqlite:///b.db'}"))
    settings = folder.load()
    assert (settings.for_agent("harold").archive.after, settings.for_agent("harold").retention_s) == (DAY, 30 * DAY)
    assert "archive.url holds for the whole system" in settings.problems[0].text


def test_what_is_no_address_and_no_time_is_refused_with_what_is_permitted(folder):
    for url in ("sqlite://", "a.db", "mysql://h/db", "postgresql:///", "sqlite:///a b.db"):
        with pytest.raises(Exception, match=r"sqlite:///file\.db, sqlite:////a/whole/path\.db or postgresql://"):
            folder.load(OM_ARCHIVE__URL=url)
    for keep in ("0d", "1h", "0y", "101y", "for ever", "-2y"):
        with pytest.raises(Exception, match="forever, years such as 2y, or a duration"):
            folder.load(OM_ARCHIVE__KEEP=keep)


def test_a_password_stands_in_no_file_is_shown_nowhere_and_comes_from_a_variable(folder):
    folder.settings("archive: {url: 'postgresql://om:hunter2@db/om'}")
    said = folder.refused()
    assert ("archive.url holds a password, which no file may" in said, "hunter2" in said) == (True, False)
    folder.settings("archive: {url: 'postgresql://om@db/om', password_env: DB_PASSWORD}")
    assert folder.load(DB_PASSWORD="s/1").archive_url == "postgresql://om:s%2F1@db/om"
    with pytest.raises(Exception, match="DB_PASSWORD, which is not set"):
        _ = folder.load().archive_url
    folder.settings("enabled: true")
    settings = folder.load(OM_ARCHIVE__URL="postgresql://om:hunter2@db/om")
    assert "hunter2" not in f"{settings.memory!r} {settings.safe_url(settings.archive_url)}"


def test_a_name_alone_is_one_that_we_know(folder):
    folder.base("observational_memory: {extractors: {contacts: {}, decisions: {of: resource, shown: false}}}")
    contacts, decisions = folder.load().memory.extractors_by("observer")
    assert (contacts.slug, contacts.schema, contacts.of, contacts.shown) == (
        "contacts", KNOWN["contacts"], "thread", True)  # fmt: skip
    assert (decisions.of, decisions.shown) == ("resource", False)


def test_one_that_cannot_be_is_told_where_it_is_set(folder):
    for said, named in [
        ("{mood: {}}", "mood has no instruction"),
        ("{thread: {instruction: x}}", "a tag of our own"),
        ("{'Big': {instruction: x}}", "cannot name an extractor"),
        ("{mood: {instruction: x, schema: {type: objekt}}}", "mood.schema: the schema cannot be"),
        ("{mood: {instruction: x, of: agent}}", "mood.of: permitted: thread or resource"),
        ("{mood: {instruction: x, shown: 1}}", "mood.shown: permitted: true or false"),
        ("{mood: {instuction: x}}", "'instuction' is no key of it; permitted: instruction, schema, of, by, shown"),
        ("{mood: words}", "mood: it is no mapping"),
        ("{mood: {instruction: [x]}}", "mood.instruction: permitted: text"),
        ("[contacts]", "up to 20 names"),
        ("{" + ", ".join(f"a{n}: {{instruction: x}}" for n in range(MOST + 1)) + "}", "up to 20 names"),
    ]:
        folder.base(f"observational_memory: {{extractors: {said}}}")
        refusal = folder.refused()
        assert named in refusal, (said, named)
        assert "extractors" in refusal, (said, named)


READ = {"10s": 10, "5m": 300, "1h": 3_600, "2d": 172_800, "1h30m": 5_400, "1d 2h": 93_600, "0.5s": 0.5, 7: 7, "7": 7}
REFUSED = (
    *("", " ", "h", "10x", "-5s", "5s1h", "1h1h", "٣s", "1e3", "nan", "inf", -1, True, None, [], math.nan, math.inf),
    *(10**400, "9" * 90 + "s", "9" * 400 + "s", "1" + " " * 100 + "s"),
)


def test_durations_are_read_as_people_write_them_and_others_refused():
    assert {written: parse_duration(written) for written in (*READ, 0.25, "0s")} == READ | {0.25: 0.25, "0s": 0}
    for written in REFUSED:
        with pytest.raises(ValueError):
            pytest.fail(f"{written!r} is read as {parse_duration(written)}")


@given(st.integers(0, 10**9))
def test_a_written_duration_reads_back_the_same(milliseconds):
    assert parse_duration(format_duration(milliseconds / 1000)) == pytest.approx(milliseconds / 1000)


URL = {"url": "https://hooks.example.org:8443/om?k=v", "secret_env": "OM_SECRET_HOOK"}


def test_what_is_left_out_is_ours_and_what_cannot_be_says_what_is_permitted():
    settings = HookSettings(before_observe=[{"entry_point": "calm"}, {**URL, "timeout": "1m", "on_failure": "stop"}])
    calm, far = settings.at("before_observe")
    assert calm == Hook("calm", "", "", 2.0, "skip")
    assert far == Hook("", URL["url"], "OM_SECRET_HOOK", 60.0, "stop")
    assert (calm.name, far.name) == ("calm", "hooks.example.org:8443")
    assert [settings.at(point) for point in POINTS[1:]] == [()] * 4
    for stated, why in [({}, "no list of at most 10"), ([{"entry_point": "a"}] * 11, "no list of at most 10"),
                        (["calm"], "a hook is a mapping"),
                        ([{"entry_point": "a", "function": "b"}], "'function' is no key"),
                        ([{}], "exactly one of them"), ([{"entry_point": "a", **URL}], "exactly one of them"),
                        ([{"entry_point": "os:system"}], "never module:function"),
                        ([{"entry_point": "a", "secret_env": "OM_SECRET_HOOK"}], "permitted: beside a url"),
                        ([{**URL, "url": "ftp://example.org"}], "https://<host>"),
                        ([{**URL, "url": "https://me:pw@example.org"}], "leave out name, password"),
                        ([{"url": URL["url"]}], "begins with OM_SECRET_"),
                        ([{**URL, "secret_env": "OM_REDIS_URL"}], "begins with OM_SECRET_"),
                        ([{"entry_point": "a", "timeout": "2 hours"}], "0.01 to 60 seconds"),
                        ([{"entry_point": "a", "timeout": "61s"}], "0.01 to 60 seconds"),
                        ([{"entry_point": "a", "on_failure": "retry"}], "skip or stop")]:  # fmt: skip
        with pytest.raises(ValidationError, match=why):
            HookSettings(before_context=stated)


def test_it_is_off_unless_said_and_kinds_are_a_list_in_any_order(folder):
    own = folder.load().memory.redaction
    assert (own.is_on, own.reveal, own.key_env) == (False, False, None)
    assert own.kinds == ("email", "phone", "card", "iban", "secret")
    folder.settings("redaction: {before: off}")
    assert folder.load().memory.redaction.before == "off"
    folder.settings("redaction: {before: model, kinds: [secret, email]}")
    own = folder.load().memory.redaction
    assert (own.is_on, own.kinds) == (True, ("email", "secret"))


def test_what_cannot_be_is_refused_with_what_can(folder):
    for said, permitted in (("before: always", "off, store or model"),
                            ("kinds: [names]", "a list of any of email, phone, card, iban, secret"),
                            ("kinds: []", "a list of any of email"),
                            ("region: Austria", "two capital letters of a country"),
                            ("region: XX", "such as AT, or null"),
                            ("engine: magic", "patterns or presidio")):  # fmt: skip
        folder.settings(f"redaction: {{{said}}}")
        assert permitted in folder.refused(), said
    assert frozenset(phonenumbers.SUPPORTED_REGIONS) == REGIONS


def test_a_key_where_its_variable_is_to_be_named_is_refused_and_never_shown(folder):
    for key in (
        *("9f8e7d6c5b4a39281706f5e4d3c2b1a0", "a9f8e7d6c5b4a39281706f5e4d3c2b1a0", "AIzaSyA1b2C3d4E5f6G7h8"),
        *("sk_live_4eC39HqLyjWDarjtT1zdp7dc", "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", "MY_JBSWY3DPEHPK3PXPJBSWY3DP"),
        *("OM_FLOWER_PASSWORD", "GEMINI_API_KEY", "OM_SECRET_a", "XOM_SECRET_A"),
    ):
        folder.settings(f"redaction: {{key_env: {key}}}")
        told = folder.refused()
        assert "redaction.key_env is not usable; permitted: the name of an environment variable" in told, key
        assert key not in told, key
    for name in ("OM_SECRET_REDACTION", "OM_SECRET_2"):
        folder.settings(f"redaction: {{key_env: {name}}}")
        assert folder.load(**{name: "x"}).memory.redaction.key_env == name, name


def test_a_password_in_the_query_is_never_shown():
    for name in ["password", "sentinel_password", "PASSWORD"]:
        for before in ["?", "?a=1&"]:
            url = f"redis+sentinel://host/mymaster{before}{name}=hunter2"
            assert has_password(url), (name, before)
            assert safe_url(f"{url}&db=1") == f"redis+sentinel://host/mymaster{before}{name}=***&db=1", (name, before)
