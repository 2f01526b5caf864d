"""Chance of our own: a program that seeds `random` neither changes what we draw, nor do we take from what it draws."""

import os
import random

chance = random.Random()  # for pauses, turns, and ids that need not be hard to guess, only unlike
if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=chance.seed)
