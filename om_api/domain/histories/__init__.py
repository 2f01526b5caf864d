"""Whole histories of conversations: what is new in one, and what it replaces."""
