"""Pages under /ui for people: what memories hold, what is done for them, what it costs. Uses the public client only."""

from om_api.domain.extras import missing

try:
    from om_api.web.app import with_pages
except ModuleNotFoundError as error:
    raise missing(error, "http") from None

__all__ = ["with_pages"]
