"""What only one framework has: a program each, run in its environment, which fails where it does not hold."""
