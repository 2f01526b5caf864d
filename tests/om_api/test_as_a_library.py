"""A program that uses the library: it is shown what there is, and nothing of ours comes on its standard output."""

import inspect
import pydoc
import subprocess
import sys

import pytest

import om_api


def test_help_can_be_had_of_everything():
    assert "ObservationalMemory" in pydoc.render_doc(om_api)


@pytest.mark.parametrize("name", sorted(name for name in om_api.__all__ if inspect.isclass(getattr(om_api, name))))
def test_the_fields_of_every_public_class_can_be_asked_for(name):
    made = getattr(om_api, name)

    assert pydoc.render_doc(made).startswith("Python Library Documentation")


def test_every_public_name_can_be_had_and_no_other():
    assert [name for name in om_api.__all__ if not hasattr(om_api, name)] == []
    assert set(om_api.__all__) == set(dir(om_api))
    with pytest.raises(AttributeError, match="'om_api' has no attribute 'Setting'"):
        om_api.Setting  # noqa: B018  a name that is asked for


def test_what_takes_long_to_load_is_loaded_when_it_is_asked_for():
    heavy = ["redis", "pydantic", "structlog", "tiktoken", "genai_prices"]
    code = f"import sys, om_api; print(sorted(set({heavy}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout == "[]\n"
