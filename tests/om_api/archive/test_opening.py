"""Opening: SQL's packages are loaded where an archive is opened, and nowhere before."""

import subprocess
import sys

import pytest

from om_api.archive.opening import open_archive
from om_api.domain.errors import SettingsError

LIGHT = """
import sys, om_api, om_api.client
from om_api.archive import body, entries, opening, protocol, words
print(sorted({"sqlalchemy", "alembic", "psycopg"} & sys.modules.keys()))
"""
OPEN = "from om_api.archive.opening import open_archive; open_archive('sqlite:///nowhere/archive.db')"


def test_nothing_of_sql_is_loaded_before_an_archive_is_opened():
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout == "[]\n"


@pytest.mark.parametrize("package", ["sqlalchemy", "alembic", "psycopg"])
def test_what_is_not_installed_is_asked_for_in_one_line(package):
    code = f"import sys; sys.modules['{package}'] = None; " + OPEN
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)

    assert done.stderr.splitlines()[-1].startswith("om_api.domain.extras.MissingExtraError: " + package)
    assert done.stderr.endswith("is not installed: pip install 'cortex-om[archive]' brings it\n")


def test_an_archive_that_is_not_there_is_opened_and_told_at_first_use(tmp_path):
    assert open_archive(f"sqlite:///{tmp_path}/none.db") is not None
    with pytest.raises(SettingsError):
        open_archive("redis://localhost")
