import subprocess
import sys

import pytest

from om_api.domain.errors import SettingsError
from om_api.domain.extras import MissingExtraError
from om_api.redaction import making
from om_api.redaction.making import redactor
from om_api.settings.sections.redaction_settings import RedactionSettings

KEYED = RedactionSettings(kinds=("email",), key_env="A_KEY")


def test_it_is_made_once_for_a_key_and_anew_for_another(monkeypatch):
    monkeypatch.setenv("A_KEY", "0123456789abcdef")
    first = redactor(KEYED)
    assert redactor(KEYED) is first
    monkeypatch.setenv("A_KEY", "fedcba9876543210")
    assert redactor(KEYED) is not first


@pytest.mark.parametrize(("key", "says"), [("", "is not set"), ("short", "holds 5 characters")])
def test_a_key_that_is_none_is_refused_by_the_name_of_its_variable(monkeypatch, key, says):
    monkeypatch.setenv("A_KEY", key)
    with pytest.raises(SettingsError, match=f"A_KEY, which {says}") as refused:
        redactor(KEYED)
    assert "short" not in str(refused.value).replace("shorter", "")


def test_a_package_that_lacks_is_named_with_what_brings_it(monkeypatch):
    making._made.cache_clear()
    monkeypatch.setitem(sys.modules, "om_api.redaction.finding", None)
    monkeypatch.delitem(sys.modules, "om_api.redaction.finding")
    monkeypatch.setitem(sys.modules, "phonenumbers", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'cortex-om\[redaction\]'"):
        redactor(RedactionSettings(kinds=("email",), region="CH"))


def test_none_of_its_packages_is_loaded_while_nothing_is_redacted():
    names = {"phonenumbers", "stdnum", "om_api.redaction.vault"}
    code = f"import sys, om_api; om_api.ObservationalMemory; print({names} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
