import pytest

from om_api.domain.errors import InvalidInputError
from om_bench.harness.loading import load


def test_a_file_in_no_known_format_is_named(tmp_path):
    for text in ["{", "[]", "{}", '[{"conversation": {}}]', '[{"haystack_sessions": 1}]', "[1]", '[{"a": 1}]']:
        file = tmp_path / "other.json"
        file.write_text(text)

        with pytest.raises(InvalidInputError, match=r"other\.json"):
            load(file)
