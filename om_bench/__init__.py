"""The bench: what a memory keeps of known conversations, measured without a model. Installed with the extra `bench`."""
