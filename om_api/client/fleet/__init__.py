"""All agents at once: their table, and what they held, paid and saved over time."""
