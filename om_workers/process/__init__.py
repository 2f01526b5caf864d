"""What a worker process is beside its work: leases kept alive, signs of life, its stop and its watchdog, and what it tells."""
