"""What an agent's program holds: the memory's two faces, what they can be asked, and who may ask over HTTP."""
