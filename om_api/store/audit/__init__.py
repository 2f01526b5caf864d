"""Whether a store keeps its promises: everything it holds, read and compared."""
