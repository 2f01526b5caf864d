"""What an agent's program holds: the memory's two faces, and what they can be asked."""
