"""Values of one resource, encrypted and named under keys that are derived from the key of its settings and its id."""

import hashlib
import hmac

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_NAME = 10  # hex digits: one in a million of two values among a thousand share a name


class Vault:
    """Seals values with AES-SIV, which needs no nonce: the same value is sealed the same each time.

    Names and sealed values of two resources have nothing in common, so a writer of one can neither guess values of the other
    by comparing names nor have them opened by copying them. `named_for` is the resource by which values are named, if another.
    """

    def __init__(self, key: str, resource: str, named_for: str | None = None) -> None:
        self._naming = _derived(key, "names", resource if named_for is None else named_for, 32)
        self._cipher = AESSIV(_derived(key, "values", resource, 64))

    def name(self, kind: str, value: str) -> str:
        """What a value is called: its kind, and ten hex digits."""
        said = f"{kind}\0{value}".encode("utf-8", "surrogatepass")
        return f"{kind} {hmac.new(self._naming, said, hashlib.sha256).hexdigest()[:_NAME]}"

    def seal(self, name: str, value: str) -> bytes:
        """A value encrypted; it opens for this resource and under its own name only."""
        return self._cipher.encrypt(value.encode("utf-8", "surrogatepass"), [name.encode()])

    def open(self, name: str, sealed: bytes) -> str | None:
        """The value; None for what was sealed under another key or name, or for another resource."""
        try:
            return self._cipher.decrypt(sealed, [name.encode()]).decode("utf-8", "surrogatepass")
        except (InvalidTag, ValueError):
            return None


def _derived(key: str, use: str, resource: str, size: int) -> bytes:
    info = f"cortex-om redaction {use}\0{resource}".encode("utf-8", "surrogatepass")
    return HKDF(SHA256(), size, salt=None, info=info).derive(key.encode())
