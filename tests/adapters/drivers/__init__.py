"""An agent of each framework as its user would write it, which the suite talks to: see protocol.py."""
