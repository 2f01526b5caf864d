"""What models cost, what is left of budgets, and which models are in use."""
