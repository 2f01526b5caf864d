"""What we ask the models and how their answers are read: pure functions, and the prompts as text files."""
