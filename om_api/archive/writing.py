"""What changes the archive, each within a transaction of its caller's that has begun to write."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, delete, func, select, text, tuple_

from om_api.archive.full_text import insert_rows
from om_api.archive.protocol import Named, Row
from om_api.archive.rows import WHOLE, is_same, slices
from om_api.archive.schema import ENTRIES, FENCES

_KEY: Final = tuple_(ENTRIES.c.resource, ENTRIES.c.name)
_TOUCH: Final = text(
    "UPDATE om_entries SET archived_at = :now, expires_at = :until"
    " WHERE resource = :of AND name = :called AND revision = :at_revision"
)
_BEGIN_FENCE: Final = text("INSERT INTO om_fences (resource, fence) VALUES (:resource, 0) ON CONFLICT DO NOTHING")
_RAISE_FENCE: Final = text(
    "INSERT INTO om_fences (resource, fence) VALUES (:resource, :least) ON CONFLICT (resource) DO UPDATE"
    " SET fence = CASE WHEN om_fences.fence < :least THEN :least ELSE om_fences.fence + 1 END"
)
_REACH_FENCE: Final = text(
    "INSERT INTO om_fences (resource, fence) VALUES (:resource, :fence)"
    " ON CONFLICT (resource) DO UPDATE SET fence = excluded.fence WHERE om_fences.fence < excluded.fence"
)


def write(connection: Connection, rows: Sequence[dict[str, Any]], fences: Mapping[str, int]) -> dict[Named, int]:
    """Write rows but those of a resource whose fence is another by now; returns the revisions that they have.

    What is the same as the row of the highest revision of its name has that revision; else it becomes the next one, above the
    fence too: no revision of what was deleted is given again, so that in an older backup it names nothing else.
    """
    now = _lock_fences(connection, {row["resource"] for row in rows})
    admitted = {
        (row["resource"], row["name"]): row for row in rows if fences.get(row["resource"], 0) == now[row["resource"]]
    }
    kept = _kept(connection, list(admitted))
    same = {key: old.revision for key, old in kept.items() if is_same(admitted[key], old)}
    _touch(connection, same, admitted)
    new = {key: max(kept[key].revision if key in kept else 0, now[key[0]]) + 1 for key in admitted if key not in same}
    insert_rows(connection, [{**admitted[key], "revision": revision} for key, revision in new.items()])
    return same | new


def take_over(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows at the revisions that they have elsewhere; one that is there already stays."""
    there = {
        key for some in slices([(row["resource"], row["name"]) for row in rows]) for key in _there(connection, some)
    }
    insert_rows(connection, [row for row in rows if (row["resource"], row["name"], row["revision"]) not in there])


def _there(connection: Connection, keys: Sequence[Named]) -> set[tuple[str, str, int]]:
    columns = ENTRIES.c.resource, ENTRIES.c.name, ENTRIES.c.revision
    return {(of, name, revision) for of, name, revision in connection.execute(select(*columns).where(_KEY.in_(keys)))}


def fence(connection: Connection, resource: str, least: int = 1) -> None:
    """Raise the fence, to `least` at least."""
    connection.execute(_RAISE_FENCE, {"resource": resource, "least": least})


def remove(connection: Connection, resource: str) -> int:
    """Raise the fence first: who writes of this resource has ended then, and who has not begun will see it."""
    fence(connection, resource)
    own = ENTRIES.c.resource == resource
    if highest := connection.execute(select(func.max(ENTRIES.c.revision)).where(own)).scalar():
        fence(connection, resource, highest)
    return connection.execute(delete(ENTRIES).where(own)).rowcount


def discard(connection: Connection, resource: str, rows: Collection[Row]) -> int:
    """Delete rows; the fence is no lower than their revisions then."""
    if not rows:
        return 0
    fence(connection, resource, max(revision for _, revision in rows))
    own = delete(ENTRIES).where(ENTRIES.c.resource == resource)
    revision = tuple_(ENTRIES.c.name, ENTRIES.c.revision)
    return sum(connection.execute(own.where(revision.in_(some))).rowcount for some in slices(sorted(rows)))


def reach_fences(connection: Connection, fences: Mapping[str, int]) -> None:
    """Raise fences to what they are elsewhere; none falls."""
    if fences:
        rows = [{"resource": resource, "fence": fence} for resource, fence in sorted(fences.items())]
        connection.execute(_REACH_FENCE, rows)


def _lock_fences(connection: Connection, resources: Collection[str]) -> dict[str, int]:
    """Fences that nobody raises until this transaction ends; locked in order, so that no two wait for each other."""
    order = sorted(resources)
    if not order:
        return {}
    connection.execute(_BEGIN_FENCE, [{"resource": resource} for resource in order])
    found: dict[str, int] = {}
    for some in slices(order):
        asked = select(FENCES).where(FENCES.c.resource.in_(some)).order_by(FENCES.c.resource).with_for_update()
        found |= {row.resource: row.fence for row in connection.execute(asked)}
    return found


def _kept(connection: Connection, keys: Sequence[Named]) -> dict[Named, Any]:
    """Of each entry the row of the highest revision, by the columns WHOLE."""
    found: dict[Named, Any] = {}
    for some in slices(keys):
        rows = connection.execute(select(*WHOLE).where(_KEY.in_(some)).order_by(ENTRIES.c.revision))
        found |= {(row.resource, row.name): row for row in rows}
    return found


def _touch(connection: Connection, same: Mapping[Named, int], rows: Mapping[Named, dict[str, Any]]) -> None:
    """Note that what is the same was written again, to be kept until when it says now."""
    if same:
        given = [
            {
                "of": of,
                "called": name,
                "at_revision": revision,
                "now": rows[of, name]["archived_at"],
                "until": rows[of, name]["expires_at"],
            }
            for (of, name), revision in same.items()
        ]
        connection.execute(_TOUCH, given)
