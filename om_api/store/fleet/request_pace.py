"""How fast an API key asks, at whichever process: each request is counted in the store, by its clock."""

from om_api.domain.api_keys import ApiKey
from om_api.domain.requests.request_rate import RequestRate
from om_api.store.driver.replies import number
from om_api.store.driver.steps import Steps, Verb
from om_api.store.memory.keys import Keys


def take(keys: Keys, key: ApiKey) -> Steps[float]:
    """Count one request of a key and return 0.0; else the seconds until it may make one. Asks nothing where it has no rate."""
    if not key.rate:
        return 0.0
    most, seconds = RequestRate.parse(key.rate)
    return (yield from Verb("pace", [keys.paced(key.id)], [most, seconds * 1_000], number)) / 1_000
