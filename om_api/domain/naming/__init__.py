"""Names that callers choose for resources and threads, and the ids that they become."""
