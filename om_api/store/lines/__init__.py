"""Lines by hand: what people add, correct and pin. For clients; it changes memories by its own scripts."""
