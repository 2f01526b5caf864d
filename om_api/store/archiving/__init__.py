"""Moving the past to the archive, back where something changes it, and out of it; clients, workers and operators enter."""
