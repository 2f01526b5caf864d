"""What is configured: YAML files, overrides by agent, the environment. The only reader of any of them."""

from om_api.settings.live import Settings, load_settings
from om_api.settings.loaded import FileProblem
from om_api.settings.memory_settings import MemorySettings
from om_api.settings.model_settings import ModelSettings

__all__ = ["FileProblem", "MemorySettings", "ModelSettings", "Settings", "load_settings"]
