"""How many tasks wait in a broker that is no Redis. What is in Redis, the store reads."""
