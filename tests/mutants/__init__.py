"""`make mutants`: takes out every guard of the scripts and of the lease and due code once, and sees that the suite notices."""
