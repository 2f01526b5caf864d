"""Webhooks: who wants to be sent which events, where that may be, how a delivery is signed and when it is tried again. Pure."""
