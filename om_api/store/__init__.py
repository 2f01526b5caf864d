"""The only room that talks to Redis."""
