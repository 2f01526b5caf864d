"""Requests of callers: how their objects are validated, and how often one may ask."""
