"""The worker process: leases, presence, stop, watchdog, events and counters."""
