"""What the tests of settings are handed: a folder to write to."""

from __future__ import annotations

import pytest
from configured import Folder


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)
