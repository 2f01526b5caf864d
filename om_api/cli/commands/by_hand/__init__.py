"""What people change in a memory themselves: lines, pins, and reflections that wait for their word."""
