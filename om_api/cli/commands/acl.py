"""`om acl`: who may do what at Redis itself."""

import os
import sys
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import click

from om_api.cli.output import json_option, note, print_json, print_outcome, print_table
from om_api.cli.target import Target, command, optional_resource
from om_api.domain.api_keys import Role
from om_api.domain.errors import InvalidInputError, NotFoundError
from om_api.domain.values import Outcome
from om_api.settings import Settings
from om_api.store.fleet import acl as acl_users
from om_api.store.fleet.acl import StoreUser
from om_api.store.memory.keys import Keys

_NO_FILE = (
    "this server keeps users in no file, and forgets them when it starts again: give it an aclfile (docs/security.md)"
)
_UNFINISHED = "it has no password yet, so nobody can log in: --generate, --password-file and --password-env give it one"
_OPEN_DOOR = (
    "whoever reaches this server needs no password and may do everything, so that no user holds anybody back: make an"
    " administrator, then switch the user default off (docs/security.md)"
)
_ONCE = "this is the only time it is shown"


class AclRequest(NamedTuple):
    """What the command line says."""

    resource: str | None
    role: str | None
    workers: bool
    do: bool
    generate: bool
    password_file: str | None
    password_env: str | None
    reset: bool
    revoke: bool
    show: bool
    as_json: bool

    def user(self, keys: Keys, settings: Settings) -> StoreUser:
        """The requested user. An agent's user may also read the memories that it composes with their consent."""
        if self.workers:
            return acl_users.workers(keys)
        resource = str(self.resource)
        composed = [each.resource for each in settings.links(resource).composed]
        return acl_users.agent(keys, resource, Role(self.role or Role.WRITER), composed)

    def names(self, keys: Keys, settings: Settings) -> list[str]:
        """The users to end: of a resource all, unless a role is named."""
        if self.workers or self.role:
            return [self.user(keys, settings).name]
        return [acl_users.agent(keys, str(self.resource), role).name for role in acl_users.ROLES]

    def check(self) -> None:
        """Raise InvalidInputError unless it says whose user, and from where its one password comes."""
        if not self.show and bool(self.resource) == self.workers:
            raise InvalidInputError("name a resource, or --workers, and not both; --list shows every user")
        if sum(map(bool, (self.show, self.revoke, self.do))) > 1:
            raise InvalidInputError("--list, --revoke and --apply are three things: ask for one of them")
        if sum(map(bool, (self.generate, self.password_file, self.password_env))) > 1:
            raise InvalidInputError(
                "--generate, --password-file and --password-env each give a password: use one of them"
            )

    def password(self) -> str | None:
        """The password that was named or is made now; raises InvalidInputError where there is none."""
        if self.generate:
            return acl_users.new_password()
        if self.password_env:
            if not (found := os.environ.get(self.password_env)):
                raise InvalidInputError(f"{self.password_env} is not set: export it, or use --password-file")
            return found
        return _read(self.password_file) if self.password_file else None

    def shown(self, password: str | None) -> dict[str, str | None]:
        """A password that was made here, for a program: it is shown this once."""
        return {"password": password} if self.generate else {}


def _read(file: str) -> str:
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text("utf-8")
    except OSError as error:
        raise InvalidInputError(
            f"{file} cannot be read ({error.strerror}): name a file that holds the password"
        ) from None
    return text.strip("\r\n")


@command(
    "om acl harold",
    "om acl harold --apply --generate",
    "om acl harold --role reader --apply --password-env HAROLD_PASSWORD",
    "om acl harold --apply --generate --reset",
    "om acl harold --revoke",
    "om acl --workers --apply --password-file workers.password",
    "om acl --list",
    audited="user_set",
)
@optional_resource
@click.option(
    "--role", type=click.Choice([str(role) for role in acl_users.ROLES]), help="What it may do; writer if not stated."
)
@click.option("--workers", is_flag=True, help="The user of workers, beats and the HTTP API.")
@click.option("--apply", "do", is_flag=True, help="Set the user at the server instead of printing the command.")
@click.option("--generate", is_flag=True, help="Make a password, and show it once.")
@click.option("--password-file", metavar="FILE", help="Read the password from a file, or with - from stdin.")
@click.option("--password-env", metavar="NAME", help="Read the password from a variable of the environment.")
@click.option("--reset", is_flag=True, help="End its older passwords, and the connections made with them.")
@click.option("--revoke", is_flag=True, help="End the user with its connections; without --role in both roles.")
@click.option("--list", "show", is_flag=True, help="List the users of this store.")
@json_option
def acl(target: Target, /, **said: Any) -> None:
    """Print or set a Redis user that reaches the memory of one resource and nothing else.

    A writer pushes, reads, activates and asks the workers; a reader reads. Both also read the memories that the agent's
    settings compose with their consent (composed_by): apply the user again when either setting changes. --apply may be
    repeated: it replaces the rules and keeps the passwords, to which it adds a new one; --reset removes the old ones. The
    server gets a hash of the password. On a Cluster it is set on every node; elsewhere users are not replicated: apply them at
    each server. You need the right to use ACL, which an agent's user does not have.
    """
    asked, keys = AclRequest(**said), target.keys()
    target.attempt.add(did="user_revoked" if asked.revoke else "user_set" if asked.do else "")
    asked.check()
    if asked.show:
        _list(target, keys, asked)
    elif asked.revoke:
        _revoke(target, keys, asked)
    elif asked.do:
        _apply(target, keys, asked)
    else:
        _print(keys, asked, target.refreshed())


def _print(keys: Keys, asked: AclRequest, settings: Settings) -> None:
    password, user = asked.password(), asked.user(keys, settings)
    line = user.line([acl_users.kept(password)] if password else [])
    if asked.as_json:
        print_json({"user": user.name, "command": line, **asked.shown(password)})
    else:
        click.echo(line)
    if asked.generate and not asked.as_json:
        note(f"password: {password}  ({_ONCE})")
    if password is None:
        note(_UNFINISHED)


def _apply(target: Target, keys: Keys, asked: AclRequest) -> None:
    password, user = asked.password(), asked.user(keys, target.refreshed())
    target.attempt.add(of=user.name)
    done = target.run(acl_users.apply(user, [acl_users.kept(password)] if password else [], reset=asked.reset))
    target.tell()  # before the password is shown
    if asked.as_json:
        print_json({"user": user.name, **done._asdict(), **asked.shown(password)})
    elif asked.generate:
        click.echo(password)
    if asked.generate:
        note(_ONCE)
    note(f"user {user.name} is set; in an address it is written {quote(user.name, safe='')}")
    if not done.saved:
        note(_NO_FILE)
    if done.open_door:
        note(_OPEN_DOOR)


def _revoke(target: Target, keys: Keys, asked: AclRequest) -> None:
    names = asked.names(keys, target.settings())
    target.attempt.add(of=", ".join(names))
    ended, saved = target.run(acl_users.revoke(names))
    if not ended:
        raise NotFoundError(f"there is no user {' or '.join(names)} (any more): om acl --list names them")
    print_outcome(Outcome.CLEARED, asked.as_json, users=ended, saved=saved)
    if not saved:
        note(_NO_FILE)


def _list(target: Target, keys: Keys, asked: AclRequest) -> None:
    found = target.run(acl_users.listed(keys))
    if asked.as_json:
        print_json([user._asdict() for user in found])
    else:
        print_table(("user", "may log in", "passwords", "needs none"), found)
