"""What a memory is made of in Redis: one module for each thing that is read of it or done to it."""
