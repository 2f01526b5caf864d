"""What keeps memories: the parts of a store's indexes, and the archive that the past moves to."""
