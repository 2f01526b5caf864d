"""Processes that go by the same settings say the same digits, and others do not."""

import pytest
from configured import Folder, om

from om_api.settings.stored_layers import StoredTexts


def test_wherever_settings_come_from_the_same_ones_have_the_same_fingerprint(folder, tmp_path):
    folder.settings("ttl_days: 5")
    folder.agent("harold", om("ttl_days: 6"))
    other = Folder(tmp_path / "other")
    other.base("observational_memory:\n  # words\n  ttl_days: 5\n  message_threshold: 30000")
    other.agent("harold", om("ttl_days: 6, max_reflections: 100"))

    assert folder.load().fingerprint == other.load(OM_TIMEZONE="UTC").fingerprint


@pytest.mark.parametrize(
    "change",
    [
        {"OM_TTL_DAYS": "7"},
        {"OM_MODEL": "extractive"},
        {"OM_PRESET": "small"},
        {"OM_MODELS__DEEPSEEK__BASE_URL": "http://other/v1"},
        {"OM_TOTAL_BUDGET__CALLS_PER_DAY": "5"},
        {"OM_OBSERVER__INSTRUCTION": "Be brief."},
    ],
)
def test_other_settings_have_another_fingerprint(folder, change):
    assert folder.load().fingerprint != folder.load(**change).fingerprint


@pytest.mark.parametrize(
    "change",
    [
        {"OM_REDIS_URL": "redis://:hush@elsewhere:6379/0"},
        {"OM_MODELS__DEEPSEEK__API_KEY_ENV": "MY_KEY"},
        {"OM_API__STREAMS": "5"},
        {"OM_LOG_LEVEL": "DEBUG", "OM_CONCURRENCY": "3", "OPENAI_API_KEY": "sk-hush"},
        {"OM_TTL_DAYS": "90"},
    ],
)
def test_no_secret_is_in_a_fingerprint_nor_what_may_differ_from_process_to_process(folder, change):
    assert folder.load().fingerprint == folder.load(**change).fingerprint


def test_no_password_of_a_models_address_is_in_a_fingerprint(folder):
    urls = ("http://host/v1?key=one", "http://host/v1?key=two")

    assert len({folder.load(OM_MODELS__MINE__BASE_URL=url).fingerprint for url in urls}) == 1


def test_an_agents_own_file_changes_the_fingerprint_and_taking_it_back_does_too(folder):
    folder.settings("")
    settings, seen = folder.load(), []
    for change in (lambda: folder.agent("harold", om("ttl_days: 6")), lambda: folder.agent("harold", "")):
        change()
        settings.refresh()
        seen.append(settings.fingerprint)
    fingerprint = settings.fingerprint
    settings.refresh()

    assert len({folder.load().fingerprint, *seen}) == 2
    assert settings.fingerprint == fingerprint
    assert len(fingerprint) == 16


def test_what_the_store_says_has_a_fingerprint_of_its_own(folder):
    folder.settings("ttl_days: 5")
    settings, other = folder.load(), folder.load()
    before = settings.fingerprint
    settings.refresh(StoredTexts("d", {"harold": om("ttl_days: 6").encode()}))
    other.refresh(StoredTexts("e", {"harold": b"observational_memory:\n  ttl_days: 6  # words"}))

    assert settings.fingerprint == other.fingerprint != before
    settings.refresh(StoredTexts())
    assert settings.fingerprint == before
