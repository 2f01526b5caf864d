"""Locks with an owner's token: short leases that save money; scripts keep truth without them."""

from redis.exceptions import LockError, RedisError
from redis.lock import Lock

from om_api.store.driver.connection import Connection
from om_api.store.driver.step_driver import explain
from om_api.store.driver.steps import Batch


class Lease:
    """One try at a lock; renewed by whoever holds it, gone by itself when its holder dies. Raises StoreError."""

    def __init__(self, connection: Connection, name: str, seconds: float) -> None:
        self.name = name
        self._lock = Lock(connection.client, name, timeout=seconds, thread_local=False)

    def acquire(self) -> bool:
        """Try it, never wait: False when someone else has it."""
        try:
            return bool(self._lock.acquire(blocking=False))
        except RedisError as error:
            raise explain(error, Batch([])) from error

    def renew(self) -> bool:
        """Begin the lease anew; False when it was lost, or the store cannot be asked."""
        try:
            return bool(self._lock.reacquire())
        except (LockError, RedisError):
            return False

    def release(self) -> bool:
        """Let it go; False when it was lost, or will have to run out."""
        try:
            self._lock.release()
        except (LockError, RedisError):
            return False
        return True
