"""Asking a model within its limits and budgets, and billing what it cost."""
