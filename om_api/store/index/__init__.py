"""Recall's index in the store: the segment of each chunk, where all messages stand, and what stands beside one; only the client and the sweep enter."""
