"""How the server is talked to: steps, the connections that run them, scripts and locks. No key has a meaning here."""
