"""The process that answers: its connections, what one key may have of it, and its end."""
