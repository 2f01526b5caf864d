"""What of a model's notes may stand as it is: whose words a line is made of, how it looks, and what becomes of it."""
