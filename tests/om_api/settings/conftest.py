"""What the tests of settings are handed: a folder to write to."""

import pytest
from configured import Folder


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)
