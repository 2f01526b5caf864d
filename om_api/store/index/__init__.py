"""Recall's index in the store: the segment of each chunk, and where all messages stand; only the client and the sweep enter."""
