"""Asking hooks: an operator's own code, within a time limit, whose answer is judged before it counts."""
