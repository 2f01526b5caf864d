"""Cleaning of texts that come from outside."""
