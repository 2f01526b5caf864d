"""The page on models: its examples load, and the errors it explains are those of the code."""

import re
from pathlib import Path

import pytest

from om_api import load_settings
from om_workers.calls.registry import Registry

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "models.md").read_text()
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
KEYS = dict.fromkeys(("GEMINI_API_KEY", "OPENAI_API_KEY", *re.findall(r"api_key_env: (\w+)", PAGE)), "k")


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_model_of_an_example_can_be_used(tmp_path, text):
    (tmp_path / "observational-memory.yaml").write_text(text)
    settings = load_settings(tmp_path, KEYS)
    models = Registry(settings)

    assert settings.models
    assert [name for name in settings.models if models.model_for(name, 200_000) is None] == []


def test_every_error_that_is_explained_is_one_of_the_code():
    code = "".join(
        file.read_text()
        for file in (*(ROOT / "om_workers" / "llm").glob("*.py"), ROOT / "om_workers/calls/registry.py")
    )
    says = re.sub(r'"\s*f?"', "", code)  # texts over several lines
    rows = [
        line.split(" | ")[0] for line in PAGE.split("## What errors mean")[1].splitlines() if line.startswith("| `")
    ]
    told = [phrase for row in rows for phrase in re.findall(r"`([^`]+)`", row) if not phrase.startswith("refused (")]

    assert len(rows) > 10
    assert [phrase for phrase in told if phrase not in says] == []
