"""The archive: the old past in SQL. It knows nothing of Redis, which says what is archived; calls block."""
