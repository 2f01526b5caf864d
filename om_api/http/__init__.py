"""The only room that knows HTTP: the library's face for whoever does not speak Python."""

from om_api.http.app import make_app

__all__ = ["make_app"]
