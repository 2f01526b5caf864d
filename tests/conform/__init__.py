"""What the HTTP API says of itself, held against what it does: every endpoint, with a key, in any order, by schemathesis."""
