"""Recall: how messages are indexed by their words and found again; pure, it asks no store and reads no clock."""
