"""A context with what was redacted put back, for a reader who may see it."""

from functools import partial

import msgspec

from om_api.context.assemble import Context, Made
from om_api.context.turns import Turns
from om_api.context.view import Block
from om_api.domain.tags import escape
from om_api.redaction.placeholders import Words, put_back, put_back_in


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
        made=Made(shown, framing, lambda: put_back(system(), words, escape), Turns()),
    )


def _block(words: Words, block: Block) -> Block:
    return msgspec.structs.replace(block, text=put_back(block.text, words, escape))
