"""The only room that knows HTTP: the library's face for whoever does not speak Python."""

from om_api.domain.extras import missing

try:
    import genai_prices  # noqa: F401 -- nobody should first miss it when costs are asked for

    from om_api.http.app import make_app
except ModuleNotFoundError as error:
    raise missing(error, "http") from None

__all__ = ["make_app"]
