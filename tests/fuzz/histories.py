"""Clients that send their whole history each turn: with ids or without, edited, branched, without its beginning, or once more."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fuzz.agents import grown, tried, undisturbed
from fuzz.checker import must, waiting
from fuzz.expected import Push
from fuzz.game import verb
from fuzz.pieces import Form, Turn, goes_on, pieces, said
from om_api import Message
from om_api.client.syncing import Synced

OK = "ok"  # what is said more than once
_ANYWHERE = -1
Forms = Mapping[str, Form]  # what is kept of a thread, by id


class Due(NamedTuple):
    """What must become of a history: the words of its turns, what was kept before, and from where on it differs."""

    words: list[str]
    before: Forms
    diverged_at: int | None


class Edit(NamedTuple):
    """Turn n of a history says something else than what it `was`."""

    n: int
    was: Turn


def sync(game, history: Sequence[Turn], edit: Edit | None = None, cut: Sequence[Turn] = (), diverged: str = "keep"):
    """A client syncs its history, after it was answered the last time; one turn is edited, or some were cut off its end."""
    resource, thread, turns, om = game.resource, game.thread, list(history), game.world.om
    ids = tuple(turn.name for turn in turns if turn.name)
    again = any(not turn.id and turn.form.text.startswith(OK) for turn in turns)
    said = game.expected.ever(resource, thread) if again else ()
    push = Push(resource, thread, ids, tuple(turns), frozenset(name for name in said if name.startswith("c-")))
    names = [turn.name for turn in turns]
    messages = [Message(role=t.form.role, content=t.form.content, id=t.id) for t in turns]
    fresh = {turn for turn in turns if not turn.sent}
    _doubt(turns, fresh, edit)
    game.expected.begin_push(push, [(turn.id, turn.form) for turn in turns if turn.id])
    game.expected.turns.send([turn for turn in turns if not turn.id])

    def work():
        try:
            due = _due(game, push, [turn in fresh for turn in turns], edit, cut)
            synced = tried(lambda: om.sync(messages, resource, thread, diverged=diverged))
            must(f"{names}: ids of {synced}", len(turns), len({*synced.ids}))
            judged = undisturbed() and due
            if judged:
                _check(game, push, judged, synced, edit)
            _acknowledge(game, push, synced, sure=bool(judged))
        finally:
            game.expected.end_push(push)

    game.syncing[resource, thread] = game.begin(f"sync {len(turns)} turns", work)


def _doubt(turns: Sequence[Turn], fresh: set[Turn], edit: Edit | None):
    """Turns that nobody can tell from others: sent before what precedes them, or behind one by which the history may go on.

    Each time that it may go on there, they may be said once more.
    """
    goes_on = bool(edit) and _may_go_on(turns)
    for n, turn in enumerate(turns):
        early = turn not in fresh and any(before in fresh or before.first > turn.first for before in turns[:n])
        turn.doubtful = max(turn.doubtful, early) + goes_on


def _may_go_on(turns: Sequence[Turn]) -> bool:
    return turns[0].form.text.startswith(OK)


def _kept(game, resource: str, thread: str, names: Sequence[str]) -> Forms | None:
    held = game.look(resource)
    found = [name for name, some in pieces(held).items() for piece in some if piece.thread == thread]
    kept = {name: game.expected.contents.kept(resource, name, held) for name in {*found, *names}}
    if game.expected.removing(resource) or thread in waiting(held) or None in kept.values():
        return None
    return {name: each.form for name, each in kept.items() if each and each.form}


def _due(game, push: Push, fresh: Sequence[bool], edit: Edit | None, cut: Sequence[Turn]) -> Due | None:
    """What must become of a history whose turns are all kept, but for its end; None where nobody can say."""
    before = _kept(game, push.resource, push.thread, push.ids)
    if before is None or any(turn.doubtful for turn in push.turns):
        return None
    words = [_word(turn, before, new=new) for turn, new in zip(push.turns, fresh, strict=True)]
    others = before.keys() - {turn.name for turn in push.turns}
    texts = ([before[name].text for name in others], [turn.form.text for turn in push.turns])
    said_twice = all(any(text.startswith(OK) for text in some) for some in texts)  # nobody can say which of them it is
    stand = pieces(game.look(push.resource))
    said = list(zip(push.turns, words, strict=True))
    whole = all(turn.name in stand for turn, word in said if word == "known")
    if edit:
        said_twice = said_twice or _may_go_on(push.turns)
        words[edit.n] = _edited(edit, push.turns[edit.n], before) if whole and others <= {edit.was.name} else ""
    at_end = "".join(word[:1] for word in words).lstrip("kc").removeprefix("g").strip("a") == ""
    overtaken = others and "grown" in words  # another's branch stands behind what grew
    if "" in words or not at_end or said_twice or overtaken:
        return None
    if any(word == "known" and not turn.id and len(turn.forms) > 1 and turn.name not in stand for turn, word in said):
        return None  # its name is of what it said at first (decision 0039), and what it said later was erased
    # what was erased is known, and stands nowhere: from there on a history is not what is kept
    return Due(words, before, _diverged(words, others, cut) if whole else _ANYWHERE)


def _word(turn: Turn, before: Forms, *, new: bool) -> str:
    kept = before.get(turn.name) if turn.name else None
    if kept is None:
        return "added" if new else ""
    return "known" if kept == turn.form else "grown" if goes_on(kept, turn.form) else "changed" if turn.id else ""


def _edited(edit: Edit, turn: Turn, before: Forms) -> str:
    was = before.get(edit.was.name)
    sure = was == edit.was.form and not goes_on(was, turn.form) and (turn.id or was.role == turn.form.role)
    return "changed" if sure else ""


def _diverged(words: Sequence[str], others: set[str], cut: Sequence[Turn]) -> int | None:
    if "changed" in words:
        return words.index("changed")
    if others and others == {turn.name for turn in cut} and "added" in words:
        return words.index("added")
    return _ANYWHERE if others else None


def _check(game, push: Push, due: Due, synced: Synced, edit: Edit | None):
    words, told = due.words, f"{push.resource} {push.thread} {[(t.name, t.form) for t in push.turns]} {due}: {synced}"
    named = [edit.was.name if edit and n == edit.n else turn.name for n, turn in enumerate(push.turns)]
    for n, (word, name) in enumerate(zip(words, named, strict=True)):
        if word != "added":
            must(told, name, synced.ids[n])
    changed = [name for name, word in zip(named, words, strict=True) if word == "changed"]
    grown = [name for name, word in zip(named, words, strict=True) if word == "grown"]
    counts = (words.count("added"), words.count("known"), grown, changed)
    must(told, counts, (synced.added, synced.known, [*synced.grown], [each.id for each in synced.changed]))
    if due.diverged_at != _ANYWHERE:
        must(told, due.diverged_at, synced.diverged_at)
    said = zip(synced.ids, push.turns, words, strict=True)
    after = {**due.before, **{name: turn.form for name, turn, word in said if word in {"added", "grown"}}}
    for turn, name in zip(push.turns, synced.ids, strict=True):
        game.expected.threads.setdefault((push.resource, name), turn.thread)
    must(told, after, _kept(game, push.resource, push.thread, synced.ids))


def _acknowledge(game, push: Push, synced: Synced, *, sure: bool):
    """What is said more than once may be another's that says the same, where what had to become of it was not `sure`."""
    changed = {each.id for each in synced.changed}
    if not push.overlapped:
        said = {name: turn.form for name, turn in zip(synced.ids, push.turns, strict=True) if name not in changed}
        game.expected.acknowledge(push, said, ())
    for turn, name in zip(push.turns, synced.ids, strict=True):
        if name not in changed and (sure or not turn.form.text.startswith(OK)):
            turn.name = name


_THREADS = ("h-0", "h-0", "h-0", "h-1")  # in which nobody else writes


def _history(game) -> list[Turn]:
    """Turn to a client, mostly to one that was here before; its history, of which it said a few turns already."""
    game.thread = game.dice.choice(_THREADS)
    if game.histories and game.dice.random() < 0.9:
        game.resource, game.thread = game.dice.choice(sorted(game.histories)[:3])
    if before := game.syncing.pop((game.resource, game.thread), None):
        before.finish()
        game.bury()
        game.check()
    history = game.histories.setdefault((game.resource, game.thread), [])
    if not history:
        history += _more(game, 3)
    return history


def _more(game, times: int, *, ok: bool = True) -> list[Turn]:
    turns = []
    for _ in range(times):
        own = game.fresh("c") if game.dice.random() < 0.25 else ""
        text = f"{OK} {game.thread}" if ok and game.dice.random() < 0.3 else game.fresh("w")
        form = said(text, game.dice.choice(["user", "assistant"]))
        turns.append(Turn(game.resource, game.thread, [form], id=own, name=own))
    return turns


@verb(4, "sync, going on")
def sync_on(game):
    history = _history(game)
    history += _more(game, game.dice.randrange(1, 4))
    sync(game, history)


@verb(3.8, "sync, the same again")
def sync_again(game):
    sync(game, _history(game))


@verb(3, "sync, the last turn grown")
def sync_grown(game):
    """The last turn is streamed: it says more each time."""
    history = _history(game)
    turn = history[-1]
    if not turn.form.text.startswith(OK):
        turn.forms.append(grown(game, turn.form))
    sync(game, history)


@verb(3.1, "sync, without its beginning")
def sync_truncated(game):
    """The client sends its newest turns only, and perhaps holds no others from now on."""
    history = _history(game)
    history += _more(game, game.dice.randrange(3))
    newest = history[game.dice.randrange(len(history)) :]
    if game.dice.random() < 0.3:
        history[:] = newest
    sync(game, newest)


@verb(3.2, "sync, edited")
def sync_edited(game):
    """A turn of the past says something else, and what follows it is the same; later it may say again what it said."""
    history = _history(game)
    n = game.dice.randrange(len(history))
    was, edited = history[n], list(history)
    form = said(game.fresh("w"), game.dice.choice([was.form.role, "user"]))
    edited[n] = Turn(was.resource, was.thread, [form], id=was.id, name=was.id)
    if game.dice.random() < 0.3:
        history[n] = edited[n]
    sync(game, edited, Edit(n, was) if n < len(history) - 1 else None)


@verb(3, "sync, branched")
def sync_branched(game):
    history = _history(game)
    at = game.dice.randrange(1, len(history) + 1)
    cut = history[at:]
    history[at:] = _more(game, game.dice.randrange(1, 3), ok=False)
    sync(game, history, cut=cut, diverged=game.dice.choice(["keep", "follow"]))
