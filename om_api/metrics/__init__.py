"""What monitoring sees: the closed list of series, what they are made of, and how Prometheus is told."""
