"""A memory in a file, out of the store and into it."""
