"""How much one request may hold, and one reply; what an operator may choose is in om_api/settings/sections/api_settings.py."""

from om_api.domain.message_size import MAX_TEXT
from om_api.store.memory.push import BATCH

MAX_BODY = 8 * 1024 * 1024  # bytes of a request that adds messages
SMALL_BODY = 64 * 1024  # bytes of any other; a larger one is taken up in a thread
REDACTED_BODY = 2 * 1024  # bytes; a larger one is taken up in a thread if it is redacted
MAX_CALL = 2 * 1024 * 1024  # bytes of a request of MCP: a model wrote its arguments
MAX_IMPORT = 1024 * 1024 * 1024  # bytes of a memory that is imported: it is read as it comes, and never held
MAX_BATCH = BATCH  # messages of a request: as many as the store takes in one step
MAX_HISTORY = 10_000  # messages of a history
MAX_MESSAGE = MAX_TEXT  # bytes of one message's JSON, without its media and metadata
MAX_PAGE = 500  # entries of a reply
PAGE = 100
MAX_WAIT_S = 60.0
MAX_PIPELINED = 16  # requests of a connection that wait for the answers before theirs
LARGE = 256 * 1024  # bytes of the store's reply from which on it is taken up in a thread
HEAVY_AT_ONCE = 4  # threads that do so
RETRY_S = 1  # what whoever is refused for a moment is told to wait
BEAT_S = 15.0  # between two signs of life on a stream; its key is looked at as often
STALLED_S = 15.0  # how long a reader of a stream may take nothing
LOOK_S = 1.0  # how long a stream waits for events before it looks around
