"""What a memory keeps of recorded conversations."""
