"""Values encrypted under a key, and named by it: one value has one name, which tells nothing of it to who has no key."""

import hashlib
import hmac

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_NAME = 10  # hex digits: one in a million of two values among a thousand share a name


class Vault:
    """Seals values with AES-SIV, which needs no nonce: the same value is sealed the same each time."""

    def __init__(self, key: str) -> None:
        derived = HKDF(SHA256(), 96, salt=None, info=b"cortex-om redaction").derive(key.encode())
        self._naming, self._cipher = derived[:32], AESSIV(derived[32:])

    def name(self, kind: str, value: str) -> str:
        """What a value is called: its kind, and ten hex digits."""
        said = f"{kind}\0{value}".encode("utf-8", "surrogatepass")
        return f"{kind} {hmac.new(self._naming, said, hashlib.sha256).hexdigest()[:_NAME]}"

    def seal(self, name: str, value: str) -> bytes:
        """A value encrypted; it opens under its own name only."""
        return self._cipher.encrypt(value.encode("utf-8", "surrogatepass"), [name.encode()])

    def open(self, name: str, sealed: bytes) -> str | None:
        """The value; None for what another key sealed, or under another name."""
        try:
            return self._cipher.decrypt(sealed, [name.encode()]).decode("utf-8", "surrogatepass")
        except (InvalidTag, ValueError):
            return None
