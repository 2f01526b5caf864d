"""The same game as test_interleavings.py, played by hypothesis: it shrinks what it finds to the fewest steps and dice."""

import logging
import random
import secrets

import redis
import structlog
from fuzz.game import Game
from fuzz.minimal import sweep_away
from fuzz.playing import VERBS, settle, step
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

_DICE = st.randoms(use_true_random=False)
_FATES = ["advance", "crash", "cut"]


class Interleavings(RuleBasedStateMachine):
    """Any verb in any order; the invariants are checked by every step of the game itself, and at the end by settling."""

    url = ""

    def __init__(self) -> None:
        super().__init__()
        self.client = redis.Redis.from_url(self.url)
        self.prefix = f"machine-{secrets.token_hex(4)}:om"
        self.game = Game(0, self.client, self.prefix)
        self.game.check()

    @rule(verb=st.sampled_from(sorted(VERBS.keys() - set(_FATES))), dice=_DICE)
    def somebody_acts(self, verb: str, dice: random.Random) -> None:
        """An agent, a worker, an owner, or time."""
        step(self.game, verb, dice)

    @precondition(lambda self: self.game.running)
    @rule(verb=st.sampled_from(_FATES), dice=_DICE)
    def something_becomes_of_who_is_under_way(self, verb: str, dice: random.Random) -> None:
        """It goes on, dies, or loses its connection."""
        step(self.game, verb, dice)

    def teardown(self) -> None:
        """Everybody comes to rest, and nothing is left undone."""
        try:
            settle(self.game)
        finally:
            self.game.close()
            sweep_away(self.client, self.prefix)
            self.client.close()


def test_no_sequence_that_hypothesis_thinks_of_loses_or_doubles_a_message(server_url):
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    machine = type("OnThisServer", (Interleavings,), {"url": server_url})
    unhurried = settings(
        max_examples=25,
        stateful_step_count=40,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    try:
        run_state_machine_as_test(machine, settings=unhurried)
    finally:
        structlog.configure(**before)
