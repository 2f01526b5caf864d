"""The only room that talks to models."""
