"""What one memory tells another, and how it goes again when what it was made of goes."""
