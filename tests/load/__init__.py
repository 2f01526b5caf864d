"""Mixed load over HTTP on real processes, each of which is ended and started again meanwhile; nothing may be lost."""
