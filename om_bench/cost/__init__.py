"""What an agent's calls cost with and without a memory, replayed call by call under the providers' cache rules."""
