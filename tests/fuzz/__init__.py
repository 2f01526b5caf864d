"""Seeded interleavings: clients, workers, plain writers and owners on one store, stopped between any two commands."""
