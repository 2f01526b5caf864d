"""From raw messages to a chunk: what an observation will be made of, and of nothing else."""

from collections.abc import Iterable, Sequence

from om_api.domain.values import Outcome, Scope, new_id
from om_api.store.driver.replies import outcome
from om_api.store.driver.steps import Steps, Verb
from om_api.store.memory.keys import Keys
from om_api.store.memory.known import sealing


def seal(
    keys: Keys,
    scope: Scope,
    epoch: str,
    thread: str,
    members: Sequence[bytes],
    tokens: int,
    chunk: str | None = None,
    fresh: str | None = None,
    own_calls: Iterable[str] = (),
) -> Steps[Outcome]:
    """Take raw members of a thread into a new chunk, unless any of them is gone or not counted, or the memory is another.

    `epoch` is the record's as read ('' = none); one that is made then begins with `fresh`. `chunk` is for repeating a call
    whose reply was lost. `own_calls` are the ids of calls of own tools in the thread that no sealed result answers, the
    newest last: a later chunk may hold the result.
    """
    of, chunk = keys.of(scope.resource), chunk or new_id()
    names = [of.scope, of.record(scope), of.tokens, of.messages(thread), of.chunks(scope)]
    names += [of.chunk(chunk), of.sealed(chunk), of.source(chunk), of.threads, of.known(thread), of.thread(thread)]
    word = "resource" if scope.thread is None else "thread"
    args = [word, epoch, fresh or new_id(), chunk, thread, tokens, sealing(members), " ".join(own_calls), *members]
    return (yield from Verb("seal", names, args, outcome))
