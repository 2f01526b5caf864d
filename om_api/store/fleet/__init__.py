"""What all processes share in Redis beside memories: who lives, who may, what happened, what was spent."""
