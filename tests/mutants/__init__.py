"""`make mutants`: makes small mistakes in the code, one at a time, and sees that the tests notice each."""
