"""Entries as workers archive them."""

import msgspec

from om_api.archive.entries import Entry
from om_api.recall.segment import Findable, encode

AT = 1_700_000_000_000
_STEP = 60_000


def messages(name="c1", *texts, resource="harold", thread="t1", at=AT, expires_at=AT + 10**9):
    """The messages behind an observation, a minute apart, with their segment."""
    said = [
        Findable(f"{name}-{n}", "user", at + n * _STEP, text) for n, text in enumerate(texts or ("a blue passport",))
    ]
    members = tuple(
        (msgspec.json.encode({"id": one.id, "role": one.role, "content": one.text}), float(one.at)) for one in said
    )
    return Entry(resource, f"source:{name}", "messages", thread, at, expires_at, members, encode(thread, said))


def observations(generation=3, resource="harold", thread="", expires_at=AT + 10**9):
    """The observations that a generation replaced."""
    member = {"id": "o1", "thread_id": "t1", "priority": 3, "text": "* 🔴 (09:15) likes blue", "from": AT, "to": AT + 1}
    name = f"reflected:{generation}" + (f":{thread}" if thread else "")
    members = ((msgspec.json.encode(member | {"created_at": AT}), 4.0),)
    return Entry(resource, name, "observations", thread, AT, expires_at, members)


def generation(n=4, resource="harold", thread="", expires_at=AT + 10**9):
    """A generation of the reflected memory."""
    name = f"reflections:{thread}|{n}" if thread else f"reflections|{n}"
    member = msgspec.json.encode({"n": n, "text": "likes blue", "origin": "reflection", "created_at": AT})
    return Entry(resource, name, "generation", thread, AT, expires_at, ((member, float(n)),))
