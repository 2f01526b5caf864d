"""A request: who may make it, what it may say, and how it is answered."""
