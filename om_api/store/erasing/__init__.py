"""Erasing a fact: found wherever it stands in a memory, and taken out of all of that at once. Below backup and audit."""
