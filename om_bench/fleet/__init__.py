"""A fleet for many agents: unit costs, a simulation that is held to what was measured, and what millions of agents take."""
