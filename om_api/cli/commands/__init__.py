"""The commands of `om`, a module for each noun; `group.py` finds them by name."""
