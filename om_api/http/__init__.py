"""The only room that knows HTTP: the library's face for whoever does not speak Python."""

from om_api.domain.extras import missing

try:
    from om_api.http.app import make_app
except ModuleNotFoundError as error:
    raise missing(error) from None

__all__ = ["make_app"]
