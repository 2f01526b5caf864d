"""What a model answers from a memory, and what a judge says of it: the protocols of published benchmarks."""
