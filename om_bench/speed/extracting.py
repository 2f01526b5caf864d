"""Extracting: how many messages a second the observer without a model takes in, on one core."""

import random
import time
from collections.abc import Iterator
from statistics import median

from om_api.domain.messages import Message
from om_api.domain.tokens import counter
from om_bench.harness.talks import RESOURCE, Talk
from om_bench.memory.budgets import observed
from om_bench.speed.stand import Figure, Stand

_MESSAGES = 1_500
_SHARES = (0.1, 0.25)  # of the conversation's tokens
_ROUNDS = 5
_LEAST = 5_000
_STEP_MS, _SITTING = 40_000, 25  # messages of one sitting, a day apart
_START_MS = 1_788_253_200_000
_PEOPLE = ("Ilse", "Tomas")
_OPENINGS = ("Hey {other}! ", "That sounds lovely. ", "Oh wow, congrats! ", "", "", "Thanks, {other}! ")
_SENTENCES = (
    "I just got back from {place} with my {kin} and we {did} until {day} evening.",
    "We always {did} before the {thing} opens, because my {kin} prefers it that way.",
    "My {kin} started working at the {thing} in {place} {n} weeks ago, and it feels great.",
    "The {thing} cost {n}0 euros, so I decided to keep the old one instead.",
    "Last {day} I {did} for the first time since we moved to {place}.",
    "I'm really looking forward to seeing the {thing} again, it means so much to me.",
)
_ENDINGS = (
    "",
    "",
    " What about you?",
    " Have you ever been to {place}?",
    " It was so much fun!",
    " How is your {kin} doing?",
)
_WORDS = {
    "place": ("Graz", "Porto", "the lake house", "Tartu", "the old harbour", "Leeds"),
    "kin": ("sister", "son", "grandmother", "partner", "best friend", "daughter"),
    "did": (
        "painted the fence",
        "baked bread",
        "played the violin",
        "hiked along the river",
        "fixed the boat",
        "watched birds",
    ),
    "thing": ("market", "workshop", "choir", "greenhouse", "library", "bike shop"),
    "day": ("Monday", "Tuesday", "Wednesday", "Friday", "Saturday", "Sunday"),
}


def extractive_observer(_: Stand) -> Iterator[Figure]:
    """A conversation of two people, noted at a tenth and at a quarter of its tokens."""
    talk = Talk("spoken", tuple(spoken(random.Random(1))), ())
    whole = sum(map(counter(), (message.text() for message in talk.messages)))
    for share in _SHARES:
        taken = median([_took(talk, int(share * whole)) for _ in range(_ROUNDS)])
        yield Figure(
            work=f"extractive observer, {share:.0%} of the tokens",
            ours=f"{1e6 * taken / _MESSAGES:.0f} us a message",
            reference="-",
            value=_MESSAGES / taken,
            reach=_LEAST,
            unit="messages/s",
            at_least=True,
        )


def _took(talk: Talk, tokens: int) -> float:
    start = time.process_time()
    observed(talk, tokens)
    return time.process_time() - start


def spoken(dice: random.Random) -> Iterator[Message]:
    """A long conversation of two people in English, made up; the same for the same dice."""
    for n in range(_MESSAGES):
        at = _START_MS + n // _SITTING * 86_400_000 + n % _SITTING * _STEP_MS
        told = " ".join(dice.sample(_SENTENCES, 1 + (n % 4 == 0)))
        text = f"{dice.choice(_OPENINGS)}{told}{dice.choice(_ENDINGS)}"
        words = {name: dice.choice(many) for name, many in _WORDS.items()} | {"other": _PEOPLE[1 - n % 2]}
        said = f"{_PEOPLE[n % 2]}: {text.format(n=dice.randint(2, 9), **words)}"
        yield Message(id=f"m-{n}", role="user", content=said, at=at, thread_id="talk", resource_id=RESOURCE)
