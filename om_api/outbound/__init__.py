"""Requests to addresses that somebody named: webhooks and hooks. Judged first, signed by whoever asks, never redirected."""
