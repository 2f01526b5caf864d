"""The work itself: looking at what is due, sealing, observing, reflecting, and making good what was left undone."""
