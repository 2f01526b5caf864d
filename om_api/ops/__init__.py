"""What an operator asks: what is wrong, what waits, who is busy."""
