"""What a client remembers between two calls, in bounded tables: what it read, what it could not send, what it served."""
