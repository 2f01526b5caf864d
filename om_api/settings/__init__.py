"""What is configured: YAML files, overrides by agent, the environment. The only reader of any of them."""

from __future__ import annotations

from om_api.settings.live import Settings, load_settings
from om_api.settings.models import ModelSettings
from om_api.settings.state import Problem
from om_api.settings.values import MemorySettings

__all__ = ["MemorySettings", "ModelSettings", "Problem", "Settings", "load_settings"]
