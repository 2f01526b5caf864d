"""One limit of a model, two worker processes with 32 threads each: what its provider counts."""
