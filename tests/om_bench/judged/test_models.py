import pytest
from reading_model import configured

from om_api import load_settings
from om_api.domain.errors import SettingsError
from om_bench.judged.models import check, digests
from om_workers.calls.registry import Registry


def checked(name, settings):
    check({"--model": name}, settings, Registry(settings))


def test_a_model_without_its_key_is_named_with_the_variable_to_set():
    with pytest.raises(SettingsError, match=r"--model gemini-2.5-flash needs a key: set GEMINI_API_KEY"):
        checked("gemini-2.5-flash", load_settings(environ={}))


def test_a_name_that_nobody_knows_is_told_which_forms_there_are(tmp_path):
    settings = load_settings(configured(tmp_path / "c", "http://127.0.0.1:1"), {})
    with pytest.raises(SettingsError) as told:
        checked("foo", settings)

    assert str(told.value).startswith("--model foo is no model that is known here: name an entry of `models:`")
    assert "fake" in str(told.value)
    assert "gemini-2.5-flash or gpt-5-mini, or `scripted`" in str(told.value)


def test_a_model_of_tiers_needs_the_keys_of_them_all(tmp_path):
    configured(tmp_path / "c", "http://127.0.0.1:1")
    with (tmp_path / "c" / "observational-memory.yaml").open("a") as file:
        file.write("\n  sized:\n    tiers: [{up_to: 10000, model: fake}, {up_to: 20000, model: gemini-2.5-flash}]\n")

    with pytest.raises(SettingsError, match="--model sized needs a key"):
        checked("sized", load_settings(tmp_path / "c", {}))
    checked("sized", load_settings(tmp_path / "c", {"GEMINI_API_KEY": "k"}))


def test_what_needs_no_key_can_be_asked(tmp_path):
    settings = load_settings(configured(tmp_path / "c", "http://127.0.0.1:1"), {})

    for name in ("scripted", "fake"):
        checked(name, settings)


def test_what_takes_notes_only_neither_answers_nor_judges():
    settings = load_settings(environ={})

    check({"--observer": "extractive"}, settings, Registry(settings))
    with pytest.raises(SettingsError, match="--judge extractive takes notes and answers nothing"):
        check({"--judge": "extractive"}, settings, Registry(settings))


def test_another_address_makes_another_model(tmp_path):
    one = load_settings(configured(tmp_path / "a", "http://127.0.0.1:1"), {})
    two = load_settings(configured(tmp_path / "b", "http://127.0.0.1:2"), {})

    assert digests(["fake"], one) == digests(["fake"], one)
    assert digests(["fake"], one) != digests(["fake"], two)
