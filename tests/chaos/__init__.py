"""Real processes under attack: writers, workers, beats and a server that are killed, paused and restarted by a seeded plan."""
