"""Making, listing and ending the server's ACL users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from om_api.acl import of_all
from om_api.errors import InvalidInputError, NotPermittedError, StoreError
from om_api.store.decoding import fields
from om_api.store.scripts import provide
from om_api.store.steps import Batch, Steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from om_api.acl import StoreUser
    from om_api.store.keys import Keys

_EVERYBODY = "default"  # who a connection is before it logs in, and after RESET
_ANEW = ("on", "resetkeys", "resetchannels", "clearselectors", "-@all")


class Known(NamedTuple):
    """A user as the server knows it: its name, whether it may log in, how many passwords it has, or whether it needs none."""

    name: str
    on: bool
    passwords: int
    nopass: bool


class Applied(NamedTuple):
    """What holds after a user was set: `saved` where the server's file knows it, `open_door` where nobody needs a user."""

    saved: bool
    open_door: bool


def apply(user: StoreUser, passwords: Sequence[str], *, reset: bool) -> Steps[Applied]:
    """Set a user's rules, in one step, and give it passwords; with `reset` its older ones end, and its connections too.

    Has the server hold our scripts. Raises InvalidInputError for a user that would have no password.
    """
    known = yield from _get(user.name)
    if not passwords and (reset or known is None or not known.passwords):
        raise InvalidInputError(
            f"{user.name} would have no password: add --generate, --password-file FILE or --password-env NAME"
        )
    words = (*(("resetpass",) if reset else ()), *passwords, *_ANEW, *user.rules)
    yield Batch([("ACL", "SETUSER", user.name, *words)], writes=True)
    if reset:
        yield Batch([("CLIENT", "KILL", "USER", user.name)], writes=True)
    yield from provide()
    saved = yield from _save()
    everybody = yield from _get(_EVERYBODY)
    return Applied(saved, open_door=everybody is not None and everybody.on and everybody.nopass)


def revoke(names: Sequence[str]) -> Steps[tuple[int, bool]]:
    """End users at once, with their connections: how many there were, and whether the server's file knows it."""
    ((ended),) = yield Batch([("ACL", "DELUSER", *names)], writes=True)
    saved = yield from _save()
    return int(ended), saved


def listed(keys: Keys) -> Steps[list[Known]]:
    """Every user of this store's, by name."""
    (names,) = yield Batch([("ACL", "USERS")])
    own = sorted(name for name in (each.decode() for each in names) if name.startswith(of_all(keys)))
    found: list[Known] = []
    for name in own:
        user = yield from _get(name)
        found += [user] if user else []
    return found


def _get(name: str) -> Steps[Known | None]:
    (reply,) = yield Batch([("ACL", "GETUSER", name)])
    if reply is None:
        return None
    said: dict[bytes, Any] = dict(fields(reply))
    flags = said[b"flags"]
    return Known(name, b"on" in flags, len(said[b"passwords"]), b"nopass" in flags)


def _save() -> Steps[bool]:
    try:
        yield Batch([("ACL", "SAVE")], writes=True)
    except NotPermittedError:
        raise
    except StoreError:  # it keeps users in no file
        return False
    return True
