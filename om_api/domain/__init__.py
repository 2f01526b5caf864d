"""What everything here speaks of, and how it is decided: pure, and asks nobody."""
