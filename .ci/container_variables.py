"""The variables that docker-compose.yml hands on to our containers: `make docs` writes their names into config/containers.env."""

import re
from pathlib import Path

from om_api.settings.catalogue import VARIABLES, variable_of_model
from om_api.settings.model_settings import DEFAULT_MODELS, KEY_VARIABLES, ModelSettings

_MODELS = Path(__file__).parents[1] / "docs" / "models.md"
# whose value is a container's own: compose says where its store and its folders are
_OWN = re.compile(r"OM_(REDIS_URL|STORAGE__BACKEND|STORAGE__REDIS__(?!PREFIX).*)")
_PROCESS = ("OM_BROKER_URL", "OM_LOG_FORMAT", "OM_LOG_LEVEL")
_TELEMETRY = (  # read by OpenTelemetry's SDK itself
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_RESOURCE_ATTRIBUTES",
    "OTEL_SERVICE_NAME",
    "OTEL_TRACES_SAMPLER",
    "OTEL_TRACES_SAMPLER_ARG",
)
_HEAD = """\
# What docker-compose.yml hands on to workers, beat, Flower and API: names only, their values are those of your shell or of .env.
# What is set in neither is not set there. Made by `make docs`; further names, or lines NAME=value, go to config/own.env.
"""


def keys() -> list[str]:
    """The variables of keys: of every provider, of the models that are built in, and of those that docs/models.md shows."""
    shown = re.findall(r"api_key_env: ([A-Z]+_API_KEY)", _MODELS.read_text("utf-8"))
    built_in = [str(model.get("api_key_env", "")) for model in DEFAULT_MODELS.values()]
    return sorted({*KEY_VARIABLES.values(), *built_in, *shown} - {""})


def render() -> str:
    """Return the file."""
    models = [variable_of_model(name, field) for name in DEFAULT_MODELS for field in ModelSettings.model_fields]
    settings = [name for name in VARIABLES if not _OWN.fullmatch(name)]
    return _HEAD + "\n".join([*keys(), *_PROCESS, *_TELEMETRY, *settings, *models, ""])
