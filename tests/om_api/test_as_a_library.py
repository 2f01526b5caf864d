"""A program that uses the library: it is shown what there is, and nothing of ours is loaded before it is needed."""

import inspect
import pydoc
import subprocess
import sys

import pytest

import om_api


def test_every_public_name_can_be_had_and_looked_up_and_no_other():
    assert [name for name in om_api.__all__ if not hasattr(om_api, name)] == []
    assert set(om_api.__all__) == set(dir(om_api))
    assert "ObservationalMemory" in pydoc.render_doc(om_api)
    for name in om_api.__all__:
        if inspect.isclass(made := getattr(om_api, name)):
            assert pydoc.render_doc(made).startswith("Python Library Documentation"), name
    with pytest.raises(AttributeError, match="'om_api' has no attribute 'Setting'"):
        om_api.Setting  # noqa: B018  a name that is asked for


@pytest.mark.nightly
def test_what_takes_long_to_load_is_loaded_when_it_is_asked_for():
    heavy = [
        "redis",
        "pydantic",
        "structlog",
        "tiktoken",
        "genai_prices",
        "phonenumbers",
        "stdnum",
        "om_api.redaction.vault",
    ]
    code = (
        f"import sys, om_api; found = sorted(set({heavy}) & set(sys.modules)); om_api.ObservationalMemory; print(found)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout == "[]\n"
