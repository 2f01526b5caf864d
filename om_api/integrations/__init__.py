"""Memory in the frameworks that agents are written with: a module and an extra for each, and what they all do alike."""
