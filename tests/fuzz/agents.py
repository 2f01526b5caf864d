"""What agents do: push well, late, twice and badly; say more or something else under an id; write without the library; read."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import TypeVar

from fuzz.activity import Activity, current
from fuzz.checker import BrokenError, message_id
from fuzz.expected import Push
from fuzz.game import verb
from fuzz.pieces import Form, name_of, pieces, said
from fuzz.workers import sealing
from om_api import Message
from om_api.client.receipts import Receipt
from om_api.domain.errors import OMError

T = TypeVar("T")
Said = Sequence[tuple[str, Form]]  # ids, and what is said under them
Words = Counter[tuple[str, str]]  # how often which id got which word
_TRIES = 3  # of a client whose reply was lost


def push(game, said: Said, at: int | None = None, *, replace: bool = False, begin=None) -> Activity:
    """An agent adds messages to a thread, and tries again when a reply is lost."""
    ids = tuple(dict.fromkeys(name for name, _ in said))
    push, om = Push(game.resource, game.thread, ids), game.world.om
    more = {"thread_id": game.thread, "resource_id": game.resource, "timestamp": at}
    tokens = [game.dice.choice([0, 40, 60, 100, 100, 250]) for _ in said]
    named = zip(said, tokens, strict=True)
    messages = [Message(role=f.role, content=f.content, id=name, tokens=n, **more) for (name, f), n in named]
    game.expected.begin_push(push, said, replace=replace)

    def work():
        try:
            must = _due(game, push, said, replace=replace)
            found = _answered(tried(lambda: om.add_messages(messages, replace=replace)), said)
            if undisturbed() and must not in (None, found):
                raise BrokenError(f"{push.resource} {said}: the receipt must say {must}, it says {found}")
            last = {name: None if found[name, "changed"] else form for name, form in said}
            game.expected.acknowledge(push, last, [name for name in push.ids if found[name, "added"]])
        finally:
            game.expected.end_push(push)

    return (begin or game.begin)(f"{'replace' if replace else 'push'} {','.join(ids)}", work)


def tried(work: Callable[[], T]) -> T:
    for _ in range(_TRIES - 1):
        with suppress(OMError):
            return work()
    return work()


def undisturbed() -> bool:
    activity = current()
    return activity is not None and activity.undisturbed


def _due(game, push: Push, said: Said, *, replace: bool) -> Words | None:
    """The words that each message must get now; None where nobody can say."""
    if game.expected.removing(push.resource):
        return None
    held, words = game.look(push.resource), Words()
    kept = {name: game.expected.contents.kept(push.resource, name, held) for name in push.ids}
    for name, form in said:
        was = kept[name]
        if was is None:
            return None
        word, kept[name] = was.given(form, replace=replace)
        words[name, word] += 1
    return words


def _answered(receipt: Receipt, said: Said) -> Words:
    words = Words((name, word) for word in ("duplicates", "grown", "replaced") for name in getattr(receipt, word))
    words.update((each.id, "changed") for each in receipt.changed)
    left = Counter(name for name, _ in said) - Counter(name for name, _ in words.elements())
    words.update({(name, "added"): times for name, times in left.items()})
    if receipt.ids != tuple(name for name, _ in said) or receipt.added != left.total():
        raise BrokenError(f"{said}: the receipt says {receipt}")
    return words


_PAST, _FUTURE = 1_700_000_000_000, 1_900_000_000_000


def _zadd(game, name: str, member: bytes | str):
    key = f"{game.prefix}:{{{game.resource}}}:messages:{game.thread}"
    game.client.zadd(key, {member: game.dice.choice([1_790_000_000_000, 1_790_000_000, 0, -1, float("inf")])})
    if game.dice.random() < 0.5:
        game.client.zadd(f"{game.prefix}:adopt", {key: 0})
    game.history[-1] += f" {name}"


def _fresh(game, times: int = 1, text: str = "") -> list[tuple[str, Form]]:
    names = [game.fresh("m") for _ in range(times)]
    return [(name, said(text or name)) for name in names]


def somebody(game, among: Collection[str] = ()) -> str:
    """Turn to a message that was pushed, by whomever, rather to one among these: its id, "" when there is none."""
    known = [key for key in game.expected.threads if key[1].startswith(("m-", "p-"))]
    if not known:
        return ""
    game.resource, name = game.dice.choice([key for key in known if key[1] in among] or known[-40:])
    game.thread = game.expected.threads[game.resource, name]
    return name


@verb(4, "push, single")
def push_one(game):
    push(game, _fresh(game))


@verb(4, "push, batch")
def push_batch(game):
    push(game, _fresh(game, game.dice.randrange(2, 8)))


@verb(3.4, "push, duplicate id")
def push_duplicate(game):
    """An id that was pushed before, by whomever, with what was said under it, or with another text."""
    if name := somebody(game):
        form = game.expected.contents.latest(game.resource, name)
        push(game, [(name, form if form and game.dice.random() < 0.5 else said(f"another text for {name}"))])


@verb(3, "push, one id twice in a batch")
def push_twins(game):
    one, other = _fresh(game, 2)
    push(game, [one, other, one])


@verb(2.9, "push, late timestamp")
def push_late(game):
    push(game, _fresh(game, game.dice.randrange(1, 4)), _PAST + game.dice.randrange(1000))


@verb(3, "push, equal timestamps")
def push_equal(game):
    push(game, _fresh(game, game.dice.randrange(1, 4)), _PAST)


@verb(2.9, "push, future timestamp")
def push_future(game):
    push(game, _fresh(game, game.dice.randrange(1, 4)), _FUTURE + game.dice.randrange(1000))


@verb(3.2, "push, a text no model observes")
def push_poison(game):
    push(game, _fresh(game, game.dice.randrange(1, 4), "poison"))


def write_plainly(game, name: str, form: Form):
    """A writer with nothing but a Redis client says this under an id."""
    game.plain_ids.add((game.resource, name))
    push = Push(game.resource, game.thread, (name,))
    game.expected.begin_push(push, [(name, form)])
    _zadd(game, name, json.dumps({"id": name, "role": form.role, "content": form.content, "tokens": 60}))
    game.expected.end_push(push)


@verb(4, "plain ZADD")
def plain(game):
    name = game.fresh("p")
    write_plainly(game, name, said(name))


@verb(4, "plain ZADD of the same bytes")
def plain_copy(game):
    """The same bytes once more: of a message that may be raw, sealed, observed or reflected by now."""
    known = sorted(name for name in game.expected.of(game.resource) if name.startswith("p-"))
    raw = [name for members in game.held[game.resource].of("messages").values() for name in map(message_id, members)]
    known = [name for name in known if name not in raw] or known  # rather of one that is covered elsewhere
    if known and not game.expected.removing(game.resource):
        name = name_of(game.dice.choice(known))
        game.thread = game.expected.threads[game.resource, name]
        write_plainly(game, name, said(name))


@verb(3)
def plain_again(game):
    """Other bytes under the id of an accepted message: adoption rejects them, and nobody seals them before that."""
    name = somebody(game)
    if name in game.expected.of(game.resource) and not game.expected.removing(game.resource):
        write_plainly(game, name, said(f"other bytes for {name}"))


@verb(3.1, "plain ZADD of no message")
def plain_malformed(game):
    """What is no message: it is quarantined, and its neighbours are not."""
    game.n += 1
    member = game.dice.choice([f"no json {game.n}", f'{{"role":"robot","content":"{game.n}"}}', b"\xff%d" % game.n])
    _zadd(game, "malformed", member)


@verb(3, "read, which may activate")
def read(game):
    om, resource, thread = game.world.om, game.resource, game.thread

    def work():
        seen = [message.id for message in om.get_context(thread, resource).messages]
        ids = [name for name in seen if (resource, name_of(name)) not in game.plain_ids]  # a copy may wait for adoption
        if len(ids) != len(set(ids)):
            raise BrokenError(f"the context of {resource} {thread} shows a message twice: {ids}")

    game.begin("read", work)


def turn_to(game, among: Collection[str] = ()) -> tuple[str, Form] | None:
    """Turn to a message, rather to one among these; its id, and what it says by now."""
    name = somebody(game, among)
    form = game.expected.contents.latest(game.resource, name) if name else None
    return (name, form) if form else None


def grown(game, form: Form) -> Form:
    word = game.fresh("w")
    if game.dice.random() < 0.5:
        return form._replace(parts=(*form.parts, word))
    return form._replace(parts=(*form.parts[:-1], form.parts[-1] + game.dice.choice([" ", "", "é🙂\n"]) + word))


def other(game, form: Form) -> Form:
    """Something else: another text, less, or somebody else's words."""
    word = game.fresh("w")
    longer, shorter = form._replace(parts=(word, *form.parts)), form._replace(parts=form.parts[:-1] or (word,))
    return game.dice.choice([said(word), longer, shorter, Form("assistant", form.parts)])


@verb(3.2, "push, grown")
def push_grown(game):
    if found := turn_to(game):
        name, form = found
        more = grown(game, form)
        both = [(name, more), (name, grown(game, more))]
        push(game, both if game.dice.random() < 0.2 else both[:1])


@verb(3.5, "push, grown, and overtaken by a seal or another")
def push_grown_overtaken(game):
    """A message grows, and after the client read what is kept of it a worker seals that, or it grows by another hand."""
    if found := turn_to(game):
        name, form = found
        slow = push(game, [(name, grown(game, form))], begin=game.start)
        slow.come_to("amend")
        fast = sealing(game) if game.dice.random() < 0.5 else push(game, [(name, grown(game, form))], begin=game.start)
        fast.finish()
        slow.finish()


@verb(3.2, "push, changed")
def push_changed(game):
    if found := turn_to(game):
        name, form = found
        push(game, [(name, other(game, form)), (name, form)][: game.dice.choice([1, 2])])


@verb(3.5, "push, replace")
def push_replaced(game):
    raw = [name for held in game.held.values() for name, some in pieces(held).items() if any(each.raw for each in some)]
    if found := turn_to(game, raw if game.dice.random() < 0.7 else ()):
        name, form = found
        push(game, [(name, other(game, form))], replace=True)


@verb(3.5, "plain ZADD, grown or changed")
def plain_grown(game):
    """A plain writer says more under an id, or less, before or after it was sealed."""
    if (found := turn_to(game)) and not game.expected.removing(game.resource):
        name, form = found
        if name in game.expected.of(game.resource):
            write_plainly(game, name, game.dice.choice([grown, grown, other])(game, form))
