"""Making, listing and ending the server's ACL users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from om_api.domain.errors import InvalidInputError, NotPermittedError, StoreError
from om_api.store.driver.replies import as_int, as_list, command, fields, write
from om_api.store.driver.scripts import provide
from om_api.store.driver.steps import Steps
from om_api.store.fleet.acl_rules import StoreUser, of_all
from om_api.store.memory.keys import Keys

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
    yield from write(("ACL", "SETUSER", user.name, *words))
    if reset:
        yield from write(("CLIENT", "KILL", "USER", user.name))
    yield from provide()
    saved = yield from _save()
    everybody = yield from _get(_EVERYBODY)
    return Applied(saved, open_door=everybody is not None and everybody.on and everybody.nopass)


def revoke(names: Sequence[str]) -> Steps[tuple[int, bool]]:
    """End users at once, with their connections: how many there were, and whether the server's file knows it."""
    ended = yield from as_int("ACL", "DELUSER", *names).writing()
    return ended, (yield from _save())


def listed(keys: Keys) -> Steps[list[Known]]:
    """Every user of this store's, by name."""
    names = yield from as_list("ACL", "USERS")
    own = sorted(name for name in (each.decode() for each in names) if name.startswith(of_all(keys)))
    found: list[Known] = []
    for name in own:
        user = yield from _get(name)
        found += [user] if user else []
    return found


def _get(name: str) -> Steps[Known | None]:
    said = yield from command(_said, "ACL", "GETUSER", name)
    if said is None:
        return None
    flags = said[b"flags"]
    return Known(name, b"on" in flags, len(said[b"passwords"]), b"nopass" in flags)


def _said(reply: Any) -> dict[bytes, Any] | None:
    return None if reply is None else dict(fields(reply))


def _save() -> Steps[bool]:
    try:
        yield from write(("ACL", "SAVE"))
    except NotPermittedError:
        raise
    except StoreError:  # it keeps users in no file
        return False
    return True
