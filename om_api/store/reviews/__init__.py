"""Reflections that wait for somebody to approve them: what is to be decided, and where anything is. Below backup and audit."""
