"""The audit trail: who operated what, by which door. Pure."""
