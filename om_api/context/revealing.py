"""A context with what was redacted put back, for a reader who may see it."""

from collections import defaultdict
from functools import partial
from typing import Any

import msgspec

from om_api.context.assemble import Context, Made
from om_api.context.turns import Turns
from om_api.context.view import Block
from om_api.domain.tags import escape
from om_api.recall.recalled import RecalledHit
from om_api.redaction.placeholders import Words, put_back, put_back_in


def shown_of_others(context: Context) -> dict[str, list[Any]]:
    """What a context shows of other memories, by whose it is: blocks, observations, and what was looked up in them."""
    found = defaultdict[str, list[Any]](list, {name: [*each] for name, each in context.composed.items()})
    pieces: list[Block | RecalledHit] = [*context.blocks, *context.recalled]
    for each in pieces:
        if each.resource_id not in {"", context.resource_id}:
            found[each.resource_id].append(each)
    return found


def revealed(context: Context, words: Words) -> Context:
    """The context with these values in all its forms; in blocks they are escaped, as all text is there."""
    if not words:
        return context
    tail, block, system = context.made.tail, partial(_block, words), context.made.system
    shown = tail._replace(
        messages=put_back_in(tail.messages, words),
        shown=put_back_in(tail.shown, words),
        raw=[block(each) for each in tail.raw],
    )
    framing = [block(each) for each in context.made.framing]
    return msgspec.structs.replace(
        context,
        blocks=tuple(map(block, context.blocks)),
        observations=put_back_in(context.observations, words),
        reflection=put_back_in(context.reflection, words),
        recalled=put_back_in(context.recalled, words),
        composed=put_back_in(context.composed, words),
        made=Made(shown, framing, lambda: put_back(system(), words, escape), Turns()),
    )


def _block(words: Words, block: Block) -> Block:
    return msgspec.structs.replace(block, text=put_back(block.text, words, escape))
