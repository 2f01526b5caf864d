"""Threads of a resource as their owner sees them: names, titles, what else is known of them, and copies."""
